"""Trials on several servers at once, their nodes: here, attached, and on another host."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from teiten.execute.bench import Bench, ThisMachine
from teiten.execute.client.here import Here
from teiten.execute.load import sampled
from teiten.execute.sites.contract import Site
from teiten.execute.sites.local.clusters import LocalClusters
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from teiten.model.plan import Node
from teiten.model.trial import Outcome
from tests.fixtures.attached import CREATOR, strange_server
from tests.fixtures.campaigns import PATIENCE, Teiten, kill, step_of
from tests.fixtures.hosts import by_ssh, network
from tests.fixtures.nodes import OTHER, TWICE, TwoNodes
from tests.fixtures.servers import left_processes

Find = Callable[[str], Installation]


@pytest.fixture
def newest(installation: Find) -> Installation:
    return installation("18")


@pytest.fixture(params=[TWICE, OTHER], ids=["the same template twice", "a template each"])
def two_nodes(request: pytest.FixtureRequest, workdir: Workdir) -> Iterator[TwoNodes]:
    yield TwoNodes(Teiten.prepared(workdir).workdir, request.param)
    assert not left_processes([workdir.root])


def branches(site: Site, node: Node) -> tuple[str, int]:
    """Where a node's data are, and the scale of its tables."""
    with site.connect(node) as connection:
        row = connection.execute(
            "SELECT current_setting('data_directory'), (SELECT count(*) FROM pgbench_branches)"
        ).fetchone()
    assert row is not None
    return str(row[0]), int(row[1])


class Unseen:
    """Nobody watches."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


def test_the_site_of_two_nodes(two_nodes: TwoNodes, newest: Installation) -> None:
    """Driven by hand: both servers are up at once, reached, sampled, stopped, and kept."""
    process = two_nodes.start("run", two_nodes.study(newest, newest, workload="reads"))
    two_nodes.wait_for(process, lambda event: event.kind == "trial-started")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    workdir = two_nodes.workdir
    with Ledger.open(two_nodes.campaign()) as ledger, ExitStack() as opened:
        bench = Bench(ledger.plan, two_nodes.campaign(), Unseen(), lambda: None, ledger)
        clusters = LocalClusters(
            bench, ThisMachine(workdir, server_user(), ()), Here(), print, print
        )
        trial = ledger.plan.trials[0]
        opened.callback(clusters.client.close)
        opened.callback(clusters.finish)
        for again in (False, True):
            site = clusters.site(trial, 1)
            opened.callback(site.abandon)
            folder = bench.evidence_folder(trial, 1)
            folder.mkdir(parents=True, exist_ok=True)
            restored = site.restore()["nodes"]
            assert [one["restored"] for one in restored.values()] == [not again, not again]
            site.caches()
            started = site.start()
            assert {one["version"] for one in started["nodes"].values()} == {newest.version.number}
            assert all(one["fits"] for one in site.prewarm()["nodes"].values())
            site.settle()
            (first, one), (second, two) = (branches(site, node) for node in site.nodes)
            assert first != second
            assert (one, two) == (1, 1 if two_nodes.second == TWICE else 2)
            assert site.address(1) != site.address(2)
            busy(site)
            with pytest.raises(ValueError, match="has no node 3"):
                site.connect(3)
            assert site.is_running() and site.problems() == ()
            assert {one["stopped"] for one in site.stop(sound=True)["nodes"].values()} == {"fast"}
            assert not left_processes([workdir.root])
            site.abandon()
            kept = sorted(path.name for path in folder.iterdir())
            assert {"server.log", "node-2-server.log"} < set(kept)
            assert {name for _, name in site.evidence} <= set(kept)
        assert len(list(workdir.clusters.iterdir())) == 2, "kept for trials to come"
    assert list(workdir.clusters.iterdir()) == []


def busy(site: Site) -> None:
    """A load on the second node alone is told of that one, and is nobody else's."""

    def work(_: object) -> None:
        with site.connect(2) as connection:
            until = time.monotonic() + 4  # some samples, however fast the machine is
            while time.monotonic() < until:
                connection.execute("SELECT count(*) FROM generate_series(1, 300000)")
                connection.execute("SELECT count(*) FROM pgbench_accounts")
                connection.execute("SELECT pg_sleep(0.1)")  # others have the processors too
            connection.execute("SELECT pg_stat_force_next_flush()")  # else at the backend's end

    _, found = sampled(site, work)
    own = found.metrics["node_2_server_cpu_share"]
    assert own > 0.01, "on a machine that others use, it has little of it"
    assert found.metrics["server_cpu_share"] == pytest.approx(own, abs=0.2)
    # Looking at them is a load of some hundred blocks for each.
    assert found.metrics["node_2_blocks_hit"] > 5 * found.metrics["blocks_hit"]
    assert "node_2_cpu_idle_share" not in found.metrics, "the machine is told of once"
    assert {"os", "postgres", "node-2:os", "node-2:postgres"} <= {
        one.source for one in found.series
    }


@pytest.mark.parametrize("two_nodes", [TWICE], indirect=True)
def test_a_campaign_of_two_nodes_goes_on_after_a_node_and_after_itself_were_killed(
    two_nodes: TwoNodes, newest: Installation
) -> None:
    """The trial whose node is killed fails, and names it."""
    process = two_nodes.start("run", two_nodes.study(newest, newest, seconds=3))
    two_nodes.wait_for(process, step_of(1, "warm-up"))
    (second,) = (one for one in two_nodes.postmasters() if "node-2" in one.cwd())
    second.children()[0].kill()
    two_nodes.wait_for(process, step_of(3, "warm-up"))
    assert len(two_nodes.postmasters()) == 2
    kill(process)
    psutil.wait_procs(two_nodes.postmasters(), timeout=PATIENCE)
    assert not left_processes([two_nodes.workdir.root]), "they end with Teiten"

    result = two_nodes.run("resume", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["complete"]
    assert list(two_nodes.workdir.clusters.iterdir()) == []
    (failed,) = (trial for trial in two_nodes.trials() if trial.outcome is Outcome.FAILED)
    assert failed.number == 1
    assert any(
        problem.code == "server-crash" and problem.detail.startswith("node 2: ")
        for problem in failed.problems
    )
    counted = [trial for trial in two_nodes.trials() if trial.outcome is Outcome.COUNTED]
    assert {trial.number for trial in counted} == {1, 2, 3, 4}
    for trial in counted:
        assert trial.metrics["tps"] > 0 and "node_2_server_cpu_share" in trial.metrics
        assert set(trial.facts["nodes"]) == {"1", "2"}
        names = [Path(path).name for _, path in trial.evidence]
        assert {"server.log", "node-2-server.log", "node-2-postgresql.conf"} <= set(names)
    report = two_nodes.campaign() / "report"
    assert {one.name for one in report.glob("*.html")} >= {"report.en.html", "report.ja.html"}


def test_two_nodes_on_an_attached_server(
    workdir: Workdir, newest: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has a database of its own there, and both are dropped."""
    with strange_server(newest) as strange:
        monkeypatch.setenv("PGPASSWORD", strange.password)
        teiten = TwoNodes(Teiten.prepared(workdir).workdir)
        address = strange.address(CREATOR)
        words = ("--script", teiten.script("reads"), "--guc-b", "work_mem=8MB", "--set", "scale=1")
        short = ("--duration", "1s", "--blocks", "2", "--profile", "quick", "--set", "warmup=0s")
        calm = ("--set", "disturbed_share=100%", "--yes", "--way", "classic")
        result = teiten.run("ab", address, address, *words, *short, *calm)
        assert result.returncode == 0, result.stderr
        assert strange.databases() == []
        for trial in teiten.trials():
            assert trial.outcome is Outcome.COUNTED, trial.problems
            assert set(trial.facts["nodes"]) == {"1", "2"}
            of_second = {name for name in trial.metrics if name.startswith("node_2_")}
            assert "node_2_blocks_hit" in of_second
            assert not any("cpu_" in name for name in of_second - {"node_2_server_cpu_share"})
        restored = [one for one in teiten.events() if one.detail.get("step") == "restore"]
        for event in restored:
            databases = [one["database"] for one in event.detail["nodes"].values()]
            assert len(set(databases)) == 2


@pytest.mark.root
def test_two_nodes_on_another_host(
    workdir: Workdir, newest: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both listen on the host's address, each on a port of its own."""
    with network() as hosts, by_ssh(hosts, monkeypatch):
        teiten = TwoNodes(Teiten.prepared(workdir).workdir, space=hosts.home)
        major = newest.version.major
        places = ("--db-host", "db", "--client-host", "client")
        folders = [
            f"hosts.{one}_workdir={hosts.workdir('work-' + one)}" for one in ("db", "client")
        ]
        changes = [*folders, "hosts.db_port=5471", "scale=1", "warmup=0s", "disturbed_share=100%"]
        words = [word for change in changes for word in ("--set", change)]
        short = ("--script", teiten.script("reads"), "--duration", "1s", "--blocks", "2")
        result = teiten.run(
            "ab",
            major,
            major,
            "--guc-b",
            "work_mem=8MB",
            *short,
            "--profile",
            "quick",
            *places,
            *words,
        )
        assert result.returncode == 0, result.stderr
        for trial in teiten.trials():
            assert trial.outcome is Outcome.COUNTED, trial.problems
            assert "port=5471" in trial.facts["command"]
            assert set(trial.facts["nodes"]) == {"1", "2"}
            assert "node_2_server_cpu_share" in trial.metrics
        assert not hosts.left(("postgres", "pgbench"))
        assert not list(hosts.workdir("work-db").glob("clusters/*"))
