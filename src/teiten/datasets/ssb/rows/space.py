"""Whether a server's disk suffices, where that can be seen from here."""

from __future__ import annotations

import shutil
from pathlib import Path

import psycopg

from teiten.datasets.ssb.rows.sizes import POSTGRES, expected_bytes
from teiten.errors import MachineError
from teiten.model.ssb import SsbData

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
    needed = tables + min(tables, _most_log(connection))
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise MachineError(
            f"the tables and their transaction log take about {needed / GB:.1f} GB, and {folder}"
            f" has {free / GB:.1f} GB free",
            "free disk space, or choose a smaller --scale or another server",
        )


def _data_directory(connection: psycopg.Connection) -> Path | None:
    if not connection.info.host.startswith(("/", "@")):
        return None
    try:
        row = connection.execute("SELECT current_setting('data_directory')").fetchone()
    except psycopg.errors.InsufficientPrivilege:
        return None
    folder = Path(row[0]) if row else None
    try:
        return folder if folder is not None and folder.is_dir() else None
    except OSError:
        return None


def _most_log(connection: psycopg.Connection) -> int:
    row = connection.execute("SELECT pg_size_bytes(current_setting('max_wal_size'))").fetchone()
    return int(row[0]) if row else 0
