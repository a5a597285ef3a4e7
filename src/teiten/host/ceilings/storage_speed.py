"""Speed of a storage class with PostgreSQL's blocks, before a placement is measured on it.

The patterns of the report of 2013: blocks of 8 kB, four jobs, one after the other and anywhere; and
writes that are each made durable. ``python -m`` runs it in a process that can be limited.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from teiten.host.ceilings.disk_speed import BLOCK, DiskSpeed, durable, rate, scattered, sequential
from teiten.host.ceilings.fio import find_fio, measure_by_fio
from teiten.host.ceilings.scratch import Scratch, scratch
from teiten.model.units import Bytes, Seconds

JOBS = 4
PATTERNS = {
    "sequential_read": ("read", str(BLOCK), JOBS),
    "sequential_write": ("write", str(BLOCK), JOBS),
    "random_reads": ("randread", str(BLOCK), JOBS),
    "random_writes": ("randwrite", str(BLOCK), JOBS),
    "fsyncs": ("write", str(BLOCK), 1),
}
"""Patterns in the form of ``fio.PATTERNS``."""
OWN = "teiten"


def measure_storage(folder: Path, size: Bytes, seconds: Seconds) -> tuple[DiskSpeed, str]:
    """Five patterns of ``seconds`` each, and the tool: fio where it is in the PATH.

    Raises MachineError where the folder cannot be written, or has no direct I/O.
    """
    fio = find_fio()
    with scratch(folder, size) as file:
        if fio is not None:
            return measure_by_fio(fio, file.path, Bytes(file.size), seconds, PATTERNS)
        return _by_own(file, seconds), OWN


def _by_own(file: Scratch, seconds: Seconds) -> DiskSpeed:
    jobs = range(JOBS)

    def one_after_another(*, write: bool) -> float:
        return rate([sequential(file, at, write=write, chunk=BLOCK) for at in jobs], seconds)

    def anywhere(*, write: bool) -> float:
        return rate([scattered(file, at, write=write) for at in jobs], seconds) / BLOCK

    return DiskSpeed(
        sequential_read=one_after_another(write=False),
        sequential_write=one_after_another(write=True),
        random_reads=anywhere(write=False),
        random_writes=anywhere(write=True),
        fsyncs=rate([durable(file)], seconds) / BLOCK,
    )


if __name__ == "__main__":
    measured, tool = measure_storage(
        Path(sys.argv[1]), Bytes(int(sys.argv[2])), Seconds(float(sys.argv[3]))
    )
    json.dump({**asdict(measured), "tool": tool}, sys.stdout)
