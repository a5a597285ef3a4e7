"""Servers and pgbench on other hosts: real sshd, network namespaces, an agent and nothing else."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from teiten.errors import MachineError
from teiten.execute.sites.remote.link import Link
from teiten.execute.sites.remote.ssh import SshConnection
from teiten.host.facts.native_part import why_no_pairs
from teiten.host.system.paths import Workdir
from teiten.kinds.queries.plan_numbers import unpacked
from teiten.model.installation import Installation
from teiten.model.trial import Outcome, Trial
from tests.fixtures.campaigns import (
    PATIENCE,
    SCRIPTS,
    Teiten,
    kill,
    rests_of,
    step_of,
    with_own_installations,
)
from tests.fixtures.forked import Started, start
from tests.fixtures.hosts import Network, by_ssh, loopback, network
from tests.fixtures.servers import left_processes, server_with

Find = Callable[[str], Installation]
STUDY = """
[study]
name = "elsewhere"
title = "Elsewhere"
question = "Does it work elsewhere?"
contrast = "guc:work_mem"
conclusive = false

[factors]
server = ["{major}"]
clients = [2]
"guc:work_mem" = ["4MB", "8MB"]

[[workloads]]
name = "tpcb-like"
title = "TPC-B like"
script = "paced.sql"
scale = 1
changes_data = true
invariants = ["tpcb-balances"]

[[workloads]]
name = "select-only"
title = "Reads"
script = "reads.sql"
scale = 1
changes_data = false

[settings]
shared_buffers = "64MB"

[measure]
duration = "2s"
warmup = "0s"
settle = "0s"
blocks = 1
disturbed_share = "100%"

[hosts]
db = "db"
{client}
db_workdir = "{db_workdir}"
client_workdir = "{client_workdir}"
"""


@dataclass
class TeitenAtHome(Teiten):
    """The program in the namespace from which the hosts are reached."""

    space: str

    def start(self, *arguments: str | Path) -> Started:
        words = ["--workdir", str(self.workdir.root), *map(str, arguments)]
        return start(words, drawn=self.drawn, space=self.space)


@pytest.fixture(scope="module")
def host() -> Iterator[Network]:
    with loopback() as found:
        yield found


AtHome = tuple[TeitenAtHome, Network, str]


@pytest.fixture
def at_home(
    workdir: Workdir, installation: Find, monkeypatch: pytest.MonkeyPatch
) -> Iterator[AtHome]:
    """The program at home, two hosts in a network, and a major version that it has."""
    major = installation("18").version.major
    plain = with_own_installations(workdir, major)
    with network() as hosts, by_ssh(hosts, monkeypatch):
        yield TeitenAtHome(plain.workdir, hosts.home), hosts, major


def write_study(teiten: Teiten, hosts: Network, major: str, client: str) -> Path:
    path = teiten.workdir.root / "elsewhere.toml"
    text = STUDY.format(
        major=major,
        client=f'client = "{client}"' if client else "",
        db_workdir=hosts.workdir("work-db"),
        client_workdir=hosts.workdir("work-client"),
    )
    path.write_text(text, encoding="utf-8")
    for name in SCRIPTS:
        teiten.script(name)
    return path


def postmaster_in(hosts: Network, space: str) -> psutil.Process:
    """The first process of the one server on a host."""
    (found,) = (
        process
        for process in hosts.processes(space)
        if process.name() == "postgres" and "-D" in process.cmdline()
    )
    return found


def wait_until_nothing_is_left(hosts: Network) -> None:
    deadline = time.monotonic() + PATIENCE
    while hosts.left():
        assert time.monotonic() < deadline, hosts.left()
        time.sleep(0.1)


@pytest.mark.root
def test_a_campaign_survives_a_crash_a_lost_connection_and_a_kill(at_home: AtHome) -> None:
    """A postmaster that is killed is a crash of the server, of which its log says nothing."""
    teiten, hosts, major = at_home
    file = write_study(teiten, hosts, major, "client")
    process = teiten.start("run", file, "--yes", "--set", "duration=3s")
    teiten.wait_for(process, step_of(1, "settle"))
    postmaster_in(hosts, hosts.spaces[0]).kill()
    teiten.wait_for(process, step_of(2, "settle"))
    hosts.cut(hosts.spaces[0])
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, errors
    # the client is reached through db: which of the two is missed first is a matter of chance
    assert re.search("the connection to the host (db|client) is lost", errors), errors
    assert "teiten resume" in errors
    assert "Traceback" not in errors
    wait_until_nothing_is_left(hosts)
    (crashed,) = teiten.trials()
    assert (crashed.number, crashed.outcome) == (1, Outcome.FAILED)
    assert "server-crash" in {problem.code for problem in crashed.problems}

    process = teiten.start("resume")
    teiten.wait_for(process, step_of(3, "settle"))
    agents = hosts.left()
    assert any("postgres" in line for line in agents)
    kill(process)
    wait_until_nothing_is_left(hosts)
    assert not list(hosts.workdir("work-db").glob("clusters/*"))
    assert not list(hosts.workdir("work-client").glob("clusters/*"))

    result = teiten.run("resume", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["complete"]
    wait_until_nothing_is_left(hosts)
    first, *trials = teiten.trials()
    assert first == crashed and {trial.number for trial in trials} == {1, 2, 3, 4}
    for trial in trials:
        assert trial.outcome is Outcome.COUNTED, trial.problems
        assert trial.metrics["transactions"] > 0 and trial.metrics["latency_p99"] > 0
        assert {"server_cpu_share", "client_cpu_user_share"} <= trial.metrics.keys()
        assert f"host={'198.18.77.2'}" in trial.facts["command"]
        assert set(trial.facts["clocks"]) == {"db", "client"}
    report = (teiten.campaign() / "report" / "report.en.html").read_text(encoding="utf-8")
    assert "198.18.77.2" in report
    assert not left_processes([hosts.folder])


@pytest.mark.root
def test_servers_here_listen_on_our_own_address(at_home: AtHome) -> None:
    """The client host is reached through another, and sees that one's address."""
    teiten, hosts, major = at_home
    client = ("--client-host", "client", "--set", f"hosts.client_workdir={hosts.folder}/work")
    words = (f"{major}", f"{major}", "--guc-b", "work_mem=8MB", "--script", "select-only")
    size = ("--set", "scale=1", "--duration", "1s", "--blocks", "2", "--profile", "quick")
    calm = ("--set", "disturbed_share=100%", "--set", "warmup=0s")
    result = teiten.run("ab", *words, *client, *size, *calm, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["pairs"] == 2
    assert all("host=198.18.77.1" in trial.facts["command"] for trial in teiten.trials())
    wait_until_nothing_is_left(hosts)
    wrong = ("--set", "hosts.db_address=198.18.77.2")
    result = teiten.run("ab", *words, *client, *size, *wrong)
    assert result.returncode == 2, result.stderr
    assert "this machine has no address 198.18.77.2" in result.stderr


@pytest.mark.root
@pytest.mark.skipif(why_no_pairs() is not None, reason="the native part is not built: make native")
def test_servers_of_a_host_are_loaded_from_here_in_paired_transactions(at_home: AtHome) -> None:
    teiten, hosts, major = at_home
    there = ("--db-host", "db", "--set", f"hosts.db_workdir={hosts.workdir('work-db')}")
    script = teiten.script("reads")
    words = (f"{major}", f"{major}", "--guc-b", "work_mem=8MB", "--script", script)
    size = ("--set", "scale=1", "--duration", "1s", "--blocks", "2", "--profile", "quick")
    calm = ("--set", "disturbed_share=100%", "--set", "warmup=0s", "--way", "pairs")
    rest = ("--set", "settle=1s")
    result = teiten.run("ab", *words, *there, *size, *calm, *rest, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["way"] == "pairs"
    assert rests_of(teiten) == [0.0, 1.0] * 2
    trials = teiten.trials()
    assert [trial.outcome for trial in trials] == [Outcome.COUNTED] * 4
    for trial in trials:
        assert trial.facts["way"] == "pairs" and not trial.facts["pinned_pairs"]
        assert trial.metrics["tps"] > 0 and "server log" in dict(trial.evidence)
    assert {trial.facts["settings"].get("work_mem") for trial in trials} > {"8192 kB"}
    wait_until_nothing_is_left(hosts)
    elsewhere = ("--client-host", "client", "--set", f"hosts.client_workdir={hosts.folder}/work")
    result = teiten.run("ab", *words, *there, *elsewhere, *size, *calm)
    assert result.returncode == 2 and "the generator of pairs runs on this machine" in result.stderr


QUERIES = """
[[workloads]]
name = "mine"
title = "Mine"
queries = "mine"
changes_data = false
[workloads.data]
script = "tables.sql"
"""
STATUS = """
[[workloads]]
name = "status"
title = "A program"
kind = "procedure"
changes_data = true
[workloads.data]
script = "tables.sql"
[[workloads.methods]]
name = "program"
title = "A program that root may not run"
steps = [{ name = "status", program = "pg_ctl", arguments = ["status", "-D", "{data}"] }]
"""
TABLES = "CREATE TABLE t AS SELECT g % 10 AS kind FROM generate_series(1, 20000) g;"


def write_study_of_three_kinds(teiten: Teiten, hosts: Network, major: str) -> Path:
    """Its first workload becomes queries, and a procedure follows."""
    path = write_study(teiten, hosts, major, "db")
    text = path.read_text(encoding="utf-8")
    begin = text.index("[[workloads]]")
    end = text.index("[[workloads]]", begin + 1)
    text = text[:begin] + QUERIES + text[end:].replace("[settings]", f"{STATUS}[settings]")
    path.write_text(text, encoding="utf-8")
    (path.parent / "mine").mkdir()
    (path.parent / "mine" / "count.sql").write_text(
        "SELECT kind, count(*) FROM t GROUP BY kind", encoding="utf-8"
    )
    (path.parent / "tables.sql").write_text(TABLES, encoding="utf-8")
    return path


def test_every_kind_on_one_host_for_both_as_a_plain_connection(
    workdir: Workdir, installation: Find, host: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Server and load on one host: by its private socket, no port is opened. Queries are timed
    there as on this machine; a program runs as the servers' user, and what it writes is kept here.
    """
    major = installation("18").version.major
    teiten = with_own_installations(workdir, major)
    path = write_study_of_three_kinds(teiten, host, major)
    with by_ssh(host, monkeypatch):
        result = teiten.run("run", path, "--yes", "--set", "duration=1s")
        assert result.returncode == 0, result.stderr
        again = teiten.run(
            "clean", "--host", "db", "--host-workdir", host.workdir("work-db"), "--yes"
        )
        assert again.returncode == 0, again.stderr
        assert not list(host.workdir("work-db").glob("templates/*"))
        assert not list(host.workdir("work-db").glob("installations/*"))
    trials: dict[str, list[Trial]] = {}
    for planned, trial in zip(teiten.plan().trials, teiten.trials(), strict=True):
        assert trial.outcome is Outcome.COUNTED, trial.problems
        assert "server log" in dict(trial.evidence)
        trials.setdefault(planned.cell.workload, []).append(trial)
    assert {name: len(found) for name, found in trials.items()} == {
        "select-only": 2, "mine": 2, "status": 2
    }  # fmt: skip
    assert all("host=/" in trial.facts["command"] for trial in trials["select-only"])
    assert {trial.facts["rows"] for trial in trials["mine"]} == {10}
    assert len({trial.facts["checksum"] for trial in trials["mine"]}) == 1
    for trial in trials["mine"]:
        assert trial.metrics["query_seconds"] > trial.facts["round_trip"] > 0
        explained = unpacked(trial.facts["plan"])
        assert explained is not None and explained.analysed
    for trial in trials["status"]:
        assert trial.metrics["program_cpu_seconds"] > 0 <= trial.metrics["server_cpu_seconds"]
        kept = {Path(name).name: teiten.campaign() / name for _, name in trial.evidence}
        assert "server is running" in kept["pg_ctl-1.out"].read_text(encoding="utf-8")


def test_servers_of_a_host_take_turns_and_stay_up_for_two_pairs(
    workdir: Workdir, installation: Find, host: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    major = installation("18").version.major
    teiten = with_own_installations(workdir, major)
    there = ("--db-host", "db", "--client-host", "db")
    words = (f"{major}", f"{major}", "--guc-b", "work_mem=8MB", "--script", teiten.script("reads"))
    changes = (
        *(f"hosts.db_workdir={host.workdir('work-db')}", "scale=1", "warmup=0s", "settle=0s"),
        *("changes_data=no", "slices=2", "restart_every=2", "disturbed_share=100%"),
    )
    sets = [word for change in changes for word in ("--set", change)]
    size = ("--duration", "2s", "--blocks", "4", "--clients", "1", "--seed", "5")
    with by_ssh(host, monkeypatch):
        result = teiten.run("ab", *words, *there, *sets, *size, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["pairs"] == 2, "two pairs share a start and count as one"
    trials = teiten.trials()
    assert [trial.outcome for trial in trials] == [Outcome.COUNTED] * 8
    started = [
        event.trial
        for event in teiten.events()
        if event.kind == "step"
        and event.detail["step"] == "start"
        and "running" not in event.detail
    ]
    assert sorted(filter(None, started)) == [1, 2, 5, 6]
    for trial in trials:
        assert {"version", "settings", "round_trip", "clocks"} <= trial.facts.keys()
        assert "server log" in dict(trial.evidence)
    assert not list(host.workdir("work-db").glob("clusters/*"))


def test_nodes_of_one_database_on_a_host(
    workdir: Workdir, host: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They reach one another by the host's own sockets: no port is opened."""
    server = server_with("postgres_fdw")
    if server is None or not server.managed:
        pytest.skip("no server that can be copied has postgres_fdw")
    major = server.version.major
    teiten = with_own_installations(workdir, major)
    changes = (
        *("workloads=tpcb-like", "nodes=0,2", "contrast=nodes", "guc:work_mem=4MB"),
        *("duration=1s", "pgbench_options=--max-tries=1000"),
    )
    words = [word for change in changes for word in ("--set", change)]
    with by_ssh(host, monkeypatch):
        result = teiten.run("run", write_study(teiten, host, major, "db"), "--yes", *words)
    assert result.returncode == 0, result.stderr
    trials = teiten.trials()
    assert [trial.outcome for trial in trials] == [Outcome.COUNTED] * 2
    (spread,) = (trial for trial in trials if "nodes" in trial.facts)
    assert min(spread.metrics[f"node_{node}_commits"] for node in (2, 3)) > 0
    assert all("host=/" in trial.facts["command"] for trial in trials)


def test_each_node_of_one_database_on_a_host_of_its_own(
    workdir: Workdir, host: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second host's server lets the coordinator in alone, by a password that is in no statement
    and no file of the campaign."""
    server = server_with("postgres_fdw")
    if server is None or not server.managed:
        pytest.skip("no server that can be copied has postgres_fdw")
    teiten = with_own_installations(workdir, server.version.major)
    file = write_study(teiten, host, server.version.major, "db")
    folders = f"{host.workdir('work-db')},{host.workdir('work-other')}"
    changes = (
        *("workloads=tpcb-like", "nodes=0,2", "contrast=nodes", "guc:work_mem=4MB"),
        *("duration=1s", "pgbench_options=--max-tries=1000", f"hosts.db_workdir={folders}"),
        "hosts.db_address=127.0.0.1,127.0.0.2",
    )
    words = [word for change in changes for word in ("--set", change)]
    words += ["--db-host", "db", "--db-host", "other", "--guc", "log_statement=all"]
    with by_ssh(host, monkeypatch):
        result = teiten.run("run", file, "--yes", *words)
    assert result.returncode == 0, result.stderr
    trials = teiten.trials()
    assert [trial.outcome for trial in trials] == [Outcome.COUNTED] * 2
    (spread,) = (trial for trial in trials if "nodes" in trial.facts)
    assert min(spread.metrics[f"node_{node}_commits"] for node in (2, 3)) > 0
    assert {"cpu_user_share", "node_3_cpu_user_share"} <= spread.metrics.keys()
    assert "node_2_cpu_user_share" not in spread.metrics  # it is on the coordinator's host
    assert set(spread.facts["clocks"]) == {"db", "db-2"}
    for name in ("work-db", "work-other"):
        assert not list(host.workdir(name).glob("clusters/*"))
    kept = {Path(name).name: teiten.campaign() / name for _, name in spread.evidence}
    listening = {
        name: re.findall(r"^listen_addresses = '(.*)'", path.read_text(encoding="utf-8"), re.M)
        for name, path in kept.items()
        if name.endswith(".conf")
    }
    alone = {"postgresql.conf": [""], "node-2-postgresql.conf": [""]}
    assert listening == {**alone, "node-3-postgresql.conf": ["127.0.0.2"]}
    said = kept["server.log"].read_text(encoding="utf-8")
    mapped = [line for line in said.splitlines() if "USER MAPPING" in line]
    assert any("teiten_nodes" in line for line in mapped)
    assert "password" not in " ".join(mapped)
    assert "PASSWORD 'SCRAM-SHA-256$" in kept["node-3-server.log"].read_text(encoding="utf-8")


NODES = ("nodes=0,2", "contrast=nodes", "guc:work_mem=4MB")
APART = ("hosts.db_workdir=/nowhere/a,/nowhere/b",)


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        (("hosts.db=closed",), "the host closed cannot be reached", "ssh closed true"),
        (("hosts.db=nowhere.invalid",), "nowhere.invalid cannot be reached", "ssh nowhere"),
        (("hosts.python=python-none",), "there is no python-none on the host db", "hosts.python"),
        (("hosts.client=-oProxyCommand=x",), "--set hosts.client", "user@host"),
        (("flame_graph=yes",), "flame_graph: not with servers or load generators on", "leave"),
        (("hosts.client=twin",), "ssh reached db by 127.0.0.1", "hosts.db_address"),
        (("hosts.db_port=80",), "--set hosts.db_port", ""),
        ((*NODES, "hosts.db=db,twin"), "db and twin are one machine with one folder", "--db-host"),
        ((*NODES, *APART, "hosts.db=db,closed"), "the host closed cannot be reached", "ssh closed"),
        ((*NODES, *APART, "hosts.db=db,other"), "of other is not known: ssh", "hosts.db_address"),
        (
            (*NODES, *APART, "hosts.db=db,other", "hosts.db_address=127.0.0.1,192.0.2.1"),
            "other has no address 192.0.2.1",
            "hosts.db_address",
        ),
        (("servers.x=db:/nowhere", "server=x"), "no PostgreSQL server in /nowhere", "db:/usr"),
    ],
)
def test_bad_hosts_are_told_with_a_hint(
    teiten: Teiten,
    host: Network,
    installation_any: Installation,
    monkeypatch: pytest.MonkeyPatch,
    changes: tuple[str, ...],
    message: str,
    hint: str,
) -> None:
    file = write_study(teiten, host, installation_any.version.major, "db")
    words = [word for change in changes for word in ("--set", change)]
    with by_ssh(host, monkeypatch):
        result = teiten.run("plan", file, "--yes", *words)
    assert result.returncode in (2, 3), result.stdout
    assert message in result.stderr and hint in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("folder", "message"),
    [("/proc/teiten", "0 B are free"), ("/etc/passwd/teiten", "/etc/passwd/teiten: Not a")],
)
def test_a_host_where_nothing_can_be_written(
    teiten: Teiten,
    host: Network,
    installation_any: Installation,
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
    message: str,
) -> None:
    file = write_study(teiten, host, installation_any.version.major, "db")
    with by_ssh(host, monkeypatch):
        result = teiten.run("run", file, "--yes", "--set", f"hosts.db_workdir={folder}")
    assert result.returncode == 3, result.stderr
    assert "host db: " in result.stderr and "hosts.db_workdir" in result.stderr
    assert message in result.stderr and "Traceback" not in result.stderr
    assert not list(teiten.workdir.campaigns.iterdir())


def test_a_python_that_is_too_old_is_told(host: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    with by_ssh(host, monkeypatch):
        connection = SshConnection("db", sys.executable)
        with pytest.raises(
            MachineError, match=r"the host db has Python 3\.\d+; Teiten needs 99\.0"
        ):
            Link(connection, oldest=(99, 0))
