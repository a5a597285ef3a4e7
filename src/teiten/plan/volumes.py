"""Costs of moving and writing a data set.

The rates are assumptions on the careful side for one SSD of a small server; they size a campaign
and fill its forecast, and enter no result.
"""

from __future__ import annotations

from teiten.model.study import Workload
from teiten.model.units import GIB, MIB, Bytes, Seconds

COPY_RATE = 400 * MIB
"""Bytes per second of restoring a cluster without reflinks."""
PREWARM_RATE = 1 * GIB
WAL_RATE = 60 * MIB
"""Bytes of WAL per second that updates may write, at the most expected."""


def restore_seconds(size: int) -> Seconds:
    return Seconds(size / COPY_RATE)


def prewarm_seconds(size: int) -> Seconds:
    return Seconds(size / PREWARM_RATE)


def wal_bytes(workload: Workload, size: int, seconds: float) -> Bytes:
    """Bound a trial's WAL: every page once in full after the CHECKPOINT, then the changes."""
    if not workload.changes_data:
        return Bytes(64 * MIB)
    return Bytes(size + int(WAL_RATE * seconds))
