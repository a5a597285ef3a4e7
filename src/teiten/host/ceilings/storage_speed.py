"""Speed of the disk below a folder, by fio (the field's own tool, https://fio.readthedocs.io) where
it is in the PATH, else by Teiten's own probe.

``python -m`` measures a storage class, before a placement is measured on it, in a process that can
be limited.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from teiten.errors import MachineError
from teiten.host.ceilings.disk_speed import OF_STORAGE, Pattern, measure_disk, scratch
from teiten.host.system.environment import last_words, run_briefly
from teiten.model.units import Bytes, Seconds

OWN = "teiten"
PATIENCE = 120.0
"""Seconds over its own time that fio may take, to lay out its file."""


def measure_folder(
    folder: Path, size: Bytes, seconds: Seconds, patterns: Sequence[Pattern]
) -> tuple[dict[str, float], str]:
    """Each pattern's rate by its name, measured for ``seconds``, and the tool.

    Raises MachineError where the folder cannot be written, or has no direct I/O.
    """
    fio = shutil.which("fio")
    with scratch(folder, size) as file:
        if fio is not None:
            return measure_by_fio(fio, file.path, Bytes(file.size), seconds, patterns)
        return measure_disk(file, seconds, patterns), OWN


def measure_by_fio(
    fio: str, file: Path, size: Bytes, seconds: Seconds, patterns: Sequence[Pattern]
) -> tuple[dict[str, float], str]:
    """The patterns on ``file``, and fio's version. Raises MachineError where fio fails."""
    rates, version = dict[str, float](), ""
    for pattern in patterns:
        answer = _run(fio, command(fio, file, size, seconds, pattern), seconds)
        rates[pattern.name] = parse(answer, pattern)
        version = str(answer.get("fio version", "fio"))
    return rates, version


def command(fio: str, file: Path, size: Bytes, seconds: Seconds, pattern: Pattern) -> list[str]:
    """The command line of one pattern."""
    part = size // pattern.threads if pattern.is_bandwidth else size
    return [
        fio,
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


def _run(fio: str, arguments: list[str], seconds: Seconds) -> dict[str, Any]:
    hint = f"run it by hand: {' '.join(arguments)}"
    try:
        ended = run_briefly(arguments, timeout=seconds + PATIENCE)
        if ended.returncode:
            raise MachineError(f"{fio} failed: {last_words(ended)[-200:]}", hint)
        answer: dict[str, Any] = json.loads(ended.stdout[ended.stdout.index(b"{") :])
    except (OSError, ValueError) as error:
        raise MachineError(f"{fio} failed: {error}", hint) from error
    return answer


if __name__ == "__main__":
    measured, tool = measure_folder(
        Path(sys.argv[1]), Bytes(int(sys.argv[2])), Seconds(float(sys.argv[3])), OF_STORAGE
    )
    json.dump({**measured, "tool": tool}, sys.stdout)
