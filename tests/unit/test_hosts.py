"""Studies on other hosts: what may be written, what is refused, what plan and report say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from teiten.analysis.across.comparability import comparability
from teiten.analysis.across.fingerprint import conditions_fingerprint
from teiten.cli.parameters import with_keys
from teiten.cli.plan.options import HOSTS
from teiten.errors import MachineError, StudyError, UsageError
from teiten.execute.probes.sampler import client_metrics
from teiten.execute.sites.remote import hosts, packages
from teiten.execute.steps import disturbances
from teiten.host.cautions.machine import cautions
from teiten.model.distribution import CoordinatorRows, Distribution
from teiten.model.hosts import HostAssignment, Hosts, NodeHost, PlannedHost, PlannedNodeHost, Role
from teiten.model.nodes import EmulatedNodes, NodePart
from teiten.model.study import Study
from teiten.model.text import Language
from teiten.model.units import Share
from teiten.plan.dry import actions
from teiten.plan.sites.of import host_rows
from teiten.plan.sites.remote import (
    RemotePlan,
    assignment_cautions,
    check_remote,
    host_cautions,
    nodes_on_hosts,
)
from teiten.report.forms import render_html
from teiten.report.texts import caution_text
from teiten.study.load import load_study
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.synthetic_plan import HOST, make_installation, make_plan
from tests.fixtures.two_machines import campaign, plan_of


def host(role: Role, name: str) -> PlannedHost:
    return PlannedHost(role, name, f"node-{name}", "dba", "postgres", "3.9.2", "/work", HOST)


DB, CLIENT = host(Role.DB, "db1"), host(Role.CLIENT, "load1")
APART = HostAssignment(DB, CLIENT, "10.0.0.1", "10.0.0.2")
TOGETHER = HostAssignment(DB, DB)
BRACKETS = str.maketrans("（）", "()")
NODES = HostAssignment(
    DB,
    DB,
    more=(PlannedNodeHost(host(Role.DB, "db2"), "10.0.0.2", "10.0.0.1"),),
)


def study(*overrides: str) -> Study:
    return load_study("observe", profile="quick", overrides=overrides)


def test_hosts_are_read_from_the_command_line() -> None:
    assert study().hosts is None
    found = study("hosts.db=bob@db1", "hosts.client=load1", "hosts.db_port=5433").hosts
    assert found == Hosts(db="bob@db1", client="load1", db_port=5433)
    assert not found.together
    assert study("hosts.db=a", "hosts.client=a").hosts == Hosts(db="a", client="a")
    alone = study("hosts.db=a").hosts
    assert alone is not None and alone.named(Role.CLIENT) == ""


def test_several_db_hosts_are_those_of_nodes_and_the_load_comes_from_the_first() -> None:
    found = study("hosts.db=a,b", "hosts.db_address=10.0.0.1,10.0.0.2", "hosts.db_workdir=/t").hosts
    second = NodeHost("b", "10.0.0.2", "/t")
    assert found == Hosts("a", "a", "10.0.0.1", db_workdir="/t", more=(second,))
    own = study("hosts.db=a,b", "hosts.db_workdir=/x,/y").hosts
    assert own is not None and own.more[0].workdir == "/y"


def test_the_flag_names_hosts_by_itself_or_by_commas() -> None:
    for given, said in ((("a", "b,c"), ["hosts.db=a,b,c"]), ((), [])):
        flags = {"db_host": given, "client_host": None}
        assert list(with_keys(HOSTS, (), flags)) == said and not flags


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (("hosts.db=a,a",), "names a twice"),
        (("hosts.db=a,b", "hosts.db_address=10.0.0.1"), "db_address: names 1 for 2 db hosts"),
        (("hosts.db=a,b", "hosts.db_workdir=/1,/2,/3"), "db_workdir: names 3 for 2 db hosts"),
    ],
)
def test_hosts_that_do_not_fit_their_nodes_are_refused(
    overrides: tuple[str, ...], said: str
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        study(*overrides)
    assert caught.value.hint


def test_several_hosts_need_nodes_and_the_load_of_the_first() -> None:
    spread = ("hosts.db=a,b", "nodes=0,2", "contrast=nodes")
    check_remote(study(*spread), ())
    for refused, said in (
        (("hosts.db=a,b",), "the study has no factor nodes"),
        ((*spread[:1], "nodes=0,3", "contrast=nodes"), "nodes=3: 2 db hosts are named"),
        ((*spread, "hosts.client=b"), "nodes: the load comes from another host"),
        ((*spread, "engine=citus"), "citus: its servers reach one another as superusers"),
    ):
        with pytest.raises(UsageError, match=f"^.*{said}") as caught:
            check_remote(study(*refused), ())
        assert caught.value.hint
    check_remote(study("hosts.db=a", "hosts.client=a", *spread[1:], "engine=citus"), ())


def test_each_node_that_holds_rows_has_its_host_and_the_coordinator_the_first() -> None:
    trial = make_plan().trials[0]
    spread = replace(trial, distribution=Distribution("postgres_fdw", 3))
    assert [spread.host_of(node) for node in (1, 2, 3, 4)] == [0, 0, 1, 2]
    beside = Distribution("citus", 3, coordinator=CoordinatorRows.NODE)
    among = replace(trial, distribution=beside)
    assert [among.host_of(node) for node in (1, 2, 3)] == [0, 1, 2]
    assert trial.host_of(1) == 0


@pytest.mark.parametrize(
    "override",
    [
        "hosts.db=-oProxyCommand=x",
        "hosts.db=a b",
        "hosts.db_port=80",
        "hosts.db_workdir=relative",
        "hosts.name=x",
        "hosts.python=python3.9",  # names no host
    ],
)
def test_what_is_no_host_is_refused(override: str) -> None:
    with pytest.raises((UsageError, StudyError), match="hosts"):
        study(override)


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        (("rounds=yes",), "rounds"),
        (("flame_graph=yes",), "flame_graph"),
        (("cores=1,2",), "cores"),
        (("directory=/a",), "directory"),
    ],
)
def test_what_only_this_machine_can_have_is_refused_by_name(
    overrides: tuple[str, ...], named: str
) -> None:
    with pytest.raises(UsageError, match=f"^{named}: not with servers"):
        check_remote(study("hosts.db=a", *overrides), ())
    check_remote(study("hosts.db=a"), (("18", make_installation("18.4")),))


def test_queries_are_timed_on_other_hosts_too() -> None:
    check_remote(load_study("queries", overrides=("hosts.db=a",)), ())


def test_a_plan_says_that_a_port_is_opened_and_to_whom() -> None:
    plan = make_plan()
    said = "\n".join(actions(replace(plan, hosts=APART), HOST, folder=Path("/here"), user="me"))
    assert "listening on 10.0.0.1, an open network port" in said and "from 10.0.0.2 alone" in said
    assert "from load1" in said and "on db1, as user postgres" in said and "/here" in said
    said = "\n".join(actions(replace(plan, hosts=TOGETHER), HOST, folder=Path("/here"), user="me"))
    assert "no network port is opened" in said
    assert assignment_cautions(replace(plan, hosts=TOGETHER)) == ()
    (caution,) = assignment_cautions(replace(plan, hosts=APART))
    assert "10.0.0.1" in caution_text(caution, "en")[0]


def test_a_plan_says_on_which_addresses_nodes_listen_and_what_they_share() -> None:
    plan = replace(make_plan(), hosts=NODES)
    said = "\n".join(actions(plan, HOST, folder=Path("/here"), user="me"))
    assert "node 2 is on db2, listening on 10.0.0.2, an open network port" in said
    assert "from 10.0.0.1 alone" in said and "on db1, db2, as user postgres" in said
    assert "those on db1 are reached through private Unix sockets only" in said
    emulating = replace(plan.study, nodes=EmulatedNodes(lacking=((NodePart.MEMORY, "x"),)))
    (asked,) = nodes_on_hosts(replace(plan, study=emulating))
    assert asked.code == "nodes-on-hosts" and not list(nodes_on_hosts(plan))
    trial = replace(plan.trials[0], templates=plan.trials[0].templates * 3)
    spread = replace(trial, distribution=Distribution("postgres_fdw", 2))
    assert RemotePlan(NODES).start(spread).endswith("; those of other hosts listen on 10.0.0.2")
    assert "listen" not in RemotePlan(NODES).start(trial)
    codes = [one.code for one in assignment_cautions(plan)]
    assert codes == ["open-port-nodes", "first-host-shared"]
    one_kernel = [replace(server, boot="b") for server in NODES.servers]
    second = replace(NODES.more[0], host=one_kernel[1])
    same = replace(NODES, db=one_kernel[0], client=one_kernel[0], more=(second,))
    found = assignment_cautions(replace(plan, hosts=same))
    assert [one.code for one in found][1] == "one-machine"
    for language in ("en", "ja"):
        texts = [caution_text(one, language)[0] for one in found]
        assert "(memory)" in caution_text(asked, language)[0].translate(BRACKETS)
        assert "db2: 10.0.0.2" in texts[0] and "db1, db2" in texts[1] and "db1" in texts[2]
    (row, further) = host_rows(plan)
    assert row[0] == "db and client host" and further[0] == "host of node 2"


def test_different_versions_on_hosts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"a": make_installation("16.4"), "b": make_installation("16.5")}
    monkeypatch.setattr(packages, "inspect_there", lambda host, _: versions[host.shown])
    servers = [SimpleNamespace(shown=name) for name in versions]
    pair: Any = SimpleNamespace(db=servers[0], servers=servers)
    with pytest.raises(UsageError, match=r"different versions .*\(a: 16\.4, b: 16\.5\)"):
        packages.inspect_on_each(pair, "db:/bin")
    versions["b"] = versions["a"]
    assert packages.inspect_on_each(pair, "db:/bin") is versions["a"]


def test_a_hosts_cautions_name_it_and_leave_out_what_it_is_not_used_for() -> None:
    busy = replace(HOST, load_average=99.0, disk=replace(HOST.disk, file_system="tmpfs"))
    of_machine = cautions(busy, clients=1)
    of_db = {one.code: one for one in host_cautions(of_machine, DB, apart=True)}
    of_client = {one.code for one in host_cautions(of_machine, CLIENT, apart=True)}
    assert "memory-file-system" in of_db and "memory-file-system" not in of_client
    assert "shared-cores" not in of_db and "other-load" in of_client
    for language in ("en", "ja"):
        what, _ = caution_text(of_db["other-load"], language)
        assert "db1" in what


def test_a_campaign_over_a_network_is_not_compared_with_one_over_a_socket() -> None:
    here = campaign("one")
    apart = replace(campaign("two"), plan=replace(plan_of(), hosts=APART))
    together = replace(campaign("two"), plan=replace(plan_of(), hosts=TOGETHER))
    codes = {one.code: one.weight.value for one in comparability(here, apart)}
    assert codes["way"] == "obstacle" and "client-machine" in codes
    assert "way" not in {one.code for one in comparability(here, together)}
    assert conditions_fingerprint(here.plan) == conditions_fingerprint(together.plan)
    assert conditions_fingerprint(here.plan) != conditions_fingerprint(apart.plan)


def _half_width(page: str) -> str:
    """A page with the brackets of English; Japanese has wide ones, without a space before them, and
    none before the sign of per cent."""
    return page.replace("（", " (").replace("）", ")").replace("\u00a0%", "%")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_report_shows_both_hosts(language: Language) -> None:
    analysis = invented_analysis(seconds=2)
    first, *rest = analysis.trials
    clocks = {"clocks": {"db": [0.0123, 0.001], "client": [-0.2, 0.002]}}
    own = {"client_cpu_idle_share": 0.25, "client_pgbench_cpu_share": 0.5}
    first = replace(first, facts={**first.facts, **clocks}, metrics={**first.metrics, **own})
    shown = replace(analysis, trials=(first, *rest), plan=replace(analysis.plan, hosts=APART))
    page = _half_width(render_html(shown, language))
    for text in (
        "db1 (node-db1)",
        "load1 (node-load1)",
        "10.0.0.1",
        "+12.3\u00a0ms",
        "-200.0\u00a0ms",
        "75%",
    ):
        assert text in page, text
    beside = replace(analysis, plan=replace(analysis.plan, hosts=TOGETHER))
    together = _half_width(render_html(beside, language))
    assert "db1 (node-db1)" in together and "load1" not in together


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_report_shows_the_hosts_of_nodes(language: Language) -> None:
    analysis = invented_analysis(seconds=2)
    first, *rest = analysis.trials
    clocks = {"clocks": {"db": [0.0123, 0.001], "db-2": [-0.2, 0.002]}}
    first = replace(first, facts={**first.facts, **clocks})
    shown = replace(analysis, trials=(first, *rest), plan=replace(analysis.plan, hosts=NODES))
    page = _half_width(render_html(shown, language))
    for text in ("db1 (node-db1)", "db2 (node-db2)", "10.0.0.2", "-200.0\u00a0ms"):
        assert text in page, text


def test_a_busy_host_of_a_node_disturbs_a_trial() -> None:
    busy = {"node_3_cpu_other_share": 0.3, "cpu_other_share": 0.01, "own_cpu_other_share": 0.5}
    assert [one.detail for one in disturbances(busy, Share(0.05))] == ["30.0% > 5.0%"]


def test_a_busy_client_host_disturbs_a_trial() -> None:
    totals = {"cpu_other_share": 0.3, "pgbench_cpu_share": 0.2, "server_cpu_share": 0.0}
    metrics = client_metrics(totals)
    assert metrics == {"client_cpu_other_share": 0.3, "client_pgbench_cpu_share": 0.2}
    assert [one.code for one in disturbances(metrics, Share(0.05))] == ["other-load"]


@pytest.mark.parametrize("answer", ["0.0.0.0/0 trust\n#", "0.0.0.0", "::", "224.0.0.1", None])
def test_a_host_cannot_choose_who_is_let_in(answer: str | None) -> None:
    """Its answers stand in pg_hba.conf and in listen_addresses."""
    host = cast("hosts.Host", SimpleNamespace(shown="evil", call=lambda *_, **__: answer))
    with pytest.raises(MachineError, match="which is no address of a machine"):
        hosts._way_out(host, "10.0.0.8")
