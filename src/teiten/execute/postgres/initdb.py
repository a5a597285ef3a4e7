"""Making a new data directory."""

from __future__ import annotations

from pathlib import Path

from teiten.errors import ServerError, UsageError
from teiten.execute.postgres.programs import run_program
from teiten.host.system.users import ServerUser, give
from teiten.model.installation import Installation

SUPERUSER = "postgres"
BENCH_DATABASE = "bench"
"""The database of every template, which holds the tables."""
CHECKSUMS_BY_DEFAULT = 18
"""The major version since which initdb turns checksums on unless told otherwise."""
INITDB_CONFIGURATION = "postgresql.initdb.conf"
"""initdb's own postgresql.conf is kept under this name inside the data directory."""


def initdb_options(installation: Installation, checksums: bool) -> tuple[str, ...]:
    """The options that make the clusters of all versions alike.

    Nothing is synced: a crash of the machine during initdb makes the cluster worthless anyway, and
    a template is synced as a whole when it is finished.
    """
    options = ["--locale=C", "--encoding=UTF8", f"--username={SUPERUSER}", "--auth=trust", "-N"]
    if checksums:
        options.append("--data-checksums")
    elif installation.version.major_number >= CHECKSUMS_BY_DEFAULT:
        options.append("--no-data-checksums")
    return tuple(options)


def run_initdb(
    installation: Installation, data_directory: Path, *, user: ServerUser, checksums: bool
) -> None:
    """Make a data directory owned by the servers' user.

    Raises UsageError where the folder is not empty, ServerError where initdb fails.
    """
    if installation.initdb is None or installation.postgres is None:
        raise ServerError(
            f"the installation {installation.name} has no server",
            f"install one: teiten pg install {installation.version.major}",
        )
    if data_directory.exists() and any(data_directory.iterdir()):
        raise UsageError(
            f"the data folder {data_directory} is not empty",
            "name a new or an empty folder; Teiten makes no cluster over other files",
        )
    data_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    give(data_directory, user)
    run_program(
        [
            installation.initdb,
            *initdb_options(installation, checksums),
            "--pgdata",
            data_directory,
        ],
        what=f"initdb of PostgreSQL {installation.version}",
        user=user,
        library_path=installation.library_path,
        hint=f"look whether {installation.bin_directory} is complete and {user.name} may read it",
    )
    configuration = data_directory / "postgresql.conf"
    (data_directory / INITDB_CONFIGURATION).write_bytes(configuration.read_bytes())
    give(data_directory / INITDB_CONFIGURATION, user)
