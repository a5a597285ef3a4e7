"""Nodes that are emulated as machines of their own, on real servers: killed, swept, resumed, and
then driven by hand, one node reading from the other by postgres_fdw."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from teiten.errors import MachineError
from teiten.execute.bench import Bench, ThisMachine
from teiten.execute.client.here import Here
from teiten.execute.load import sampled
from teiten.execute.sites.cluster_site import ClusterSite
from teiten.execute.sites.local.checks import lacks
from teiten.execute.sites.local.clusters import LocalClusters
from teiten.execute.sites.local.node_emulation import TrialLimits
from teiten.execute.sites.local.node_network import NodeNetwork
from teiten.host.system.namespaces import NAMED, path_of_space
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import MEMBERS
from teiten.host.system.users import server_user
from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from teiten.model.nodes import EmulatedNodes, NodeMachine
from teiten.model.trial import Outcome
from teiten.model.units import MIB, Bytes
from tests.fixtures.campaigns import PATIENCE, Teiten, kill, step_of
from tests.fixtures.control_groups import control_groups
from tests.fixtures.nodes import TwoNodes
from tests.fixtures.servers import left_processes
from tests.fixtures.sweeping import swept

MEMORY, RATE = Bytes(200 * MIB), Bytes(64 * MIB)
FLAGS = ("--node-memory", "200MiB", "--node-read", "64MiB/s", "--node-cpus", "1")
OWN = {"own_cpu_share", "own_memory_bytes", "own_page_cache_bytes", "own_sent_bytes"}


@pytest.fixture
def emulating(request: pytest.FixtureRequest, workdir: Workdir) -> Workdir:
    """Skips with the reason where this machine does not permit what is tested."""
    rate = RATE if request.node.get_closest_marker("disk") else None
    found = lacks(EmulatedNodes(MEMORY, 1, rate), workdir.clusters)
    if found:
        pytest.skip("; ".join(f"{part}: {reason}" for part, reason in found))
    try:
        NodeNetwork.make(workdir, 1).remove()
    except MachineError as error:
        pytest.skip(error.message)
    return workdir


@pytest.mark.disk
def test_a_killed_campaign_is_swept_and_goes_on_and_nodes_are_apart(
    emulating: Workdir, installation: Callable[[str], Installation]
) -> None:
    teiten, newest = TwoNodes(Teiten.prepared(emulating).workdir), installation("18")
    study = teiten.study(newest, newest, workload="reads", blocks=1)
    process = teiten.start("run", study, "--set", "conclusive=no", *FLAGS)
    teiten.wait_for(process, step_of(1, "warm-up"))
    left = made_by(process.pid)
    assert len([one for one in left if one.parent == NAMED]) == 3, "two nodes and a bridge"
    kill(process)
    psutil.wait_procs(teiten.processes("postgres"), timeout=PATIENCE)
    assert made_by(process.pid) == left, "nobody was there to remove them"

    result = teiten.run("resume", "--json")
    assert result.returncode == 0, result.stderr
    assert not any(one.exists() for one in left)
    assert list(emulating.clusters.iterdir()) == []
    told_of_each_node(teiten)
    by_hand(teiten)
    assert not left_processes([emulating.root])
    assert list(emulating.clusters.iterdir()) == []


def made_by(pid: int) -> list[Path]:
    """Namespaces and control groups of a Teiten."""
    name = f"teiten-{pid}-*"
    return sorted([*NAMED.glob(name), *control_groups(name)])


def told_of_each_node(teiten: TwoNodes) -> None:
    """In the ledger and the report."""
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        trials = list(ledger.trials())
    assert len(trials) == 2
    for trial in trials:
        assert trial.outcome is Outcome.COUNTED, trial.problems
        nodes = trial.facts["nodes"]
        assert [node["machine"]["address"] for node in nodes.values()] == [
            "198.18.0.1",
            "198.18.0.2",
        ]
        for one in nodes.values():
            assert one["machine"]["memory"] == MEMORY and one["machine"]["read"] == RATE
            assert 0 < one["memory"]["peak"] <= MEMORY + MIB and one["memory"]["oom_kills"] == 0
        assert OWN | {f"node_2_{name}" for name in OWN} <= set(trial.metrics)
        assert {"own", "node-2:own"} <= {one.source for one in trial.series}
    seen = [one.detail for one in teiten.events() if one.kind == "nodes-emulated"]
    assert len(seen) == 2, "at the start, and where it went on"
    for one in seen:
        assert one["nodes"] == 2 and one["counted"] >= one["read"] > 0
    report = teiten.campaign() / "report"
    for language, words in (("en", "Emulated nodes"), ("ja", "模擬ノード")):
        text = (report / f"report.{language}.html").read_text(encoding="utf-8")
        assert words in text and "198.18.0.2" in text


class Nobody:
    """Watches."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


def by_hand(teiten: TwoNodes) -> None:
    workdir = teiten.workdir
    with Ledger.open(teiten.campaign()) as ledger, ExitStack() as opened:
        bench = Bench(ledger.plan, teiten.campaign(), Nobody(), lambda: None, ledger)
        clusters = LocalClusters(
            bench, ThisMachine(workdir, server_user(), ()), Here(), print, print
        )
        opened.callback(clusters.client.close)
        opened.callback(clusters.finish)
        trial = ledger.plan.trials[0]
        site = clusters.site(trial, 9)
        opened.callback(site.abandon)
        bench.evidence_folder(trial, 9).mkdir(parents=True, exist_ok=True)
        site.restore()
        site.caches()
        assert site.limit(None) == {"emulated": 2}
        site.start()
        apart(site, workdir)
        reach(site)
        site.stop(sound=True)


def apart(site: ClusterSite, workdir: Workdir) -> None:
    """Each server is in a namespace and in groups of its own, and we are in none of them."""
    postmasters = {node: psutil.Process(parent_of_backend(site, node)) for node in site.nodes}
    spaces = {Path(f"/proc/{one.pid}/ns/net").readlink() for one in postmasters.values()}
    assert len(spaces | {Path("/proc/self/ns/net").readlink()}) == 3
    noted = sorted(workdir.clusters.glob("*.limit"))
    assert len(noted) == 2
    for note, node in zip(noted, site.nodes, strict=True):
        groups = json.loads(note.read_text(encoding="utf-8"))["groups"]
        for group in groups:
            members = {int(pid) for pid in (Path(group) / MEMBERS).read_text().split()}
            assert postmasters[node].pid in members and os.getpid() not in members
    outside = [one.address for each in psutil.net_if_addrs().values() for one in each]
    assert not [one for one in outside if one.startswith("198.18.0.")]


def parent_of_backend(site: ClusterSite, node: int) -> int:
    with site.connect(node) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row is not None
        return psutil.Process(row[0]).ppid()


def reach(site: ClusterSite) -> None:
    """The first node reads a table of the second by TCP; each is told what it did."""
    _, host, _, port, _, user = site.peer_address(2).options
    assert host == "198.18.0.2" and site.address(2).options[1].startswith("/")
    size = 0

    def work(_: object) -> None:
        nonlocal size
        with site.connect(1) as connection:
            for statement in (
                "CREATE EXTENSION postgres_fdw",
                "CREATE SERVER second FOREIGN DATA WRAPPER postgres_fdw"
                f" OPTIONS (host '{host}', port '{port}', dbname 'bench', fetch_size '10000')",
                f"CREATE USER MAPPING FOR CURRENT_USER SERVER second OPTIONS (user '{user}')",
                "CREATE SCHEMA there",
                "IMPORT FOREIGN SCHEMA public LIMIT TO (pgbench_accounts)"
                " FROM SERVER second INTO there",
            ):
                connection.execute(statement.encode())
            row = connection.execute(
                "SELECT count(DISTINCT filler || aid) FROM there.pgbench_accounts"
            ).fetchone()
            assert row == (100_000,)
            with site.connect(2) as other:
                found = other.execute(
                    "SELECT pg_relation_size('pgbench_accounts'), min(host(client_addr))"
                    " FROM pg_stat_activity WHERE application_name = 'postgres_fdw'"
                ).fetchone()
            assert found is not None and found[1] == "198.18.0.1"
            size = found[0]

    assert site.evict("pgbench_accounts", 2)
    _, found = sampled(site, work)
    first = {name: found.metrics[f"own_{name}"] for name in ("received_bytes", "sent_bytes")}
    second = {
        name.removeprefix("node_2_own_"): value
        for name, value in found.metrics.items()
        if name.startswith("node_2_own_")
    }
    sent = 100_000 * 84  # characters of each row's filler alone
    assert second["sent_bytes"] > sent and first["received_bytes"] > sent
    assert second["received_bytes"] < sent > first["sent_bytes"]
    assert second["disk_read_bytes"] >= size * 0.9, "cold, and charged to the node that read it"
    assert second["page_cache_bytes"] >= size * 0.9


def test_what_is_noted_and_not_ours_is_left_and_half_made_is_removed(
    emulating: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = NodeMachine(network=True, memory=MEMORY)
    with monkeypatch.context() as patch:
        patch.setattr("teiten.execute.sites.local.node_network.configure_space", refuse)
        with pytest.raises(MachineError, match="network cannot be made: no bridge") as caught:
            TrialLimits.emulating(emulating, (machine, machine), emulating.clusters)
    assert "nodes.emulate=no" in caught.value.hint
    assert made_by(os.getpid()) == [] and list(emulating.clusters.iterdir()) == []
    living = NodeNetwork.make(emulating, 1)
    assert swept(emulating) == [] and path_of_space(living.names[0]).exists()
    note = {"pid": 2**30, "process_started": 0.0, "namespaces": ["other", "teiten-x/../other"]}
    (emulating.clusters / "x.network").write_text(json.dumps(note), encoding="utf-8")
    assert swept(emulating) == []
    said = swept(emulating, ending=True)
    assert said == [f"removed the left network namespace {name}" for name in living.names]
    assert not path_of_space(living.names[0]).exists()


def refuse(_name: str, _commands: list[str]) -> None:
    raise OSError("no bridge")
