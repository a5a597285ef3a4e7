"""Filling a new cluster with a data set, quickly and always alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import psycopg
from psycopg import sql

from teiten.connections import Conninfo
from teiten.datasets.contract import Fillable, Say
from teiten.datasets.registry import dataset
from teiten.datasets.sql import run_script
from teiten.errors import MachineError, ServerError, first_line
from teiten.execute.client.address import Address
from teiten.execute.postgres import states
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster, StopManner
from teiten.execute.postgres.marker import Kind, remove_marked
from teiten.execute.postgres.programs import run_program
from teiten.execute.postgres.sockets import new_socket_directory, remove_socket_directory
from teiten.execute.postgres.templates.linked import make_movable
from teiten.host.system.causes import full_disk
from teiten.host.system.held_folder import HeldFolder, sync_file_system_of
from teiten.host.system.users import ServerUser
from teiten.model.installation import Installation, Pgbench, Version
from teiten.model.plan import TemplateSpec
from teiten.model.storage import TABLESPACES, WAL_FOLDER, Part
from teiten.model.study import DataSet, Setting
from teiten.model.text import Bilingual

FILL = "fill"
"""The file of a data set's folder that makes its tables."""
EXTENSIONS = ("pg_prewarm", "pg_buffercache")
"""Where a server has them: one without contrib can be measured too."""
WITHOUT = ("58P01", "0A000")
"""SQLSTATE of an extension that is not installed: undefined_file up to 15, and since then
feature_not_supported. By number: an agent on a host has no classes for them."""
NOT_VISIBLE = """
SELECT c.oid::regclass::text, c.relpages - c.relallvisible
FROM pg_class c LEFT JOIN pg_class o ON o.reltoastrelid = c.oid
JOIN pg_namespace n ON n.oid = coalesce(o.relnamespace, c.relnamespace)
WHERE c.relkind IN ('r', 'm', 't') AND c.relpersistence <> 't' AND c.relallvisible < c.relpages
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
ORDER BY 2 DESC
"""
"""Every table that is not the server's own, its partitions and TOAST tables among them."""
VACUUMS = 5
"""How often VACUUM is tried."""
BEFORE = "before"
"""The folder of a cluster that is upgraded, while a template is built."""
DATA = "data"
"""The data directory's name within a cluster's or a template's folder."""
NAMED_LOG = re.compile(r'Consult the last few lines of "([^"]+)"')
"""In what pg_upgrade says: where another program has written why it failed."""
SERVER_LOG = "pg_upgrade_server.log"
END_OF_LOG = 1000
"""Bytes."""

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
SPREAD_SETTINGS = (
    Setting(
        "default_tablespace",
        TABLESPACES[Part.TABLES],
        Bilingual(
            "tables can lie on a storage of their own", "テーブルの配置を分離できるように設定"
        ),
        "template",
    ),
)


def build_cluster(
    spec: TemplateSpec,
    folder: Path,
    *,
    user: ServerUser,
    pgbench: Pgbench,
    say: Callable[[str], None] = lambda _: None,
    to_upgrade: bool = False,
) -> None:
    """Make a stopped cluster with the data set in the database ``bench``, all on the disk;
    ``to_upgrade``: with the tables alone, for another version.

    Both sides of a contrast begin alike: every row is frozen, and every page known to be visible
    and analysed, before the first trial. Raises ServerError or WorkloadError where a step fails.
    """
    cluster = Cluster.create(
        spec.installation,
        folder / DATA,
        user=user,
        checksums=spec.checksums,
        what=Kind.TEMPLATE_BUILD,
        wal=WAL_FOLDER if spec.data.spread else None,
    )
    if spec.origin is not None:
        old, before = replace(spec, installation=spec.origin, origin=None), folder / BEFORE
        build_cluster(old, before, user=user, pgbench=pgbench, say=say, to_upgrade=True)
        upgrade(spec.origin, before / DATA, cluster, say)
        remove_marked(before)
    spread = SPREAD_SETTINGS if spec.data.spread else ()
    cluster.configure((*BUILD_SETTINGS, *spread, *states.settings(spec.data)))
    cluster.start()
    try:
        if spec.data.spread:
            make_tablespaces(cluster)
        tables = tables_here(cluster, pgbench)
        if spec.origin is None:
            make_database(tables, spec.data, say)
        if not to_upgrade:
            furnish(tables, spec.data, say)
        if spec.data.spread:
            move_indexes(cluster)
        end_build(cluster)
    finally:
        cluster.stop(immediately=True)


def upgrade(origin: Installation, data: Path, cluster: Cluster, say: Say) -> None:
    """Bring a stopped cluster's databases into one that initdb has made, by the new version's
    pg_upgrade: files are copied. Raises ServerError where it fails, with the reason that its logs
    give, which go with the clusters; MachineError where the disk is full."""
    new, user = cluster.installation, cluster.user
    say(f"upgrading the cluster of PostgreSQL {origin.version} to {new.version}")
    sockets = new_socket_directory(user)
    try:
        run_program(
            [
                *(new.bin_directory / "pg_upgrade", "--username", cluster.user_name),
                *("--old-bindir", origin.bin_directory, "--new-bindir", new.bin_directory),
                *("--old-datadir", data, "--new-datadir", cluster.data_directory),
                *("--socketdir", sockets),
            ],
            what=f"pg_upgrade from PostgreSQL {origin.version} to {new.version}",
            user=user,
            library_path=new.library_path,
            folder=data,  # where it may leave scripts and logs, which go with the old cluster
            hint="leave the state out (--set state=fresh), or change the tables so that pg_upgrade"
            " takes them",
        )
    except ServerError as error:
        reason = "\n".join((error.message, _logged(error.message, (cluster.data_directory, data))))
        full = full_disk(data)  # which its messages do not always tell
        if full is not None:
            raise MachineError(f"{full.message}; {reason}", full.hint) from error
        raise ServerError(reason.rstrip(), error.hint) from error
    finally:
        remove_socket_directory(sockets)


def _logged(message: str, folders: Sequence[Path]) -> str:
    """Read the end of the log that pg_upgrade names, else of that of the servers that it started;
    below the new data directory from 15 on, and before in its working folder, the old one."""
    named = NAMED_LOG.search(message)
    wanted = SERVER_LOG if named is None else Path(named[1]).name
    for folder in folders:
        with suppress(OSError, ServerError), HeldFolder.open_itself(folder) as held:
            for inner, name, status in held.walk():
                if name == wanted:
                    with inner.read_file(name) as log:
                        log.seek(max(0, status.st_size - END_OF_LOG))
                        return log.read(END_OF_LOG).decode("utf-8", "replace").strip()
    return ""


def make_tablespaces(cluster: Cluster) -> None:
    """A tablespace for each part that can lie on a storage of its own, in the cluster's folder."""
    home = cluster.data_directory.parent
    with HeldFolder.open_itself(home) as held, cluster.connect() as connection:
        for part, name in TABLESPACES.items():
            with held.make(part.value) as folder:
                folder.give(cluster.user)
            connection.execute(
                sql.SQL("CREATE TABLESPACE {} LOCATION {}").format(
                    sql.Identifier(name), str(home / part.value)
                )
            )


def move_indexes(cluster: Cluster) -> None:
    """All indexes of the tables into the tablespace of indexes; those of TOAST tables stay."""
    with cluster.connect(BENCH_DATABASE) as connection:
        connection.execute(
            sql.SQL("ALTER INDEX ALL IN TABLESPACE {} SET TABLESPACE {}").format(
                sql.Identifier(TABLESPACES[Part.TABLES]), sql.Identifier(TABLESPACES[Part.INDEXES])
            )
        )
        connection.execute("CHECKPOINT")


def end_build(cluster: Cluster) -> None:
    """Stop a filled cluster, all on the disk. Raises ServerError where it does not stop cleanly."""
    manner = cluster.stop()
    if manner is not StopManner.FAST:
        raise ServerError(
            f"{cluster.name} did not stop cleanly after it was filled ({manner})",
            "run again; if it happens again, look at the machine's load and its disk",
        )
    make_movable(cluster.data_directory, cluster.user)
    cluster.restore_configuration()
    sync_file_system_of(cluster.data_directory.parent)


class OwnServer(Protocol):
    """A started server of our own, here or on a host."""

    @property
    def name(self) -> str: ...
    @property
    def user_name(self) -> str: ...
    @property
    def socket_directory(self) -> Path: ...
    @property
    def port(self) -> int: ...
    def conninfo(self, dbname: str) -> Conninfo: ...
    def connect(self, dbname: str = ...) -> psycopg.Connection[Any]: ...


@dataclass(frozen=True)
class Tables:
    """The database for the tables on a server of our own, which is to be made."""

    server: OwnServer
    pgbench: Callable[[Sequence[str], str], None]
    """Runs pgbench with arguments near the server; the second text says for what."""

    @property
    def name(self) -> str:
        return self.server.name

    def conninfo(self) -> Conninfo:
        return self.server.conninfo(BENCH_DATABASE)

    def connect(self) -> psycopg.Connection[Any]:
        return self.server.connect(BENCH_DATABASE)

    def run_pgbench(self, *options: str, what: str) -> None:
        server = self.server
        address = Address.by_socket(
            server.socket_directory, server.port, server.user_name, BENCH_DATABASE
        )
        self.pgbench([*options, *address.options, address.database], what)


def tables_here(cluster: Cluster, pgbench: Pgbench) -> Tables:
    """Give the fillers a cluster on this machine."""

    def run(arguments: Sequence[str], what: str) -> None:
        run_program(
            [pgbench.path, *arguments],
            what=what,
            library_path=pgbench.library_path,
            environment=cluster.client_environment,
            hint="give disk back with teiten clean where the disk is full; "
            "else try another pgbench: teiten pg list shows those found",
        )

    return Tables(cluster, run)


def fill(tables: Tables, data: DataSet, say: Say) -> None:
    """Make the database ``bench``, its tables, and all that a trial needs of them.

    Raises ServerError or WorkloadError where a step fails.
    """
    make_database(tables, data, say)
    furnish(tables, data, say)


def make_database(tables: Tables, data: DataSet, say: Say) -> None:
    """Make the database ``bench`` and its tables. Raises as ``fill`` does."""
    with tables.server.connect() as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(BENCH_DATABASE)))
    make_tables(tables, data, say)
    if leaves_all_visible(data):
        _make_all_visible(tables)


def furnish(tables: Tables, data: DataSet, say: Say) -> None:
    """Add to filled tables what trials need besides, and bring them into their state.

    Raises ServerError where a step fails.
    """
    with tables.connect() as connection:
        for name in EXTENSIONS:
            _create_extension(connection, name, tables.name, required=False)
        if states.visible_of(data) is not None:
            _create_extension(connection, states.VISIBILITY, tables.name)
            states.confirm_visible(connection, data, tables.name)
        if data.state is not None:
            _create_extension(connection, states.VISIBILITY, tables.name, required=False)
            states.make(tables, data.state, say)
        connection.execute("CHECKPOINT")


def make_tables(tables: Fillable, data: DataSet, say: Say) -> None:
    """Fill the database, and lay the tables out. Where the layout is to keep what its own changes
    leave behind, everything before them is vacuumed first, and the tables are only analysed after.
    Where it says a share of visible pages, all its tables begin alike: COPY leaves empty pages at a
    table's end, which stay among those of changed rows, never visible, if no VACUUM removes them.

    Raises WorkloadError, ServerError or MachineError.
    """
    _create_versions(tables, data)
    dataset(data.kind, FILL).fill(tables, data, say)
    if data.layout is None:
        return
    if not leaves_all_visible(data) or (data.layout.scripts and data.layout.visible is not None):
        _make_all_visible(tables)
    for script in data.layout.scripts:
        say(f"laying out the tables: {script.name}")
        run_script(tables, script, f"script of the layout {data.layout.name}")
    if not leaves_all_visible(data):
        with tables.connect() as connection:
            connection.execute("ANALYZE")


def leaves_all_visible(data: DataSet) -> bool:
    """Whether every page is to be known as visible in the end; the layout may say otherwise."""
    return data.layout is None or data.layout.all_visible


def _make_all_visible(tables: Fillable) -> None:
    """VACUUM, until it has left out no page: rows that are not yet known to be visible would be
    written by the first reader, a bias.

    A page that holds only frozen rows is left out where another process has it pinned just then,
    as the background writer does while it writes it.
    """
    rows: list[tuple[str, int]] = []
    with tables.connect() as connection:
        for _ in range(VACUUMS):
            connection.execute("VACUUM (FREEZE, ANALYZE)")
            rows = connection.execute(NOT_VISIBLE).fetchall()
            if not rows:
                return
    pages = ", ".join(f"{table}: {count} pages" for table, count in rows[:5])
    raise ServerError(
        f"{tables.name}: after VACUUM not every page is known to be visible ({pages})",
        "run again; if it happens again, please report it with the server's version",
    )


def _create_versions(tables: Fillable, data: DataSet) -> None:
    """The extensions whose versions are compared, before tables that need them."""
    for extension, version in data.extensions:
        command = sql.SQL("CREATE EXTENSION {} VERSION {} CASCADE").format(
            sql.Identifier(extension), sql.Identifier(version)
        )
        with tables.connect() as connection:
            try:
                connection.execute(command)
            except psycopg.Error as error:
                raise ServerError(
                    f"{tables.name}: the extension {extension} cannot be created at version"
                    f" {version}: {first_line(error)}",
                    "name versions that pg_available_extension_versions lists there",
                ) from error


def _create_extension(
    connection: psycopg.Connection[Any], extension: str, name: str, *, required: bool = True
) -> None:
    """Tried, not asked before: pg_available_extensions fails where the folder holds the file of any
    later version's extension."""
    try:
        connection.execute(sql.SQL("CREATE EXTENSION {}").format(sql.Identifier(extension)))
    except psycopg.Error as error:
        if not required and error.sqlstate in WITHOUT:
            return
        major = Version(connection.info.server_version).major
        raise ServerError(
            f"{name} has no extension {extension}: {first_line(error)}",
            f"install its contrib modules (Debian 10 and later have them in postgresql-{major}, "
            f"Red Hat in postgresql{major}-contrib), or use teiten pg install {major}",
        ) from error
