"""Making a new data directory."""

from __future__ import annotations

import contextlib
from pathlib import Path

from teiten.errors import ServerError, UsageError
from teiten.execute.postgres.programs import run_program
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.users import ServerUser
from teiten.model.installation import Installation, initdb_options
from teiten.model.units import MIB

BENCH_DATABASE = "bench"
"""The database of every template, which holds the tables."""
WALDIR = 10
"""The major version since which initdb's option for the WAL has this name."""
LARGEST = 4 * MIB
"""Bytes of a configuration file that is read; PostgreSQL's own have 30,000."""
INITDB_CONFIGURATION = "postgresql.initdb.conf"
"""initdb's own postgresql.conf is kept under this name inside the data directory."""


def run_initdb(
    installation: Installation,
    data_directory: Path,
    *,
    user: ServerUser,
    checksums: bool,
    wal: str | None = None,
) -> None:
    """Make a data directory owned by the servers' user. ``wal``: the name of a folder beside it
    for the WAL (``--waldir``); None for its usual place.

    Raises UsageError where the folder is not empty, ServerError where initdb fails.
    """
    if installation.initdb is None or installation.postgres is None:
        raise ServerError(
            f"the installation {installation.name} has no server",
            f"install one: teiten pg install {installation.version.major}",
        )
    with HeldFolder.open_or_make(data_directory.parent) as parent:
        with contextlib.suppress(FileExistsError):
            parent.make(data_directory.name).close()
        with parent.inner(data_directory.name) as data:
            if data.entries():
                raise UsageError(
                    f"the data folder {data_directory} is not empty",
                    "name a new or an empty folder; Teiten makes no cluster over other files",
                )
            data.give(user)
        if wal is not None:
            with parent.make(wal) as folder:
                folder.give(user)
    named = "--waldir" if installation.version.major_number >= WALDIR else "--xlogdir"
    run_program(
        [
            installation.initdb,
            *initdb_options(installation.version, checksums=checksums),
            *([] if wal is None else [f"{named}={data_directory.parent / wal}"]),
            "--pgdata",
            data_directory,
        ],
        what=f"initdb of PostgreSQL {installation.version}",
        user=user,
        library_path=installation.library_path,
        hint=f"look whether {installation.bin_directory} is complete and {user.name} may read it",
    )
    with HeldFolder.open_itself(data_directory) as data:
        content = data.read("postgresql.conf", LARGEST)
        data.write(INITDB_CONFIGURATION, content, user=user)
