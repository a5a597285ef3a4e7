"""How fast storage is written in sequence where it is made durable every so many bytes.

The report of 2013 explains by it what limits transactions that change rows (table 5.6): each commit
makes its WAL durable, and the more it writes at once, the more bytes a second hold.
"""

from __future__ import annotations

from pathlib import Path

from teiten.host.ceilings.disk_speed import BLOCK, Request, durable, rate, sequential
from teiten.host.ceilings.scratch import Scratch, scratch
from teiten.model.units import KIB, MIB, Bytes, Seconds

NEVER = 0
INTERVALS = (BLOCK, 128 * KIB, NEVER)
"""Bytes between two calls of fdatasync, as in the report."""
SIZE = Bytes(64 * MIB)
SECONDS = Seconds(1.0)
"""Duration of each interval's measurement."""


def measure_intervals(
    folder: Path, size: Bytes = SIZE, seconds: Seconds = SECONDS
) -> dict[int, float]:
    """Bytes per second by interval, past the page cache, by one process.

    Raises MachineError where the folder cannot be written, or has no direct I/O.
    """
    with scratch(folder, size) as file:
        return {one: rate([_written(file, one)], seconds) for one in INTERVALS}


def _written(file: Scratch, interval: int) -> Request:
    return sequential(file, 0, write=True) if interval == NEVER else durable(file, interval)
