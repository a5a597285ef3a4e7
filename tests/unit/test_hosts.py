"""Studies on other hosts: what may be written, what is refused, what plan and report say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.analysis.across.comparability import comparability
from teiten.analysis.across.fingerprint import conditions_fingerprint
from teiten.errors import StudyError, UsageError
from teiten.execute.disturbance import problems
from teiten.execute.sites.remote.sampling import client_metrics
from teiten.host.cautions.machine import cautions
from teiten.model.hosts import Hosts, Placement, PlannedHost, Role
from teiten.model.study import Study
from teiten.model.text import Language
from teiten.model.units import Share
from teiten.plan.describe import actions
from teiten.plan.sites.remote import check_remote, host_cautions, placement_cautions
from teiten.report.campaign import render_html
from teiten.report.texts import caution_text
from teiten.study.load import load_study
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.synthetic_plan import HOST, make_installation, make_plan
from tests.fixtures.two_machines import campaign, plan_of


def host(role: Role, name: str) -> PlannedHost:
    return PlannedHost(role, name, f"node-{name}", "dba", "postgres", "3.9.2", "/work", HOST)


DB, CLIENT = host(Role.DB, "db1"), host(Role.CLIENT, "load1")
APART = Placement(DB, CLIENT, "10.0.0.1", "10.0.0.2")
TOGETHER = Placement(DB, DB)


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
        (("slices=2",), "slices"),
        (("restart_every=2",), "restart_every"),
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
    assert placement_cautions(replace(plan, hosts=TOGETHER)) == ()
    (caution,) = placement_cautions(replace(plan, hosts=APART))
    assert "10.0.0.1" in caution_text(caution, "en")[0]


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


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_report_shows_both_hosts(language: Language) -> None:
    analysis = invented_analysis(seconds=2)
    first, *rest = analysis.trials
    clocks = {"clocks": {"db": [0.0123, 0.001], "client": [-0.2, 0.002]}}
    own = {"client_cpu_idle_share": 0.25, "client_pgbench_cpu_share": 0.5}
    first = replace(first, facts={**first.facts, **clocks}, metrics={**first.metrics, **own})
    shown = replace(analysis, trials=(first, *rest), plan=replace(analysis.plan, hosts=APART))
    page = render_html(shown, language)
    for text in (
        "db1 (node-db1)",
        "load1 (node-load1)",
        "10.0.0.1",
        "+12.3 ms",
        "-200.0 ms",
        "75%",
    ):
        assert text in page, text
    together = render_html(replace(analysis, plan=replace(analysis.plan, hosts=TOGETHER)), language)
    assert "db1 (node-db1)" in together and "load1" not in together


def test_a_busy_client_host_disturbs_a_trial() -> None:
    totals = {"cpu_other_share": 0.3, "pgbench_cpu_share": 0.2, "server_cpu_share": 0.0}
    metrics = client_metrics(totals)
    assert metrics == {"client_cpu_other_share": 0.3, "client_pgbench_cpu_share": 0.2}
    assert [one.code for one in problems(metrics, Share(0.05))] == ["other-load"]
