"""Every difference of two campaigns, and whether it forbids their comparison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from teiten.analysis.across.comparability import comparability, matched_levels
from teiten.analysis.across.fingerprint import (
    conditions_fingerprint,
    machine_fingerprint,
    study_fingerprint,
)
from teiten.analysis.model.comparison import ComparedLevel, Weight
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.datasets.pgbench.model import pgbench_data
from teiten.kinds.pgbench.model import pgbench_of
from teiten.model.installation import Version
from teiten.model.plan import Plan
from teiten.model.study import QueryMode, Script
from teiten.model.units import Seconds
from tests.fixtures.synthetic_plan import HOST, make_installation, make_plan
from tests.fixtures.two_machines import OTHER, campaign, plan_of

ONE = campaign("one")


def changed(change: Callable[[Plan], Plan]) -> CampaignAnalysis:
    return replace(campaign("two"), plan=change(plan_of()))


def of_read(**values: Any) -> Callable[[Plan], Plan]:
    def change(plan: Plan) -> Plan:
        first, *rest = plan.study.workloads
        study = replace(plan.study, workloads=(replace(first, **values), *rest))
        return replace(plan, study=study)

    return change


def of_load(**values: Any) -> Callable[[Plan], Plan]:
    def change(plan: Plan) -> Plan:
        options = replace(pgbench_of(plan.study.workloads[0]), **values)
        return of_read(options=options)(plan)

    return change


def of_measure(**values: Any) -> Callable[[Plan], Plan]:
    def change(plan: Plan) -> Plan:
        return replace(
            plan, study=replace(plan.study, measure=replace(plan.study.measure, **values))
        )

    return change


def of_settings(plan: Plan) -> Plan:
    trials = tuple(
        replace(trial, settings=(("shared_buffers", "2GB"), ("autovacuum", "off")))
        for trial in plan.trials
    )
    return replace(plan, trials=trials)


def of_nodes(plan: Plan) -> Plan:
    return replace(
        plan, trials=tuple(replace(trial, templates=trial.templates * 2) for trial in plan.trials)
    )


OBSTACLES = [
    ("scale", of_read(data=pgbench_data(100, 100))),
    ("fillfactor", of_read(data=pgbench_data(50, 90))),
    ("script", of_load(script=Script("mine.sql", False, "SELECT 1;"))),
    ("query-mode", of_load(query_mode=QueryMode.PREPARED)),
    ("pgbench-options", of_load(pgbench_options=("--rate=10",))),
    ("reconnect", of_load(reconnect=True)),
    ("idle-connections", of_load(idle_connections=40)),
    ("duration", of_measure(duration=Seconds(30.0))),
    ("warmup", of_measure(warmup=Seconds(0.0))),
    ("prewarm", of_measure(prewarm=False)),
    ("setting", of_settings),
    ("nodes", of_nodes),
    ("study", lambda plan: replace(plan, study=replace(plan.study, name="other"))),
    (
        "pgbench",
        lambda plan: replace(plan, pgbench=replace(plan.pgbench, version=Version(170000))),
    ),
    (
        "server-version",
        lambda plan: replace(
            plan, servers=(plan.servers[0], (plan.servers[1][0], make_installation("16.4")))
        ),
    ),
]


@pytest.mark.parametrize(("code", "change"), OBSTACLES, ids=[code for code, _ in OBSTACLES])
def test_what_was_measured_must_be_the_same(code: str, change: Callable[[Plan], Plan]) -> None:
    found = comparability(ONE, changed(change))
    assert code in {one.code for one in found if one.weight is Weight.OBSTACLE}
    assert found == tuple(sorted(found, key=lambda one: list(Weight).index(one.weight)))


def test_the_same_study_on_another_machine_is_comparable() -> None:
    found = comparability(ONE, campaign("two", facts=OTHER))
    assert {one.weight for one in found} == {Weight.SUBJECT}
    assert {one.code for one in found} == {"distribution", "kernel", "cpu"}


def test_comments_and_spaces_of_a_script_do_not_matter() -> None:
    script = pgbench_of(plan_of().study.workloads[0]).script
    text = "-- a comment\n" + script.text.replace(" ", "  ")
    found = comparability(ONE, changed(of_load(script=replace(script, text=text))))
    assert found == ()


def test_a_campaign_is_not_compared_with_itself() -> None:
    assert {one.code for one in comparability(ONE, ONE)} == {"same-campaign"}


def test_further_levels_and_servers_are_only_a_caution() -> None:
    wider = replace(
        campaign("two"), plan=make_plan(80, servers=("16", "17", "18"), clients=("1", "4", "8"))
    )
    found = {one.code: one for one in comparability(ONE, wider)}
    assert {found["levels"].weight, found["servers"].weight} == {Weight.CAUTION}
    assert found["servers"].b == "16"
    assert found["levels"].b == "clients=8"
    assert all(one.weight is not Weight.OBSTACLE for one in found.values())


def test_a_minor_version_is_a_caution() -> None:
    def change(plan: Plan) -> Plan:
        return replace(
            plan, servers=(plan.servers[0], (plan.servers[1][0], make_installation("18.3")))
        )

    found = {one.code: one.weight for one in comparability(ONE, changed(change))}
    assert found == {"server-version": Weight.CAUTION}


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        (("17", "18"), [("17", "17"), ("18", "18")]),
        (("17", "18.4"), [("17", "17"), ("18", "18.4")]),
        (("17", "16"), [("17", "17"), ("18", "16")]),
        (("13", "14"), []),
    ],
)
def test_servers_are_matched_by_name_then_version_then_what_is_left(
    servers: tuple[str, str], expected: list[tuple[str, str]]
) -> None:
    plan = make_plan(20, servers=servers)
    plan = replace(
        plan,
        servers=tuple(
            (level, make_installation(level if "." in level else f"{level}.4")) for level in servers
        ),
    )
    assert matched_levels(plan_of(), plan) == tuple(ComparedLevel(*one) for one in expected)


def test_fingerprints_know_what_belongs_together() -> None:
    plan, later = plan_of(), plan_of(seed=9, blocks=3)
    assert study_fingerprint(plan.study) == study_fingerprint(later.study)
    assert conditions_fingerprint(plan) == conditions_fingerprint(later)
    longer = of_measure(duration=Seconds(5.0))(plan)
    assert conditions_fingerprint(longer) != conditions_fingerprint(plan)
    assert study_fingerprint(longer.study) == study_fingerprint(plan.study)
    renewed = replace(HOST, kernel="7.0", distribution="Debian GNU/Linux 13")
    assert machine_fingerprint(renewed) == machine_fingerprint(HOST)
    assert machine_fingerprint(OTHER) != machine_fingerprint(HOST)
