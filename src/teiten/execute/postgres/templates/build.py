"""Filling a new cluster with a data set, quickly and always alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
from psycopg import sql

from teiten.errors import ServerError
from teiten.execute.postgres.cluster import Cluster, StopManner
from teiten.execute.postgres.marker import Kind
from teiten.execute.postgres.templates.copy_methods import sync_file_system
from teiten.execute.postgres.templates.filling import (
    BENCH_DATABASE,
    FILLERS,
    Fillable,
    Say,
    lay_out,
)
from teiten.host.users import ServerUser
from teiten.model.installation import Pgbench
from teiten.model.plan import TemplateSpec
from teiten.model.study import DataSet, Setting
from teiten.model.text import Bilingual

EXTENSIONS = ("pg_prewarm", "pg_buffercache")
NOT_VISIBLE = """
SELECT c.oid::regclass::text, c.relpages - c.relallvisible
FROM pg_class c LEFT JOIN pg_class o ON o.reltoastrelid = c.oid
JOIN pg_namespace n ON n.oid = coalesce(o.relnamespace, c.relnamespace)
WHERE c.relkind IN ('r', 'm', 't') AND c.relpersistence <> 't' AND c.relallvisible < c.relpages
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
ORDER BY 2 DESC
"""
"""Of every table that is not the server's own, its partitions and TOAST tables among them."""
VACUUMS = 5
"""How often VACUUM is tried."""
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
    spec: TemplateSpec,
    folder: Path,
    *,
    user: ServerUser,
    pgbench: Pgbench,
    log: Path,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Make a stopped cluster with the data set in the database ``bench``, all on the disk.

    Both sides of a contrast begin alike: every row is frozen, and every page known to be visible
    and analysed, before the first trial. Raises ServerError or WorkloadError where a step fails.
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
        fill(
            cluster,
            spec.data,
            lambda: FILLERS[spec.data.kind](cluster, spec, pgbench, say),
            say,
        )
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
    cluster.restore_configuration()
    sync_file_system(cluster.data_directory.parent)


def fill(cluster: Fillable, data: DataSet, make_tables: Callable[[], None], say: Say) -> None:
    """Make the database ``bench``, its tables, and all that a trial needs of them."""
    with cluster.connect() as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(BENCH_DATABASE)))
    make_tables()
    if data.layout is not None:
        lay_out(cluster, data.layout, say)
    with cluster.connect(BENCH_DATABASE) as connection:
        for name in EXTENSIONS:
            _create_extension(connection, name, cluster)
        _make_all_visible(connection, cluster)
        connection.execute("CHECKPOINT")


def _make_all_visible(connection: psycopg.Connection, cluster: Fillable) -> None:
    """VACUUM, until it has left out no page: rows that are not yet known to be visible would be
    written by the first reader, a bias.

    A page that holds only frozen rows is left out where another process has it pinned just then,
    as the background writer does while it writes it.
    """
    rows: list[tuple[str, int]] = []
    for _ in range(VACUUMS):
        connection.execute("VACUUM (FREEZE, ANALYZE)")
        rows = connection.execute(NOT_VISIBLE).fetchall()
        if not rows:
            return
    pages = ", ".join(f"{name}: {count} pages" for name, count in rows[:5])
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
