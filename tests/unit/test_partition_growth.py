"""How times grow with partitions: slopes, words and knees of invented blocks; and lock tables that
are too small for them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from pydantic import ValidationError

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.verdict import Estimate
from teiten.errors import UsageError
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.execute.probes.backend import CPU_SHARE, BackendWatch, Usage, memory_of
from teiten.kinds.procedure.analyse import kind_of, knee_of, slope_of
from teiten.kinds.procedure.model import StepDo, procedure_of
from teiten.kinds.procedure.present.growth import MOST_LISTED, growth_answer
from teiten.kinds.procedure.results import GrowthKind, GrowthUnit, procedures_found
from teiten.model.plan import Plan
from teiten.model.study import Layout
from teiten.model.text import Language
from teiten.plan.sites.local import LocalPlan
from teiten.report.blocks import Items, Statement, of_kind
from teiten.report.effects import percent
from teiten.report.render.markdown import markdown_text
from teiten.report.tables import Table
from teiten.report.texts import texts
from teiten.report.view.kit import Kit
from teiten.report.view.report import view
from teiten.study.load import load_study
from teiten.study.tables import LayoutTable
from tests.fixtures.invented_partitions import (
    EACH,
    FIXED,
    insert_plan,
    of_partitions,
    partitions_plan,
)
from tests.fixtures.planned import expanded
from tests.fixtures.shown import whole
from tests.reader.document import plain


def test_a_line_is_found_again() -> None:
    curve = {one: FIXED + EACH * one for one in (1, 12, 100, 500)}
    assert slope_of(curve) == pytest.approx(EACH)
    knee = knee_of({1: 1.0, 10: 1.0, 100: 4.0})
    assert knee == pytest.approx(math.sqrt(10 * 100)), "half way up, both as logarithms"
    assert knee_of({1: 1.0, 10: 1.5, 100: 1.9}) is None


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (1.0, 2.0, GrowthKind.GROWS),
        (-2.0, -1.0, GrowthKind.FALLS),
        (-0.01, 0.02, GrowthKind.FLAT),
        (0.01, 0.02, GrowthKind.FLAT),
        (-1.0, 2.0, GrowthKind.UNDECIDED),
    ],
)
def test_the_word_is_that_of_the_interval(low: float, high: float, kind: GrowthKind) -> None:
    assert kind_of(Estimate((low + high) / 2, low, high, 3), 1.0, 0.05) is kind
    assert kind_of(Estimate(1.0, None, None, 1), 1.0, 0.05) is GrowthKind.UNDECIDED


@pytest.fixture(scope="module")
def plan() -> Plan:
    return partitions_plan()


def test_growth_is_told_with_interval_word_and_knee(plan: Plan) -> None:
    analysis = procedures_found(of_partitions(plan))
    assert analysis.confidence == pytest.approx(1 - 0.05 / len(analysis.growth))
    found = {one.method: one for one in analysis.growth}
    grown, flat = found["plan-all"], found["plan-pruned"]
    assert grown.unit is GrowthUnit.EXECUTION
    assert (grown.kind, flat.kind) == (GrowthKind.GROWS, GrowthKind.FLAT)
    assert grown.slope.low is not None and grown.slope.high is not None
    assert grown.slope.low < EACH < grown.slope.high
    assert [point.partitions for point in grown.points] == [1, 12, 100, 500, 2000, 10000]
    knee = grown.doubled
    assert knee is not None and knee.low is not None and knee.high is not None
    assert 12 < knee.low < knee.mean < knee.high < 100
    assert flat.doubled is None


OPEN = {"en": " (", "ja": "（"}
TITLES: dict[str, dict[Language, str]] = {
    "trigger-static": {"en": "static trigger in PL/pgSQL", "ja": "PL/pgSQLの静的トリガ"},
    "declarative": {"en": "declarative partitions", "ja": "宣言的パーティション"},
}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_growth_is_said_where_it_may_be(language: Language) -> None:
    """In words where the study supports a conclusion, with the numbers alone where it does not; a
    method without partitions has no growth."""
    whole = view(of_partitions(insert_plan()), language)
    text = markdown_text(whole, "0.1.0")
    words = texts(language)
    unit, delta, again = words("growth.unit.row"), percent(words, 0.05, 0), words("step.again")
    for word, method in (("grows", "trigger-static"), ("flat", "declarative")):
        said = words(f"growth.sentence.{word}", unit=unit, delta=delta, listed="|")
        assert said.split("|")[0] in text
        assert plain(f"{TITLES[method][language]}{OPEN[language]}{again}") in plain(text)
        assert f"{method} (again)" not in plain(text), "a name of the study file"
    assert "one table (again)" not in plain(text) and f"単表({again})" not in plain(text)
    first, *_ = view(of_partitions(partitions_plan()), language).sections
    answered = [item for block in of_kind(first.blocks, Items) for item in block.items]
    unit = words("growth.unit.execution")
    said = words("growth.sentence.grows", unit=unit, delta=delta, listed="|").split("|")[0]
    assert any(item.startswith(said) and plain(f"({again})") in plain(item) for item in answered)
    quick = markdown_text(view(of_partitions(partitions_plan("quick")), language), "0.1.0")
    assert words("growth.word.no-conclusion") in quick
    assert words("table.growth.fast-path") in quick and words("table.growth.memory") in quick
    assert f"| {words('growth.word.grows')} |" not in quick
    rows = quick.count(f"| {words('growth.word.no-conclusion')} |")
    said = words("growth.many", methods="|", count=rows, of=rows).split("|")[1]
    assert (said in quick) == (rows > MOST_LISTED), "a long list is left to the table"


@pytest.mark.parametrize(
    ("language", "phrase"),
    [
        ("en", "the intervals of all slopes hold together"),
        ("ja", "傾きの区間はすべて同時に成り立つ"),
    ],
)
def test_the_intervals_that_share_alpha_are_named(
    plan: Plan, language: Language, phrase: str
) -> None:
    """A knee has no part of it: slopes and knees do not hold together."""
    answer = growth_answer(Kit(of_partitions(plan), language))
    assert answer is not None
    (table,) = of_kind(answer.blocks, Table)
    assert phrase in table.note


def test_the_answer_names_the_step_that_takes_most_of_the_time() -> None:
    """Of the two methods that differ most; of a method with one step there is nothing to say."""
    page = view(_with_last_step(of_partitions(insert_plan())), "en")
    first, *_ = page.sections
    (statement,) = of_kind(first.blocks, Statement)
    (point,) = statement.points
    assert "trigger" in statement.text and statement.kind == "slower"
    assert point.startswith("last takes 75\u00a0% of the time of “")
    assert "(again 25 %, last 75 %)" in plain(markdown_text(page, "0.1.0")), "beside its times"


def test_a_step_has_one_share_of_a_method_wherever_it_is_told() -> None:
    """That of the medians, which one slow trial does not change."""
    page = view(_with_last_step(of_partitions(insert_plan()), slow_block=1), "en")
    (statement,) = whole(page).statements
    assert statement.points[0].startswith("last takes 75\u00a0% of the time")
    (steps,) = (table for table in whole(page).tables if table.name.endswith("-steps"))
    shares = {row[4].text for row in steps.rows if row[2].text == "last"}
    assert shares == {"75\u00a0%"}


def _with_last_step(analysis: CampaignAnalysis, slow_block: int = 0) -> CampaignAnalysis:
    """With one step more of the static trigger, which takes three times as long as the first, and
    far longer in one block."""
    trials = []
    for trial in analysis.trials:
        steps = trial.facts["steps"]
        if dict(trial.levels)["method"] == "trigger-static":
            seconds = steps[0]["seconds"] * (300 if trial.block == slow_block else 3)
            steps = [*steps, {**steps[0], "name": "last", "seconds": seconds}]
        trials.append(replace(trial, facts={"steps": steps}))
    return replace(analysis, trials=tuple(trials))


def test_more_partitions_than_the_lock_table_has_room_for_are_refused(plan: Plan) -> None:
    trial = next(trial for trial in plan.trials if trial.cell.level("layout") == "partitions-10000")
    LocalPlan().check_trial(trial)
    small = replace(trial, settings=(("max_connections", "100"),))
    with pytest.raises(UsageError, match="10000 partitions with 3 indexes each locks 40000") as one:
        LocalPlan().check_trial(small)
    assert "max_locks_per_transaction=400," in one.value.hint
    enough = replace(small, settings=(*small.settings, ("max_locks_per_transaction", "400")))
    LocalPlan().check_trial(enough)


def test_the_layout_that_needs_most_locks_is_told() -> None:
    changes = ["blocks=2", "workloads=query", "settings.max_connections=100"]
    study = load_study("partition-count", overrides=changes)
    with pytest.raises(UsageError, match=r"layout partitions-10000: .* room for 6400"):
        expanded(study, named=template_fingerprint)


def test_a_layout_tells_its_partitions() -> None:
    study = load_study("log-partitions", profile="quick", overrides=["scale=1"])
    layouts = {layout.name: layout for layout in study.workload("insert").layouts}
    assert layouts["days-90"].relations == 180
    assert Layout("plain").relations == 0
    methods = procedure_of(study.workload("insert"))
    assert not methods.method("one-table").partitioned and methods.method("direct").partitioned
    with pytest.raises(ValidationError, match="each of the partitions"):
        LayoutTable.model_validate({"indexes": 1})


def test_steps_plan_count_locks_and_empty_before_they_copy() -> None:
    query = procedure_of(load_study("partition-count").workload("query"))
    step = query.method("plan-all").steps[1]
    assert (step.do, step.times) == (StepDo.PLAN, 5)
    assert all(step.locks for step in query.method("prepared").steps[1:])
    insert = procedure_of(load_study("log-partitions", overrides=["scale=1"]).workload("insert"))
    (frozen,) = insert.method("copy-freeze").steps
    assert frozen.before == "TRUNCATE {partition}" and "FREEZE" in frozen.options
    assert "after TRUNCATE" in insert.method("copy-freeze").text()


def test_a_backend_is_watched() -> None:
    looks = iter([Usage(0.0), Usage(1.0)])
    clock = iter([10.0, 10.5, 12.0, 12.0])
    watch = BackendWatch(None, lambda _: next(looks), lambda: next(clock))
    watch.look()
    watch.look()
    (series,) = watch.series
    assert list(series.columns[CPU_SHARE]) == [1.0 / 0.5] and list(series.seconds) == [0.5]
    with BackendWatch(None) as nobody:
        pass
    assert nobody.series == () and memory_of(None) is None
