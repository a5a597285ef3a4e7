"""How much the data take, before they are made, and whether a disk suffices."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import psycopg

from teiten.connections import first_value
from teiten.datasets.ssb.rows.native import units
from teiten.errors import MachineError
from teiten.model import ssb
from teiten.model.ssb import SsbData, SsbFormat, SsbTable
from teiten.model.units import Bytes

LINES = 4
"""Lines of an order, on average."""
POSTGRES = "postgres"
"""A table in a server, next to the formats of files."""

_OF_ROWS = {
    SsbFormat.TBL: (96, 87, 85, 91, 102),
    SsbFormat.BINARY: (124, 122, 111, 162, 141),
    SsbFormat.PARQUET: (60, 35, 60, 30, 45),
}
"""Bytes for each row of the tables, in their order, on average: measured at scale factor 1 (text
grows by a few for larger keys) and rounded up."""
BYTES: dict[str, Mapping[SsbTable, float]] = {
    form: dict(zip(SsbTable, sizes, strict=True)) for form, sizes in _OF_ROWS.items()
}
BYTES |= {SsbFormat.CSV: BYTES[SsbFormat.TBL], POSTGRES: ssb.BYTES}


def expected_rows(data: SsbData, table: SsbTable) -> int:
    """Rows of a table, or of its chunk; of lineorder the expectation."""
    chosen = len(data.chunk.range_of(units(data, table)))
    return chosen * (LINES if table is SsbTable.LINEORDER else 1)


def expected_bytes(data: SsbData, form: str) -> Bytes:
    """Estimate the bytes of all tables of ``data`` in a format or in a server, on average."""
    return Bytes(
        round(sum(expected_rows(data, table) * BYTES[form][table] for table in data.tables))
    )


GB = 10**9


def require_space(connection: psycopg.Connection, data: SsbData) -> None:
    """Raise MachineError where the disk of a server on this machine does not suffice.

    The tables are counted, and as much transaction log again, up to max_wal_size. Nothing is
    checked where the server is elsewhere or does not tell its data directory.
    """
    folder = _data_directory(connection)
    if folder is None:
        return
    tables = expected_bytes(data, POSTGRES)
    log = int(first_value(connection, "SELECT pg_size_bytes(current_setting('max_wal_size'))"))
    require_free(
        tables + min(tables, log),
        "the tables and their transaction log take",
        folder,
        "free disk space, or choose a smaller --scale or another server",
    )


def require_free(needed: int, what: str, folder: Path, hint: str, disk: Path | None = None) -> None:
    """Raise MachineError where fewer bytes are free in a folder; ``disk``: a folder on its disk,
    where it is not there yet."""
    free = shutil.disk_usage(disk or folder).free
    if needed > free:
        raise MachineError(
            f"{what} about {needed / GB:.1f} GB, and {folder} has {free / GB:.1f} GB free", hint
        )


def _data_directory(connection: psycopg.Connection) -> Path | None:
    if not connection.info.host.startswith(("/", "@")):
        return None
    try:
        folder = Path(first_value(connection, "SELECT current_setting('data_directory')"))
    except psycopg.errors.InsufficientPrivilege:
        return None
    try:
        return folder if folder.is_dir() else None
    except OSError:
        return None
