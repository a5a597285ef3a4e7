"""How many bytes a data set takes, and what making, moving and writing it costs.

The rates are assumptions on the careful side for one SSD of a small server; they size a campaign
and fill its forecast, and enter no result.
"""

from __future__ import annotations

import math

from teiten.kinds.queries.model import NAME as QUERIES
from teiten.kinds.queries.model import queries_of
from teiten.model.ssb_size import table_bytes
from teiten.model.study import DataKind, DataSet, Measure, Workload
from teiten.model.units import GIB, MIB, Bytes, Seconds

ROWS = 100_000
"""Accounts per unit of scale."""
ROWS_PER_PAGE = 61
"""Accounts of 128 bytes with their item pointers in a full page of 8 KiB (8168 / 132)."""
KEY_BYTES = 22
"""Bytes of the primary key per account, at its fillfactor of 90."""

UNKNOWN_SIZE = Bytes(1 * GIB)
"""Of the tables of a script that does not say (``data.size``)."""
LOAD_RATE = 30 * MIB
"""Bytes per second that a script makes, and that are laid out in another way."""
SSB_RATE = 45 * MIB
"""Bytes per second of generating, loading, verifying and freezing by one stream."""
QUERY_SECONDS = 2.0
"""Of one execution of a query: nobody knows before."""
SSB_QUERY_SECONDS = 1.0
"""The same of the Star Schema Benchmark's at scale factor 1, without workers (2020, table 6.26:
0.65 to 2.5)."""
COPY_RATE = 400 * MIB
"""Bytes per second of restoring a cluster without reflinks."""
PREWARM_RATE = 1 * GIB
BUILD_SECONDS_PER_SCALE = 0.25
"""pgbench -i with its vacuum and primary key."""
WAL_RATE = 60 * MIB
"""Bytes of WAL per second that updates may write, at the most expected."""


def data_bytes(data: DataSet) -> Bytes:
    """The tables and indexes of a data set whose scale is known, in its layout.

    Scale 100 at a fillfactor of 100: 1.5 GB (2021 §4.2, table 4.1).
    """
    grown = 1.0 if data.layout is None else data.layout.size
    return Bytes(math.ceil(_filled_bytes(data) * grown))


def _filled_bytes(data: DataSet) -> Bytes:
    """As the tables are filled, before they are laid out."""
    if data.kind is DataKind.SCRIPT:
        return data.size or UNKNOWN_SIZE
    if data.kind is DataKind.SSB:
        return table_bytes(data.scale or 1, data.variant)
    scale = data.scale or 1
    rows_per_page = max(1, math.floor(ROWS_PER_PAGE * data.fillfactor / 100))
    pages = math.ceil(ROWS * scale / rows_per_page)
    return Bytes(math.ceil(pages * 8192 + ROWS * scale * KEY_BYTES))


def restore_seconds(size: int) -> Seconds:
    return Seconds(size / COPY_RATE)


def prewarm_seconds(size: int) -> Seconds:
    return Seconds(size / PREWARM_RATE)


def build_seconds(data: DataSet) -> Seconds:
    """A template: initdb, start, pgbench -i or what else fills it, layout, clean stop."""
    filled = _filled_bytes(data)
    laid_out = filled / LOAD_RATE if data.layout is not None and data.layout.scripts else 0.0
    if data.kind is DataKind.SCRIPT:
        return Seconds(3.0 + filled / LOAD_RATE + laid_out)
    if data.kind is DataKind.SSB:
        return Seconds(3.0 + filled / SSB_RATE + laid_out)
    return Seconds(3.0 + BUILD_SECONDS_PER_SCALE * (data.scale or 1) + laid_out)


def wal_bytes(workload: Workload, size: int, seconds: float) -> Bytes:
    """What a trial may write: every page once in full after the CHECKPOINT, then the changes."""
    if not workload.changes_data:
        return Bytes(64 * MIB)
    return Bytes(size + int(WAL_RATE * seconds))


def load_seconds(measure: Measure, workload: Workload) -> Seconds:
    """Warm-up and measuring of one trial; an open duration counts nothing."""
    if workload.kind == QUERIES:  # the first execution, the timed ones, EXPLAIN
        return Seconds(query_seconds(workload.data) * (queries_of(workload).runs + 2))
    return Seconds((measure.warmup or 0.0) + (measure.duration or 0.0))


def query_seconds(data: DataSet) -> Seconds:
    """One execution of a query."""
    if data.kind is DataKind.SSB:
        return Seconds(SSB_QUERY_SECONDS * (data.scale or 1))
    return Seconds(QUERY_SECONDS)
