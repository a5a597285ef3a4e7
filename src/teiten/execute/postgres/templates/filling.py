"""Who makes the tables of each kind of data set, and lays them out, in the database ``bench``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import psycopg

from teiten.errors import WorkloadError
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.programs import pgbench_initialize, run_program
from teiten.execute.ssb.watch import Unwatched
from teiten.model.installation import Installation, Pgbench
from teiten.model.plan import TemplateSpec
from teiten.model.ssb import SsbData, SsbTable
from teiten.model.ssb_size import expected_rows
from teiten.model.study import DataKind, DataSet, Layout, Script

BENCH_DATABASE = "bench"
TOLD_SHARE = 0.02
"""Of the rows of lineorder: how often the load says how far it is."""
Say = Callable[[str], None]


class Fillable(Protocol):
    """A started server of an empty cluster, here or on another host."""

    @property
    def name(self) -> str: ...
    @property
    def installation(self) -> Installation: ...
    def conninfo(self, dbname: str) -> str: ...
    def connect(self, dbname: str = ...) -> psycopg.Connection: ...


def run_pgbench_init(cluster: Cluster, spec: TemplateSpec, pgbench: Pgbench, _say: Say) -> None:
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
        environment=cluster.client_environment,
        hint="give disk back with teiten clean where the disk is full; "
        "else try another pgbench: teiten pg list shows those found",
    )


def run_data_script(cluster: Fillable, spec: TemplateSpec, _pgbench: Pgbench, _say: Say) -> None:
    """The user's own SQL. Raises WorkloadError where it fails."""
    if spec.data.script is None:
        raise ValueError("a data set of the kind script has a script")
    _run_script(cluster, spec.data.script, "data script")


def load_ssb(cluster: Fillable, spec: TemplateSpec, _pgbench: Pgbench, say: Say) -> None:
    """The Star Schema Benchmark by one stream, which leaves every row frozen, and verified.

    Raises MachineError where the native part of Teiten is missing or the disk is too small.
    """
    # Here, since templates are also cloned on hosts that have nothing but Python.
    from teiten.execute.ssb.load import LoadOptions, load  # noqa: PLC0415

    data = SsbData(float(spec.data.scale or 1), spec.data.variant)
    load(cluster.conninfo(BENCH_DATABASE), data, LoadOptions(), _Telling(spec.data, say))


def lay_out(cluster: Fillable, layout: Layout, say: Say) -> None:
    """Run a layout's scripts on the filled tables, each in a transaction.

    Raises WorkloadError where one fails.
    """
    for script in layout.scripts:
        say(f"laying out the tables: {script.name}")
        _run_script(cluster, script, f"script of the layout {layout.name}")


class _Telling(Unwatched):
    """Says what is loaded, and of lineorder how far."""

    def __init__(self, data: DataSet, say: Say) -> None:
        self._say = say
        self._rows = 0
        self._all = expected_rows(data.scale or 1, data.variant)[SsbTable.LINEORDER]
        self._told = TOLD_SHARE

    def progress(self, table: SsbTable, units: int, rows: int) -> None:
        del units
        if table is not SsbTable.LINEORDER:
            return
        self._rows += rows
        if self._rows >= self._told * self._all:
            self._say(f"loading {table}: {self._rows / self._all:.0%}")
            self._told += TOLD_SHARE

    def step(self, text: str) -> None:
        self._say(text)


def _run_script(cluster: Fillable, script: Script, what: str) -> None:
    """All of a script in one transaction."""
    with cluster.connect(BENCH_DATABASE) as connection:
        try:
            connection.execute(script.text.encode("utf-8"))
        except psycopg.Error as error:
            raise WorkloadError(
                f"the {what} {script.name} failed on {cluster.name}: {str(error).splitlines()[0]}",
                "it runs as one transaction of plain SQL (no commands of psql, no VACUUM, no COPY"
                " from standard input); nothing of it was kept",
            ) from error


Filler = Callable[[Cluster, TemplateSpec, Pgbench, Say], None]
SQL_FILLERS: dict[DataKind, Callable[[Fillable, TemplateSpec, Pgbench, Say], None]] = {
    DataKind.SCRIPT: run_data_script,
    DataKind.SSB: load_ssb,
}
"""Those that need nothing but a connection."""
FILLERS: dict[DataKind, Filler] = {DataKind.PGBENCH: run_pgbench_init, **SQL_FILLERS}
