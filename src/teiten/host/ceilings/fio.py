"""Speed of a disk, by fio (https://fio.readthedocs.io), the field's own tool."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from teiten.errors import MachineError
from teiten.host.ceilings.disk_speed import BLOCK, RANDOM_THREADS, SEQUENTIAL_THREADS, DiskSpeed
from teiten.host.system.environment import child_environment
from teiten.model.units import Bytes, Seconds

PATTERNS = {
    "sequential_read": ("read", "1M", SEQUENTIAL_THREADS),
    "sequential_write": ("write", "1M", SEQUENTIAL_THREADS),
    "random_reads": ("randread", str(BLOCK), RANDOM_THREADS),
    "random_writes": ("randwrite", str(BLOCK), RANDOM_THREADS),
    "fsyncs": ("write", str(BLOCK), 1),
}
"""Our name to fio's kind of access, block size, and requests that are open at once."""
Patterns = Mapping[str, tuple[str, str, int]]
SEQUENTIAL = "sequential"
"""How the names of patterns begin whose result is a bandwidth, and whose requests have a part of
the file for each."""
PATIENCE = 120.0
"""Seconds over its own time that fio may take, to lay out its file."""


def find_fio() -> Path | None:
    found = shutil.which("fio")
    return Path(found) if found else None


def measure_by_fio(
    fio: Path, file: Path, size: Bytes, seconds: Seconds, patterns: Patterns = PATTERNS
) -> tuple[DiskSpeed, str]:
    """Five patterns on ``file``, and fio's version. Raises MachineError where fio fails."""
    rates, version = dict[str, float](), ""
    for name, pattern in patterns.items():
        found = _run(fio, command(fio, file, size, seconds, name, pattern=pattern), seconds)
        rates[name] = parse(found, name, pattern)
        version = str(found.get("fio version", "fio"))
    return DiskSpeed(**rates), version


def command(
    fio: Path,
    file: Path,
    size: Bytes,
    seconds: Seconds,
    name: str,
    *,
    pattern: tuple[str, str, int] | None = None,
) -> list[str]:
    """The command line of one pattern; None for that of ``PATTERNS``."""
    access, block, depth = pattern or PATTERNS[name]
    apart = name.startswith(SEQUENTIAL)
    part = size // depth if apart else size
    return [
        str(fio),
        f"--name={name}",
        f"--filename={file}",
        f"--size={part}",
        f"--rw={access}",
        f"--bs={block}",
        f"--numjobs={depth}",
        "--ioengine=psync",
        "--direct=1",
        "--time_based",
        f"--runtime={seconds:g}",
        "--group_reporting",
        "--output-format=json",
        *(["--fdatasync=1"] if name == "fsyncs" else []),
        *([f"--offset_increment={part}"] if apart else []),
    ]


def parse(found: dict[str, Any], name: str, pattern: tuple[str, str, int] | None = None) -> float:
    """B/s of sequential patterns, requests per second of the others.

    Raises MachineError where fio's answer has another form.
    """
    access, _, _ = pattern or PATTERNS[name]
    try:
        side = found["jobs"][0]["read" if "read" in access else "write"]
        return float(side["bw_bytes"] if name.startswith(SEQUENTIAL) else side["iops"])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise MachineError(
            f"fio gave no number for {name}", "run it by hand, or take it from the PATH"
        ) from error


def _run(fio: Path, arguments: list[str], seconds: Seconds) -> dict[str, Any]:
    hint = f"run it by hand: {' '.join(arguments)}"
    try:
        ended = subprocess.run(
            arguments,
            env=child_environment(),
            capture_output=True,
            text=True,
            timeout=seconds + PATIENCE,
            check=False,
        )
        if ended.returncode:
            raise MachineError(f"{fio} failed: {ended.stderr.strip()[-200:]}", hint)
        found: dict[str, Any] = json.loads(ended.stdout[ended.stdout.index("{") :])
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise MachineError(f"{fio} failed: {error}", hint) from error
    return found
