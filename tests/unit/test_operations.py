"""A study of many workloads: which of them run, and its first screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner

from teiten.analysis.claims.outcomes import assess
from teiten.analysis.model.claims import Reason
from teiten.analysis.model.findings import ContrastResult, VerdictKind
from teiten.analysis.model.verdict import Interval
from teiten.claims.catalogue import claims_of
from teiten.cli.main import teiten
from teiten.errors import UsageError
from teiten.factors.state import OF_BOTH, OF_NEW
from teiten.model.installation import Installation
from teiten.model.units import Share
from teiten.plan.checks import check_connections
from teiten.report.blocks import Code, Text
from teiten.report.charts.base import Chart
from teiten.report.view.kit import Kit
from teiten.report.view.overview import MANY_WORKLOADS, overview
from teiten.study.load import load_study
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.planned import expanded
from tests.fixtures.synthetic_plan import HOST, make_installation

SPEEDS = {
    "queue": 0.9,
    "insert": 1.2,
    "in-list": 1.01,
    "update-zipfian": 0.8,
    "cte": 1.0,
    "json": 1.1,
}
STUDY = """
[[workloads]]
name = "update-zipfian"
script = "operations/update-zipfian.sql"
data = { script = "operations/shop.sql", size = "230MB" }
"""


def many(base: ContrastResult) -> tuple[ContrastResult, ...]:
    return tuple(
        replace(
            base,
            workload=name,
            levels=(),
            overall=replace(
                base.overall,
                kind=VerdictKind.SLOWER if speed < 0.98 else VerdictKind.EQUIVALENT,
                effect=Interval(speed, speed - 0.01, speed + 0.01, Share(0.95)),
            ),
        )
        for name, speed in SPEEDS.items()
    )


def test_the_first_screen_is_one_chart_with_what_got_slower_first() -> None:
    analysis = invented_analysis(seconds=3)
    contrasts = many(analysis.contrasts[0])
    study = replace(analysis.plan.study, source_text=STUDY)
    kit = Kit(replace(analysis, plan=replace(analysis.plan, study=study)), "en")
    said, chart, _, steps = overview(kit, contrasts)
    slower = [name for name in sorted(SPEEDS, key=lambda name: SPEEDS[name]) if SPEEDS[name] < 0.98]
    assert isinstance(said, Text) and f"Slower: {', '.join(slower)}." in said.text
    assert isinstance(chart, Chart) and isinstance(steps, Code)
    labels = [label for label, _, _ in chart.figures]
    assert labels == sorted(SPEEDS, key=lambda name: SPEEDS[name])
    assert steps.text.startswith("teiten bisect --good REL_") and steps.text.count("\n") == 0
    assert (
        "--script operations/update-zipfian.sql --set data.script=operations/shop.sql" in steps.text
    )
    unsaid = replace(contrasts[0], overall=replace(contrasts[0].overall, effect=None))
    said, *_ = overview(kit, (unsaid, *contrasts[1:]))
    assert (
        isinstance(said, Text) and f"without an interval to draw: {unsaid.workload}." in said.text
    )
    assert overview(kit, contrasts[: MANY_WORKLOADS - 1]) == ()


def test_the_next_step_of_a_users_statement_names_his_files() -> None:
    analysis = invented_analysis(seconds=3)
    contrasts = many(analysis.contrasts[0])
    (workload, *_) = analysis.plan.study.workloads
    study = replace(
        analysis.plan.study,
        source_text=STUDY,
        overrides=("script=/home/me/sql", "data.script=/home/me/shop.sql", "keep_texts=false"),
        workloads=tuple(replace(workload, name=name) for name in SPEEDS),
    )
    kit = Kit(replace(analysis, plan=replace(analysis.plan, study=study)), "en")
    *_, steps = overview(kit, contrasts)
    assert isinstance(steps, Code)
    file = f"/home/me/sql/{workload.options.source}"
    assert f"--script {file} --set data.script=/home/me/shop.sql" in steps.text
    assert "operations/" not in steps.text


@pytest.mark.parametrize("study", ["operations"])
def test_tags_select_workloads(study: str) -> None:
    every = load_study(study).workloads
    writes = load_study(study, overrides=("tags=write",)).workloads
    assert {one.name for one in writes} == {one.name for one in every if one.changes_data}
    some = load_study(study, overrides=("tags=planner,mixed",)).workloads
    assert {"skip-scan", "mixed-even"} <= {one.name for one in some} < {one.name for one in every}
    with pytest.raises(UsageError, match=r"no workload has the tag 'wite'\. Did you mean 'write'"):
        load_study(study, overrides=("tags=wite",))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--only", "quue"], r"no workload 'quue'\. Did you mean 'queue'"),
        (["--only", "queue", "--tags", "write"], "--only and --tags both select"),
    ],
)
def test_a_wrong_selection_is_refused(flags: list[str], words: str) -> None:
    command = ["plan", "operations", "--servers", "17,18", *flags]
    with pytest.raises(UsageError, match=words):
        CliRunner().invoke(teiten, command, standalone_mode=False, catch_exceptions=False)


@pytest.mark.parametrize(
    ("study", "promises"), [("maintenance", 5), ("contention", 3), ("uncached", 5)]
)
def test_each_promise_can_be_judged_by_its_study(study: str, promises: int) -> None:
    plan = expanded(load_study(study, servers=("12", "18")))
    outcomes = assess(claims_of(study), plan, HOST, ())
    assert len(outcomes) == promises
    assert {outcome.reason for outcome in outcomes} == {Reason("too-few")}


def test_statistics_are_asked_right_after_the_upgrade(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_programs(version: str) -> Installation:
        return replace(make_installation(version), programs=frozenset({*OF_BOTH, *OF_NEW}))

    monkeypatch.setattr("tests.fixtures.planned.make_installation", with_programs)
    plan = expanded(load_study("just-upgraded", servers=("12", "18")))
    (outcome,) = assess(claims_of("just-upgraded"), plan, HOST, ())
    assert outcome.reason == Reason("too-few")
    old, new = plan.trials[0].template, plan.trials[1].template
    assert {old.origin is None, new.origin is None} == {True, False}


def test_connections_that_end_have_room_beside_those_that_begin() -> None:
    plan = expanded(load_study("operations", overrides=("workloads=connect,point-primary",)))
    needed = {trial.cell.workload: trial.load.most_connections for trial in plan.trials}
    assert needed == {"connect": 2, "point-primary": 1}


def test_idle_connections_are_told_and_have_room() -> None:
    study = load_study("contention", overrides=("workloads=idle-connections",))
    plan = expanded(study)
    assert {trial.load.idle for trial in plan.trials} == {400}
    check_connections(plan)
    narrow = load_study(
        "contention", overrides=("workloads=idle-connections",), gucs=("max_connections=400",)
    )
    with pytest.raises(UsageError, match="with idle_connections=400 needs max_connections of at"):
        check_connections(expanded(narrow))
