"""What is found of a workload of queries, and how the report says it."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest

from teiten.analysis.model.explain import WorkerRule
from teiten.analysis.model.findings import CampaignAnalysis, VerdictKind
from teiten.analysis.model.verdict import Interval
from teiten.cli.campaign.decision import ending_lines
from teiten.kinds.queries.model import NAME
from teiten.kinds.queries.present.groups import bound_text
from teiten.kinds.queries.present.sweep import table as sweep_table
from teiten.kinds.queries.present.times import time_bars
from teiten.kinds.queries.results import (
    GroupConclusion,
    QueriesFound,
    QueryResults,
    RatioBound,
    queries_found,
)
from teiten.model.progress import Ending, Standing
from teiten.model.units import Share
from teiten.report.forms import render_html
from teiten.report.tables import Table
from teiten.report.view.design import stopped
from teiten.report.view.kit import Kit
from teiten.report.view.report import view
from tests.fixtures.invented_queries import (
    GROUPS,
    Invented,
    explain,
    gather,
    invented_queries,
    scan,
)
from tests.fixtures.shown import part, section_of, whole
from tests.reader.document import plain

SWEEP = Invented(
    contrast="guc:max_parallel_workers_per_gather",
    levels=("0", "1", "4", "9", "16"),
    seconds={
        ("count", level): seconds
        for level, seconds in {"0": 71.9, "1": 35.7, "4": 15.5, "9": 8.7, "16": 8.7}.items()
    },
    groups=(),
)


@pytest.fixture(scope="module")
def star() -> CampaignAnalysis:
    return invented_queries()


@pytest.fixture(scope="module")
def sweep() -> CampaignAnalysis:
    return invented_queries(SWEEP)


def results(analysis: CampaignAnalysis) -> QueryResults:
    (found,) = queries_found(analysis).workloads
    return found


def groups(analysis: CampaignAnalysis) -> dict[str, GroupConclusion]:
    (contrast,) = results(analysis).contrasts
    return {group.group: group for group in contrast.groups}


def test_a_group_is_the_geometric_mean_of_its_queries(star: CampaignAnalysis) -> None:
    found = groups(star)
    assert list(found) == ["month", "year", "none"]
    month = found["month"].verdict
    assert month.effect is not None and month.kind is VerdictKind.FASTER
    expected = math.sqrt(0.232 / 12.118 * 0.642 / 16.243)
    assert month.effect.ratio == pytest.approx(expected, rel=0.03)
    assert month.effect.confidence == pytest.approx(1 - 0.05 * 2 / 5), "two of five queries"
    none = found["none"].verdict
    assert none.kind is VerdictKind.SLOWER and none.at_least_delta


def test_a_query_over_its_limit_bounds_its_group() -> None:
    slow = Invented(seconds={**Invented().seconds, ("q1.2", "plain"): None})
    found = groups(invented_queries(slow))["month"]
    assert found.over == ("q1.2",)
    assert found.verdict.effect is None and found.verdict.reason == "over-timeout"
    assert found.bound is not None and found.bound.at_most
    least = math.sqrt(600 / 0.232 * 16.243 / 0.642)
    assert 0.9 * least < 1 / found.bound.ratio < least


def test_over_its_limit_on_both_sides_a_query_bounds_nothing() -> None:
    both: dict[tuple[str, str], float | None] = {
        **Invented().seconds,
        ("q1.2", "plain"): None,
        ("q1.2", "monthly"): None,
    }
    analysis = invented_queries(Invented(seconds=both))
    assert groups(analysis)["month"].bound is None
    (contrast,) = results(analysis).contrasts
    assert contrast.bounds == ()


def test_opposite_sides_over_their_limit_bound_nothing() -> None:
    mixed: dict[tuple[str, str], float | None] = {
        **Invented().seconds,
        ("q1.2", "plain"): None,
        ("q3.4", "monthly"): None,
    }
    analysis = invented_queries(Invented(seconds=mixed))
    assert groups(analysis)["month"].bound is None
    (contrast,) = results(analysis).contrasts
    assert {dict(context)["query"]: bound.at_most for context, bound in contrast.bounds} == {
        "q1.2": True,
        "q3.4": False,
    }


def test_extremes_are_decided_queries(star: CampaignAnalysis) -> None:
    (contrast,) = results(star).contrasts
    assert contrast.gain is not None and dict(contrast.gain)["query"] == "q1.2"
    assert contrast.loss is not None and dict(contrast.loss)["query"] == "q4.1"


def test_workers_follow_the_size_and_then_the_partitions(star: CampaignAnalysis) -> None:
    rules = {
        (dict(worker.context)["query"], worker.side): worker.main
        for worker in results(star).workers
        if worker.main
    }
    plain, monthly = rules["q2.1", "plain"], rules["q2.1", "monthly"]
    assert plain.source is not None and plain.source.rule is WorkerRule.TABLE
    assert (plain.expected, plain.planned, plain.follows) == (9, 9, True)
    assert monthly.source is not None and monthly.source.rule is WorkerRule.PARTITIONS
    assert (monthly.expected, monthly.planned, monthly.follows) == (7, 7, True)


def test_blocks_and_partitions_of_the_fact_table(star: CampaignAnalysis) -> None:
    uses = {(dict(table.context)["query"], table.side): table for table in results(star).tables}
    assert uses["q1.2", "plain"].blocks == 7_758_504
    assert uses["q1.2", "monthly"].blocks == 7_758_504 // 84
    partitions = uses["q1.2", "monthly"].partitions
    assert partitions is not None
    assert (partitions.scanned, partitions.pruned, partitions.partitions) == (1, 83, 84)
    assert [(one.workers, one.scans) for one in uses["q2.1", "monthly"].shared] == [
        (1, 42),
        (0, 42),
    ]


def test_a_sweep_has_steps_against_the_first_and_the_one_before(sweep: CampaignAnalysis) -> None:
    (found,) = results(sweep).sweeps
    assert [step.level for step in found.steps] == ["0", "1", "4", "9", "16"]
    kinds = [step.against_previous.kind if step.against_previous else None for step in found.steps]
    assert kinds[0] is None and set(kinds[1:4]) == {VerdictKind.FASTER}
    assert kinds[4] is not VerdictKind.FASTER
    workers = [step.workers.main for step in found.steps if step.workers]
    assert [worker.launched if worker else 0 for worker in workers] == [0, 1, 4, 9, 9]
    assert [worker.expected for worker in workers if worker] == [1, 4, 9, 9]


def smaller_start(query: str, side: str) -> dict[str, Any]:
    """On the new side the plan begins with a small table."""
    if side == "plain":
        return explain(query, side)
    below = scan("supplier", 13_965, workers=3, seconds=1.0)
    return {**explain(query, "plain"), "Plan": gather(3, below)}


def test_a_slower_query_whose_plan_begins_smaller_is_explained() -> None:
    seconds: dict[tuple[str, str], float | None] = {
        ("q3.1", "plain"): 1.0,
        ("q3.1", "indexed"): 3.0,
        ("q1.1", "plain"): 3.0,
        ("q1.1", "indexed"): 1.0,
    }
    like = Invented(levels=("plain", "indexed"), seconds=seconds, groups=(), plans=smaller_start)
    analysis = invented_queries(like)
    (contrast,) = results(analysis).contrasts
    (reason,) = contrast.fewer_workers
    assert dict(reason.context)["query"] == "q3.1"
    assert (reason.old.planned, reason.new.planned) == (9, 3)
    page = render_html(analysis, "en")
    assert "it begins with supplier, 109\u00a0MiB, whose size gives it 3 workers" in page


def test_every_part_is_shown_in_both_languages(star: CampaignAnalysis) -> None:
    english, japanese = view(star, "en"), view(star, "ja")
    (statement,) = part(english, "answer").statements
    assert len(statement.points) == 3
    assert "1 month (q1.2, q3.4)" in statement.points[0]
    assert "times as fast" in statement.points[0]
    found = part(english, "results")
    topics = found.headings[1:]
    assert list(topics) == [
        "By group of queries",
        "Workers",
        "Blocks and partitions",
    ]
    assert part(english, "results-further").headings[-1].startswith("Node statistics of the")
    assert len(part(japanese, "results").headings[1:]) == 3
    names = [chart.name for chart in whole(english).charts]
    assert len(names) == len(set(names))
    tables = [table.name for table in found.tables]
    assert len(tables) == len(set(tables))
    for table in found.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}
    assert "<schema>" not in render_html(star, "en")


def test_a_sweep_is_one_statement_and_one_table(sweep: CampaignAnalysis) -> None:
    shown = view(sweep, "en")
    (statement,) = part(shown, "answer").statements
    assert statement.chart is not None and "fastest with" in statement.points[0]
    found = part(shown, "results")
    assert found.below(found.headings[0]).tables == ()
    (table,) = found.below("Level by level").tables
    assert len(table.rows) == 5
    assert part(view(sweep, "ja"), "answer").statements[0].points


def test_a_side_that_is_a_number_has_the_name_of_its_parameter(sweep: CampaignAnalysis) -> None:
    """Not "16 against 0"."""
    kit, name = Kit(sweep, "en"), "max_parallel_workers_per_gather"
    assert kit.names.titled("16") == f"{name} = 16"
    assert kit.ratio_of(sweep.contrasts[0]) == f"{name} 1 ÷ 0"


def test_a_sweep_whose_first_level_is_the_fastest_says_so() -> None:
    """Not "fastest with 16: takes 1.01 times as long compared with 0"."""
    slower = {"0": 8.0, "1": 12.0, "4": 10.0, "9": 8.08, "16": 9.0}
    like = replace(SWEEP, seconds={("count", level): one for level, one in slower.items()})
    shown = view(invented_queries(like), "en")
    (statement,) = part(shown, "answer").statements
    said = statement.points[0].replace("\u00a0", " ")
    assert "fastest with max_parallel_workers_per_gather = 0; the next is 9: takes" in said
    assert "% more time compared with it (" in said


def test_trials_over_the_limit_are_counted_where_others_were_within_it() -> None:
    """At a level of a sweep, and beside a bar."""
    kit = Kit(invented_queries(replace(SWEEP, over=(("count", "1", 2),))), "en")
    (swept,) = results(kit.analysis).sweeps
    assert "over 600 s in 1 of 4" in plain(cells_of(sweep_table(kit, "x", swept), 1)[1])
    kit = Kit(invented_queries(Invented(over=(("q1.1", "plain", 1), ("q1.1", "plain", 3)))), "en")
    bars = time_bars(kit, "x", results(kit.analysis))
    assert bars is not None
    assert "over 600 s in 2 of 4" in map(plain, bars.rows["text"])
    every = replace(SWEEP, seconds={**SWEEP.seconds, ("count", "1"): None})
    kit = Kit(invented_queries(every), "en")
    (swept,) = results(kit.analysis).sweeps
    assert plain(cells_of(sweep_table(kit, "x", swept), 1)[1]) == "over 600 s"


def test_one_worker_is_no_workers(sweep: CampaignAnalysis) -> None:
    (swept,) = results(sweep).sweeps
    steps = []
    for step in swept.steps:
        if step.workers and step.workers.main and step.workers.main.source:
            source = replace(step.workers.main.source, workers=1)
            gathers = (replace(step.workers.main, source=source),)
            steps.append(replace(step, workers=replace(step.workers, gathers=gathers)))
    note = sweep_table(Kit(sweep, "en"), "x", replace(swept, steps=tuple(steps))).note
    assert "1 worker by the" in plain(note)


def test_an_end_by_verdicts_says_that_queries_over_the_limit_have_none(
    star: CampaignAnalysis,
) -> None:
    slow = invented_queries(Invented(seconds={**Invented().seconds, ("q1.2", "plain"): None}))
    decided = Standing(ending=Ending.DECIDED)
    for analysis, excepts in ((star, False), (slow, True)):
        ended = replace(analysis, standing=decided)
        ((_, japanese),) = stopped(Kit(ended, "ja"))
        (line,) = ending_lines(ended)
        assert ("but those of queries that exceeded the time limit" in line) is excepts
        assert ("制限時間を超えたクエリを除く" in japanese) is excepts
    left_behind = replace(slow, standing=Standing(ending=Ending.LEFT_BEHIND))
    assert "leaves behind" in next(iter(ending_lines(left_behind)))


def test_workers_of_no_known_plan_are_no_zero(sweep: CampaignAnalysis) -> None:
    (swept,) = results(sweep).sweeps
    serial, *parallel = swept.steps
    unknown = replace(swept, steps=(serial, *(replace(step, workers=None) for step in parallel)))
    table = sweep_table(Kit(sweep, "en"), "x", unknown)
    assert cells_of(table, -2) == cells_of(table, -1) == ["0", *("—" for _ in parallel)]
    assert [row[-2].sort for row in table.rows] == [0, *(None for _ in parallel)]


def cells_of(table: Table, column: int) -> list[str]:
    return [row[column].text for row in table.rows]


def test_an_interval_is_told_in_the_terms_of_its_number() -> None:
    """Not an interval of the speed-up (1.03 to 1.06) beside per cent of time."""
    near = {"0": 8.0, "1": 7.9, "4": 7.8, "9": 7.6, "16": 7.7}
    like = replace(SWEEP, seconds={("count", level): one for level, one in near.items()})
    (statement,) = part(view(invented_queries(like), "en"), "answer").statements
    said = statement.points[0].replace("\u00a0", " ")
    found = re.search(
        r"takes (\S+) % less time compared with 0 \(.* interval (\S+) % to (\S+) %\)", said
    )
    assert found is not None, said
    number, low, high = (float(one.replace("\u2212", "-")) for one in found.groups())
    assert low < -number < high


def test_a_group_whose_interval_says_nothing_is_told_in_words(star: CampaignAnalysis) -> None:
    found = results(star)
    (contrast,) = found.contrasts
    first, *others = contrast.groups
    effect = Interval(0.8, 1e-4, 6400.0, Share(0.999))
    verdict = replace(first.verdict, kind=VerdictKind.INCONCLUSIVE, effect=effect, pairs=6)
    groups = (replace(first, verdict=verdict), *others)
    changed = replace(found, contrasts=(replace(contrast, groups=groups),))
    analysis = replace(star, results={NAME: QueriesFound(workloads=(changed,))})
    (statement,) = part(view(analysis, "en"), "answer").statements
    assert "): not decided: 6 pairs of trials are too few" in statement.points[0]
    assert "interval" not in statement.points[0] and "interval" in statement.points[1]


def test_without_groups_the_first_page_counts_the_queries() -> None:
    analysis = invented_queries(Invented(groups=()))
    (statement,) = part(view(analysis, "en"), "answer").statements
    assert statement.points == ("Of 5 queries: 2 slower, 3 faster.",)
    assert "times as fast at q1.2" in statement.text, "which names the greatest gain already"


def test_a_campaign_without_a_counted_trial_is_shown(star: CampaignAnalysis) -> None:
    nothing = replace(star, trials=(), results={})
    assert section_of(view(nothing, "en"), "results") is None


def test_many_contexts_leave_the_groups_to_the_chart() -> None:
    many = tuple(replace(GROUPS[at % 3], name=f"g{at}") for at in range(9))
    page = view(invented_queries(Invented(groups=many)), "en")
    (statement,) = part(page, "answer").statements
    assert statement.points[0].startswith("Of 5 queries")


@pytest.mark.parametrize(
    ("ratio", "at_most", "told"),
    [
        (1500.0, True, ""),
        (1 / 1500, False, ""),
        (1500.0, False, "≤ 0.00100"),
        (1 / 1500, True, "≥ 1,000"),
        (2.0, True, "≥ 0.500"),
    ],
)
def test_a_bound_that_says_nothing_is_left_out(ratio: float, at_most: bool, told: str) -> None:
    """“At most > 1,000 times as fast” was once told."""
    assert bound_text(RatioBound(ratio, at_most)) == told
