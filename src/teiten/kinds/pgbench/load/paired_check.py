"""The starts of a check of paired transactions: equal work, and work of which B has a little more,
in the same start.

There are three scripts: one that is the same on both sides (A against A), one of which B reads 2 %
more rows, and one that reads twice as many on both, from which follows what a row costs. What a
start favours one side with is in all of them, and so not in the control. With as many clients as
processors they are drawn at random, in the same seconds. With more clients, which are in step, a
transaction's time holds its wait for those of the others: there each script has seconds of its own,
in which all clients run it.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from teiten.errors import WorkloadError
from teiten.execute.bench import ThisMachine
from teiten.execute.client.paired import PairedRun, PairedServer, Pairs, run_pairs
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.kinds.pgbench.load.paired_numbers import PairedTimes, numbers
from teiten.kinds.pgbench.load.paired_run import NOT_PINNED
from teiten.model.pairs_check import BEYOND, MORE, CheckedLoad, CheckedStart, StartNumbers
from teiten.model.plan import Plan
from teiten.model.study import QueryMode, Script, Setting
from teiten.model.text import Bilingual
from teiten.model.units import Seconds

ROWS = 10_000
WARM_UP = Seconds(1.0)
TEXT = """\
\\set first random(1, 100000 * :scale - 2 * 10200)
SELECT count(abalance) FROM pgbench_accounts
 WHERE aid BETWEEN :first AND :first + {rows} - 1;
"""
SCRIPTS = (
    (Script("equal.sql", False, TEXT.format(rows="current_setting('teiten.equal')::int")), 4),
    (Script("more.sql", False, TEXT.format(rows="current_setting('teiten.more')::int")), 4),
    (Script("twice.sql", False, TEXT.format(rows="current_setting('teiten.twice')::int")), 1),
)
"""Each with its weight; each asks for its rows in the same words."""
EQUAL, MORE_WORK, TWICE = range(3)
REASON = Bilingual("as in a comparison", "比較と同じ")
"""For the settings of servers that are checked."""


@dataclass(frozen=True)
class CheckedServers:
    """Two servers with the same data, which start anew for each start."""

    clusters: tuple[Cluster, Cluster]
    clients: int
    """As many as processors."""
    scale: int

    def start(self, seconds: Seconds, seed: int) -> CheckedStart:
        """``seconds``: of each number of clients. Raises WorkloadError where the load fails."""
        began, pin = time.monotonic(), True
        try:
            for cluster in self.clusters:
                cluster.start()
            for cluster in self.clusters:
                with cluster.connect(BENCH_DATABASE) as connection:
                    connection.execute("SELECT sum(abalance) FROM pgbench_accounts")
                    connection.execute("CHECKPOINT")
            try:
                self._mixed(WARM_UP, seed + 1, pin=pin)
            except WorkloadError as error:
                if NOT_PINNED not in error.message:
                    raise
                pin = False
            loads = (self._mixed(seconds, seed, pin=pin), self._in_step(seconds, seed, pin=pin))
        finally:
            for cluster in self.clusters:
                cluster.stop()
        return CheckedStart(loads, psutil.getloadavg()[0], time.monotonic() - began)

    def _mixed(self, seconds: Seconds, seed: int, *, pin: bool) -> CheckedLoad:
        pairs = self._run(SCRIPTS, self.clients, seconds, seed, pin=pin)
        times = PairedTimes.of(pairs)
        of_scripts = [times.where(pairs["script"] == at) for at in range(len(SCRIPTS))]
        return checked(self.clients, of_scripts)

    def _in_step(self, seconds: Seconds, seed: int, *, pin: bool) -> CheckedLoad:
        """Each script has a part of the seconds as its weight is, in random order."""
        clients, of_scripts = BEYOND * self.clients, dict[int, PairedTimes]()
        whole = sum(weight for _, weight in SCRIPTS)
        for at in map(int, np.random.default_rng(seed).permutation(len(SCRIPTS))):
            part = Seconds(seconds * SCRIPTS[at][1] / whole)
            pairs = self._run([SCRIPTS[at]], clients, part, seed + at, pin=pin)
            of_scripts[at] = PairedTimes.of(pairs)
        return checked(clients, [of_scripts[at] for at in range(len(SCRIPTS))])

    def _run(
        self,
        scripts: Sequence[tuple[Script, int]],
        clients: int,
        seconds: Seconds,
        seed: int,
        *,
        pin: bool,
    ) -> Pairs:
        """``clients``: in step where there are more of them than processors."""
        more = (ROWS, round(ROWS * (1 + MORE)))
        with tempfile.TemporaryDirectory(prefix="teiten-pairs-") as folder:
            result = run_pairs(
                PairedRun(
                    servers=[*map(_server, self.clusters, more)],
                    scripts=scripts,
                    clients=clients,
                    protocol=QueryMode.PREPARED,
                    seed=seed,
                    folder=Path(folder),
                    duration=seconds,
                    in_step=clients > self.clients,
                    pin=pin,
                    variables={"scale": str(self.scale)},
                )
            )
        if result.summary["aborted"] or not len(result.pairs):
            raise WorkloadError(
                f"the check's load failed: {result.summary['aborted'] or 'nothing was done'}",
                "run teiten doctor --pairs again; what was measured is kept",
            )
        return result.pairs


def checked(clients: int, of_scripts: Sequence[PairedTimes]) -> CheckedLoad:
    """The numbers of a start with so many clients, from the times of each script."""
    equal, more = numbers(of_scripts[EQUAL]), numbers(of_scripts[MORE_WORK])
    share = _share(of_scripts[EQUAL], of_scripts[TWICE])
    further = StartNumbers(more.throughput - equal.throughput, more.typical - equal.typical)
    if not all(math.isfinite(n) for of in (equal, further, share) for n in vars(of).values()):
        raise WorkloadError(
            "a start was too short to tell anything", "stop what else runs on this machine"
        )
    return CheckedLoad(clients, equal, further, share)


def _share(once: PairedTimes, twice: PairedTimes) -> StartNumbers:
    """Return by which share twice the work makes a transaction longer."""
    if not len(once) or not len(twice):
        return StartNumbers(math.nan, math.nan)
    both = [times.latency.astype(np.float64) for times in (once, twice)]
    return StartNumbers(
        float(both[1].mean() / both[0].mean()) - 1,
        float(np.median(both[1]) / np.median(both[0])) - 1,
    )


def _server(cluster: Cluster, more: int) -> PairedServer:
    rows = {"equal": ROWS, "more": more, "twice": 2 * ROWS}
    return PairedServer(
        host=str(cluster.socket_directory),
        port=cluster.port,
        user=cluster.user_name,
        database=BENCH_DATABASE,
        parameters={f"teiten.{name}": str(count) for name, count in rows.items()},
        peer=cluster.user.uid,
    )


@contextmanager
def checked_servers(plan: Plan, machine: ThisMachine, clients: int) -> Iterator[CheckedServers]:
    """Two servers of a plan of a server against itself, each on a copy of its template; nothing is
    left of them. Raises MachineError where the disk does not suffice, ServerError."""
    store = TemplateStore(machine.workdir, machine.user)
    sides = plan.pair_of(plan.trials[0])
    with ExitStack() as ending:
        clusters = []
        for at, trial in enumerate(sides):
            if not store.ready(trial.template):
                store.build(trial.template, plan.pgbench, lambda _: None)
            folder = machine.workdir.clusters / f"pairs-check-{at}"
            store.clone(trial.template, folder)
            cluster = Cluster.adopt(
                trial.template.installation,
                folder / "data",
                user=machine.user,
                log=folder / "server.log",
            )
            ending.callback(cluster.remove)
            cluster.configure([Setting(*pair, REASON, "doctor") for pair in trial.settings])
            clusters.append(cluster)
        scale = int(sides[0].template.data.scale or 1)
        yield CheckedServers((clusters[0], clusters[1]), clients, scale)
