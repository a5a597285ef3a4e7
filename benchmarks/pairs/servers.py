"""Two servers of the same version and data for the benchmarks, and what runs on them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.servers import new_server, passable_folder, pgbench_run
from teiten.datasets.pgbench.model import pgbench_data
from teiten.execute.client.paired import (
    PairedResult,
    PairedRun,
    PairedServer,
    run_pairs,
)
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster
from teiten.execute.postgres.installations import choose_pgbench, find_installations
from teiten.execute.postgres.templates import build
from teiten.host.system.paths import Workdir
from teiten.kinds.pgbench.load.process import PgbenchProcess
from teiten.model.installation import Installation, Pgbench
from teiten.model.study import QueryMode, Script, Setting
from teiten.model.text import Bilingual
from teiten.model.units import Seconds

SCALE = 10
BASE_ROWS = 10_000
DEFAULTS: Mapping[str, str] = {"teiten.rows": str(BASE_ROWS)}
"""Of the sessions: the scripts' own parameters."""
REASON = Bilingual("the benchmark", "ベンチマークのため")
SETTINGS = tuple(
    Setting(name, value, REASON, "benchmarks.pairs")
    for name, value in (
        ("shared_buffers", "512MB"),
        ("autovacuum", "off"),
        ("max_wal_size", "4GB"),
    )
)
RANGE_READ = """\
\\set first random(1, 100000 * :scale - 25000)
SELECT count(abalance) FROM pgbench_accounts
 WHERE aid BETWEEN :first AND :first + current_setting('teiten.rows')::int - 1;
"""
# Two transactions of a thousand sleep where the side's parameter says so: a stall of 50 ms.
STALL = (
    RANGE_READ
    + """\
\\set chance random(1, 1000)
SELECT CASE WHEN :chance <= current_setting('teiten.stalls')::int THEN pg_sleep(0.05) END;
"""
)
# A server waits whole milliseconds only: chance, the same on both sides, makes their mean follow
# every microsecond. So throughput has the effect, and most transactions have not. The half is taken
# off since a server rounds up what is left of its wait: of 11 ms, by its clock's precision, to 12.
WAIT = """\
\\set part random(0, 999)
SELECT pg_sleep(((current_setting('teiten.rows')::int + :part) / 1000 - 0.5) / 1e3);
"""
# Rows of 800 bytes, and longer ones on the side that has more: never long enough for TOAST.
LONGER = """\
\\set first random(1, 19990)
UPDATE longer SET filler = repeat('x', current_setting('teiten.rows')::int * 2 / 25)
 WHERE aid BETWEEN :first AND :first + 9;
"""
EMPTY_LONGER = """\
DROP TABLE IF EXISTS longer;
CREATE TABLE longer (aid int PRIMARY KEY, filler text) WITH (fillfactor = 50);
INSERT INTO longer SELECT aid, repeat('x', 800) FROM generate_series(1, 20000) aid;
CHECKPOINT;
"""
SCRIPTS = {
    "select-only": Script("select-only", True, ""),
    "range read": Script("range-read.sql", False, RANGE_READ),
    "stall": Script("stall.sql", False, STALL),
    "tpcb-like": Script("tpcb-like", True, ""),
    "wait": Script("wait.sql", False, WAIT),
    "longer row": Script("longer-row.sql", False, LONGER),
}
"""A read of one row and of 10,000, the same with planted stalls, updates, a wait of 10,000
microseconds, and updates of ten rows whose length is planted."""


def more_rows(rows: int) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The settings of two sides, of which B has so many rows to read."""
    return DEFAULTS, {"teiten.rows": str(rows)}


@dataclass(frozen=True)
class Pair:
    """Two running servers."""

    clusters: tuple[Cluster, Cluster]
    pgbench: Pgbench
    folder: Path
    protocol: QueryMode = QueryMode.PREPARED

    def restart(self) -> None:
        """Stop both servers and start them anew: with their data in the cache, and the table of
        longer rows as it was at first."""
        for cluster in self.clusters:
            cluster.stop()
            cluster.start()
        for cluster in self.clusters:
            with cluster.connect(BENCH_DATABASE) as connection:
                connection.execute("SELECT sum(abalance) FROM pgbench_accounts")
                for statement in filter(str.strip, EMPTY_LONGER.split(";")):
                    connection.execute(statement)

    def run_pairs(
        self,
        script: str,
        clients: int,
        seconds: float,
        seed: int,
        *,
        settings: tuple[Mapping[str, str], Mapping[str, str]] = (DEFAULTS, DEFAULTS),
        sides: Sequence[int] = (0, 1),
        **options: object,
    ) -> PairedResult:
        """One start of the generator on both servers, or on one; ``settings``: of each server's
        sessions."""
        run = PairedRun(
            servers=[self.server(side, settings[side]) for side in sides],
            scripts=[(SCRIPTS[script], 1)],
            clients=clients,
            protocol=self.protocol,
            seed=seed,
            folder=self.folder / "pairs",
            duration=Seconds(seconds),
            variables={"scale": str(SCALE)},
            **options,  # type: ignore[arg-type]
        )
        result = run_pairs(run)
        assert not result.summary["aborted"], result.summary
        return result

    def run_pgbench(
        self,
        side: int,
        script: str,
        clients: int,
        seconds: float,
        *,
        seed: int,
        threads: int,
        settings: Mapping[str, str] = DEFAULTS,
    ) -> float:
        """TPS of pgbench on one server."""
        cluster = self.clusters[side]
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        run = pgbench_run(
            cluster,
            self.pgbench,
            clients,
            environment={"PGOPTIONS": options},
            script=SCRIPTS[script],
            scale=SCALE,
            threads=threads,
            duration=Seconds(seconds),
            seed=seed,
            query_mode=self.protocol,
            folder=self.folder / "pgbench",
        )
        process = PgbenchProcess(run)
        process.start()
        result = process.wait()
        assert not result.problems, result.problems
        return result.metrics["tps"]

    def server(self, side: int, settings: Mapping[str, str]) -> PairedServer:
        cluster = self.clusters[side]
        return PairedServer(
            host=str(cluster.socket_directory),
            port=cluster.port,
            user=cluster.user_name,
            database=BENCH_DATABASE,
            parameters=settings,
            peer=cluster.user.uid,
        )


def installation(version: str, workdir: Workdir) -> Installation:
    """The first that is found of this major version, or of this name (``wheel:18``)."""
    return next(
        installed
        for installed in find_installations(workdir)
        if installed.postgres and version in (installed.version.major, _short_name(installed))
    )


def _short_name(installed: Installation) -> str:
    """The name without the minor version: ``wheel:18`` of ``wheel:18.4``."""
    return installed.name.rpartition(".")[0]


@contextlib.contextmanager
def two_servers(version: str, workdir: Workdir, newer: str | None = None) -> Iterator[Pair]:
    """Two new clusters, of one version or of two, filled and running; nothing is left of them."""
    pgbench = choose_pgbench(find_installations(workdir))
    with passable_folder("teiten-bench-") as folder, contextlib.ExitStack() as end:
        clusters = []
        for side, server in (("a", version), ("b", newer or version)):
            own = new_server(installation(server, workdir), folder / side, SETTINGS)
            cluster = end.enter_context(own)
            fill(cluster, pgbench)
            clusters.append(cluster)
        yield Pair((clusters[0], clusters[1]), pgbench, folder)


def fill(cluster: Cluster, pgbench: Pgbench) -> None:
    """pgbench's tables, vacuumed, and in the cache."""
    build.fill(build.tables_here(cluster, pgbench), pgbench_data(SCALE), print)
    with cluster.connect(BENCH_DATABASE) as connection:
        connection.execute("SELECT count(*) FROM pgbench_accounts")
