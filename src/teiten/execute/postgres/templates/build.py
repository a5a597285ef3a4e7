"""Filling a new cluster with a data set, quickly and always alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import psycopg
from psycopg import sql

from teiten.errors import ServerError, WorkloadError
from teiten.execute.postgres.cluster import Cluster, StopManner
from teiten.execute.postgres.initdb import INITDB_CONFIGURATION
from teiten.execute.postgres.marker import Kind
from teiten.execute.postgres.programs import pgbench_initialize, run_program
from teiten.execute.postgres.templates.copy_methods import sync_file_system
from teiten.host.users import ServerUser
from teiten.model.installation import Installation, Pgbench
from teiten.model.plan import TemplateSpec
from teiten.model.study import DataKind, Setting
from teiten.model.text import Bilingual

BENCH_DATABASE = "bench"
EXTENSIONS = ("pg_prewarm", "pg_buffercache")
DATA = "data"
"""The data directory's name within a cluster's or a template's folder."""

# synchronous_commit stays on: VACUUM cannot mark rows of a commit whose WAL is not flushed as
# visible, so that before version 14 (which loads frozen rows) no page would be all-visible.
BUILD_SETTINGS = tuple(
    Setting(name, value, Bilingual(reason, reason), "template")
    for name, value, reason in (
        ("fsync", "off", "a build cut off is thrown away; a finished one is synced as a whole"),
        ("full_page_writes", "off", "a build cut off is thrown away"),
        ("wal_level", "minimal", "rows loaded into a new table need no WAL"),
        ("max_wal_senders", "0", "wal_level minimal demands it"),
        ("max_wal_size", "32MB", "few recycled WAL files, equally many in each version"),
        ("min_wal_size", "32MB", "few recycled WAL files, equally many in each version"),
        ("checkpoint_timeout", "1h", "no checkpoint while loading"),
        ("checkpoint_warning", "0", "the WAL is kept small on purpose"),
        ("maintenance_work_mem", "256MB", "the primary key is sorted in memory"),
        ("autovacuum", "off", "VACUUM is run once, at the end"),
    )
)


def build_cluster(
    spec: TemplateSpec, folder: Path, *, user: ServerUser, pgbench: Pgbench, log: Path
) -> None:
    """Make a stopped cluster with the data set in the database ``bench``, all on the disk.

    Both sides of a contrast begin alike: every row is frozen, and every page known to be visible
    and analysed, before the first trial. Raises ServerError where a step fails.
    """
    cluster = Cluster.create(
        spec.installation,
        folder / DATA,
        user=user,
        checksums=spec.checksums,
        log=log,
        what=Kind.TEMPLATE_BUILD,
    )
    cluster.configure(BUILD_SETTINGS)
    cluster.start()
    try:
        fill(cluster, lambda: FILLERS[spec.data.kind](cluster, spec, pgbench))
        end_build(cluster)
    finally:
        cluster.stop(immediately=True)


def end_build(cluster: Cluster) -> None:
    """Stop a filled cluster, all on the disk. Raises ServerError where it does not stop cleanly."""
    manner = cluster.stop()
    if manner is not StopManner.FAST:
        raise ServerError(
            f"{cluster.name} did not stop cleanly after it was filled ({manner})",
            "run again; if it happens again, look at the machine's load and its disk",
        )
    cluster.configuration.write_bytes((cluster.data_directory / INITDB_CONFIGURATION).read_bytes())
    sync_file_system(cluster.data_directory.parent)


class Fillable(Protocol):
    """A started server of an empty cluster, here or on another host."""

    @property
    def name(self) -> str: ...
    @property
    def installation(self) -> Installation: ...
    def connect(self, dbname: str = "postgres") -> psycopg.Connection: ...


def fill(cluster: Fillable, make_tables: Callable[[], None]) -> None:
    """Make the database ``bench``, its tables, and all that a trial needs of them."""
    with cluster.connect() as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(BENCH_DATABASE)))
    make_tables()
    with cluster.connect(BENCH_DATABASE) as connection:
        for name in EXTENSIONS:
            _create_extension(connection, name, cluster)
        connection.execute("VACUUM (FREEZE, ANALYZE)")
        _require_all_visible(connection, cluster)
        connection.execute("CHECKPOINT")


def run_pgbench_init(cluster: Cluster, spec: TemplateSpec, pgbench: Pgbench) -> None:
    """``pgbench -i`` of the data set into ``bench``, without its VACUUM."""
    run_program(
        pgbench_initialize(
            pgbench,
            spec.data,
            f"--host={cluster.socket_directory}",
            f"--port={cluster.port}",
            f"--username={cluster.user_name}",
            BENCH_DATABASE,
        ),
        what=f"pgbench --initialize with scale {spec.data.scale} on {cluster.name}",
        library_path=pgbench.library_path,
        hint="give disk back with teiten clean where the disk is full; "
        "else try another pgbench: teiten pg list shows those found",
    )


def run_data_script(cluster: Fillable, spec: TemplateSpec, _pgbench: Pgbench) -> None:
    """The user's own SQL in ``bench``, as one transaction. Raises WorkloadError where it fails."""
    script = spec.data.script
    if script is None:
        raise ValueError("a data set of the kind script has a script")
    with cluster.connect(BENCH_DATABASE) as connection:
        try:
            connection.execute(script.text.encode("utf-8"))
        except psycopg.Error as error:
            raise WorkloadError(
                f"the data script {script.name} failed on {cluster.name}:"
                f" {str(error).splitlines()[0]}",
                "it runs as one transaction of plain SQL (no commands of psql, no VACUUM, no COPY"
                " from standard input); nothing of it was kept",
            ) from error


Filler = Callable[[Cluster, TemplateSpec, Pgbench], None]
FILLERS: dict[DataKind, Filler] = {
    DataKind.PGBENCH: run_pgbench_init,
    DataKind.SCRIPT: run_data_script,
}
"""Who makes the tables of each kind of data set, in the database ``bench``."""


def _require_all_visible(connection: psycopg.Connection, cluster: Fillable) -> None:
    """Rows that are not yet known to be visible would be written by the first reader: a bias."""
    rows = connection.execute(
        "SELECT relname, relpages - relallvisible FROM pg_class WHERE relkind = 'r' "
        "AND relname LIKE 'pgbench%' AND relallvisible < relpages"
    ).fetchall()
    if rows:
        pages = ", ".join(f"{name}: {count} pages" for name, count in rows)
        raise ServerError(
            f"{cluster.name}: after VACUUM not every page is known to be visible ({pages})",
            "run again; if it happens again, please report it with the server's version",
        )


def _create_extension(connection: psycopg.Connection, name: str, cluster: Fillable) -> None:
    try:
        connection.execute(sql.SQL("CREATE EXTENSION {}").format(sql.Identifier(name)))
    except psycopg.Error as error:
        major = cluster.installation.version.major
        raise ServerError(
            f"{cluster.name} has no extension {name}: {str(error).splitlines()[0]}",
            f"install its contrib modules (Debian 10 and later have them in postgresql-{major}, "
            f"Red Hat in postgresql{major}-contrib), or use teiten pg install {major}",
        ) from error
