"""Tables spread over two nodes by each engine that is installed: a campaign in which one of them is
killed, and the rows that clients then find. An engine is tested by what all of them promise."""

from __future__ import annotations

import html
import math
from contextlib import ExitStack
from typing import get_args

import pytest

from teiten.engines.contract import Engine
from teiten.engines.registry import engine_of, names
from teiten.execute.bench import Bench, ThisMachine
from teiten.execute.client.here import Here
from teiten.execute.distribution import distributed
from teiten.execute.sites.contract import Site
from teiten.execute.sites.local.clusters import LocalClusters
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.ledger.store import Ledger
from teiten.model.distribution import ClientEntry, CoordinatorRows
from teiten.model.plan import FIRST
from teiten.model.text import Language
from teiten.model.trial import Outcome
from teiten.report.texts import texts
from tests.fixtures.campaigns import PATIENCE, Teiten, step_of
from tests.fixtures.forked import Started
from tests.fixtures.servers import left_processes, server_with
from tests.postgres.test_nodes import Unseen

STUDY = """
[study]
name = "spread"
title = "Spread"
question = "Does all of it work?"
contrast = "nodes"

[factors]
server = ["{server}"]
nodes = [0, 2]
engine = ["{engine}"]
entry = {entry}
coordinator = {coordinator}
clients = [2]

[[workloads]]
name = "update"
title = "Update"
script = "paced.sql"
scale = 1
changes_data = true
invariants = ["tpcb-balances"]
pgbench_options = ["--max-tries=1000"]

[measure]
duration = "3s"
warmup = "0s"
settle = "0s"
blocks = 2
caches = "keep"
prewarm = true
disturbed_share = "100%"

[profiles.quick]
conclusive = false
blocks = 1
"""


def entries_of(engine: Engine) -> list[str]:
    return [one.value for one in ClientEntry if engine.everywhere or one is ClientEntry.COORDINATOR]


def wait_for_a_trial_on_nodes(teiten: Teiten, process: Started, engine: Engine) -> int:
    """The number of the one trial on nodes that clients enter as widely as the engine permits, once
    it is measured."""
    teiten.wait_for(process, step_of(1, "restore"))
    widest = ClientEntry(entries_of(engine)[-1])
    (number,) = (
        trial.number
        for trial in teiten.plan().trials
        if trial.distribution is not None
        and trial.distribution.entry is widest
        and trial.distribution.coordinator is CoordinatorRows.APART
    )
    teiten.wait_for(process, step_of(number, "warm-up"))
    return number


def kill_the_last_node(teiten: Teiten) -> None:
    """Of the clusters of two parts and an empty database none has a copy: each is known by its
    rows."""
    postmasters = teiten.postmasters()
    assert len(postmasters) == 3
    last = teiten.plan().trials
    part = next(one for one in last if one.distribution).templates[-1].fingerprint[:12]
    (node,) = (postmaster for postmaster in postmasters if part in postmaster.cwd())
    node.kill()


@pytest.fixture(params=[name for name in names() if engine_of(name).extension])
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_of(request.param)


def test_a_campaign_on_nodes_goes_on_after_one_was_killed(workdir: Workdir, engine: Engine) -> None:
    """Every transaction is on the nodes that it was committed on, and all sums agree at the end."""
    server = server_with(engine.extension)
    if server is None:
        pytest.skip(f"no server has {engine.extension}: {engine.installing}")
    teiten = Teiten.prepared(workdir)
    teiten.script("paced")
    study = workdir.root / "spread.toml"
    written = STUDY.format(
        server=server.bin_directory,
        engine=engine.name,
        entry=entries_of(engine),
        coordinator=[coordinator.value for coordinator in engine.coordinators],
    )
    study.write_text(written, encoding="utf-8")
    process = teiten.start("run", study, "--profile", "quick", "--yes")
    spread = wait_for_a_trial_on_nodes(teiten, process, engine)
    kill_the_last_node(teiten)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors

    trials = teiten.trials()
    failed = [trial for trial in trials if trial.outcome is not Outcome.COUNTED]
    assert [one.number for one in failed] == [spread]
    first = failed[0].problems[0]
    assert first.code == "server-crash" and first.detail.startswith("node 3: ")
    (again,) = (
        trial for trial in trials if trial.number == spread and trial.outcome is Outcome.COUNTED
    )
    commits = [again.metrics[f"node_{node}_commits"] for node in (2, 3)]
    assert min(commits) > 0
    of_a_transaction = math.fsum(commits) / again.metrics["transactions"]
    assert again.metrics["participants"] == pytest.approx(of_a_transaction)
    assert 1 <= of_a_transaction <= 2
    counted = {trial.number for trial in trials if trial.outcome is Outcome.COUNTED}
    ways = len(entries_of(engine)) * len(engine.coordinators)
    assert len(counted) == 2 * ways, "on plain PostgreSQL and on nodes"
    (probed,) = (one.detail for one in teiten.events() if one.kind == "fsync-intervals")
    assert "reason" in probed or set(probed["rates"]) == {"8192", "131072", "0"}
    report = teiten.campaign() / "report"
    for language in get_args(Language):
        page = html.unescape((report / f"report.{language}.html").read_text(encoding="utf-8"))
        words = texts(language)
        assert words("scale-out.title") in page
        assert words(f"scale-out.engine.{engine.name}") in page
    assert list(workdir.clusters.iterdir()) == []
    for trial in teiten.plan().trials:
        own = trial.distribution
        if trial.number == spread or (own and own.coordinator is CoordinatorRows.NODE):
            all_rows_are_found(teiten, trial.number)
    assert not left_processes([workdir.root])


def all_rows_are_found(teiten: Teiten, number: int) -> None:
    """Also where servers that were one database once are made one anew."""
    with Ledger.open(teiten.campaign()) as ledger, ExitStack() as opened:
        bench = Bench(ledger.plan, teiten.campaign(), Unseen(), lambda: None, ledger)
        machine = ThisMachine(teiten.workdir, server_user(), ())
        clusters = LocalClusters(bench, machine, Here(), print, print)
        trial = next(trial for trial in ledger.plan.trials if trial.number == number)
        opened.callback(clusters.client.close)
        opened.callback(clusters.finish)
        site = clusters.site(trial, 1)
        opened.callback(site.abandon)
        bench.evidence_folder(trial, 1).mkdir(parents=True, exist_ok=True)
        site.restore()
        site.start()
        tables = distributed(trial, site)
        assert tables is not None
        for _ in range(2):
            tables.distribute()
            check_rows(site)
        site.stop(sound=True)


def check_rows(site: Site) -> None:
    """All of them together, and some by their keys."""
    with site.connect(FIRST) as connection:
        for table, key, rows in (("accounts", "aid", 100_000), ("tellers", "tid", 10)):
            whole = f"SELECT count(*), min({key}), max({key}), sum(bid) FROM pgbench_{table}"
            assert connection.execute(whole).fetchone() == (rows, 1, rows, rows)
        for aid in (1, 77, 99_999):
            found = connection.execute(
                "UPDATE pgbench_accounts SET abalance = abalance WHERE aid = %s RETURNING aid",
                [aid],
            ).fetchall()
            assert found == [(aid,)]
        assert connection.execute("SELECT count(*) FROM pgbench_branches").fetchone() == (1,)
