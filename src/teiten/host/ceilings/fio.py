"""Speed of a disk, by fio (https://fio.readthedocs.io), the field's own tool."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from teiten.errors import MachineError
from teiten.host.ceilings.disk_speed import DiskSpeed, Pattern
from teiten.host.system.environment import last_words, run_briefly
from teiten.model.units import Bytes, Seconds

PATIENCE = 120.0
"""Seconds over its own time that fio may take, to lay out its file."""


def find_fio() -> Path | None:
    path = shutil.which("fio")
    return Path(path) if path else None


def measure_by_fio(
    fio: Path, file: Path, size: Bytes, seconds: Seconds, patterns: Sequence[Pattern]
) -> tuple[DiskSpeed, str]:
    """The patterns on ``file``, and fio's version. Raises MachineError where fio fails."""
    rates, version = dict[str, float](), ""
    for pattern in patterns:
        answer = _run(fio, command(fio, file, size, seconds, pattern), seconds)
        rates[pattern.name] = parse(answer, pattern)
        version = str(answer.get("fio version", "fio"))
    return DiskSpeed(**rates), version


def command(fio: Path, file: Path, size: Bytes, seconds: Seconds, pattern: Pattern) -> list[str]:
    """The command line of one pattern."""
    part = size // pattern.threads if pattern.is_bandwidth else size
    return [
        str(fio),
        f"--name={pattern.name}",
        f"--filename={file}",
        f"--size={part}",
        f"--rw={pattern.access}",
        f"--bs={pattern.block}",
        f"--numjobs={pattern.threads}",
        "--ioengine=psync",
        "--direct=1",
        "--time_based",
        f"--runtime={seconds:g}",
        "--group_reporting",
        "--output-format=json",
        *(["--fdatasync=1"] if pattern.durable else []),
        *([f"--offset_increment={part}"] if pattern.is_bandwidth else []),
    ]


def parse(answer: dict[str, Any], pattern: Pattern) -> float:
    """B/s of sequential patterns, requests per second of the others.

    Raises MachineError where fio's answer has another form.
    """
    try:
        side = answer["jobs"][0]["write" if pattern.writes else "read"]
        return float(side["bw_bytes"] if pattern.is_bandwidth else side["iops"])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise MachineError(
            f"fio gave no number for {pattern.name}", "run it by hand, or take it from the PATH"
        ) from error


def _run(fio: Path, arguments: list[str], seconds: Seconds) -> dict[str, Any]:
    hint = f"run it by hand: {' '.join(arguments)}"
    try:
        ended = run_briefly(arguments, timeout=seconds + PATIENCE)
        if ended.returncode:
            raise MachineError(f"{fio} failed: {last_words(ended)[-200:]}", hint)
        answer: dict[str, Any] = json.loads(ended.stdout[ended.stdout.index(b"{") :])
    except (OSError, ValueError) as error:
        raise MachineError(f"{fio} failed: {error}", hint) from error
    return answer
