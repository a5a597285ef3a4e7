"""Tables by level have columns for what tells their rows apart, and for nothing else."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from teiten.kinds.pgbench.present.groups import percentile_table
from teiten.model.plan import Context
from teiten.report.blocks import Statement, of_kind
from teiten.report.charts.base import Chart
from teiten.report.view.contrasts import forest_rows, judged_by_pairs, verdict_table
from teiten.report.view.kit import Kit
from teiten.report.view.report import view
from tests.fixtures.drawn import versions
from tests.fixtures.invented_analysis import invented_analysis


def kit_with(*more: tuple[str, str]) -> Kit:
    """The invented campaign, every trial and level with further factors."""
    analysis = invented_analysis(seconds=3)
    contrasts = tuple(
        replace(
            contrast,
            levels=tuple(
                replace(level, context=(*more, *level.context)) for level in contrast.levels
            ),
        )
        for contrast in analysis.contrasts
    )
    trials = tuple(replace(trial, levels=(*more, *trial.levels)) for trial in analysis.trials)
    return Kit(replace(analysis, contrasts=contrasts, trials=trials), "en")


def test_a_factor_of_one_level_has_no_column() -> None:
    kit = kit_with(("scale", "10"))
    contrast = kit.analysis.contrasts[0]
    said = judged_by_pairs(kit, contrast, noted=True)
    assert tuple(said.factors) == ("clients",)
    table = verdict_table("t", said, contrast.levels, contrast.overall)
    widths = {len(table.columns), len(table.total or ()), *map(len, table.rows)}
    assert len(widths) == 1
    assert [row[0].text for row in table.rows] == [
        dict(level.context)["clients"] for level in contrast.levels
    ]


def test_what_no_verdict_is_about_has_no_column_for_it() -> None:
    kit = kit_with()
    for contrast in kit.analysis.contrasts:
        said = judged_by_pairs(kit, contrast, noted=False)
        table = verdict_table("t", said, contrast.levels, contrast.overall)
        assert (table.columns[-1].title == "verdict") == contrast.metric.judged
        assert {len(row) for row in (*table.rows, table.total or ())} == {len(table.columns)}


def test_a_forest_of_one_level_has_its_name() -> None:
    kit = kit_with()
    several = kit.analysis.contrasts[0]
    alone = replace(several, levels=several.levels[:1])
    labels = [
        [row.label for row in forest_rows(kit.t, contrast, kit.names.context, "all levels")]
        for contrast in (several, alone)
    ]
    assert labels[0][0] == "all levels" and len(labels[0]) == len(several.levels) + 1
    assert labels[1] == [kit.names.context(alone.levels[0].context)]


def test_percentiles_have_the_same_columns() -> None:
    kit = kit_with(("scale", "10"))
    groups = kit.of_workload(kit.study.workloads[0].name)
    table = percentile_table(kit, "t", groups)
    assert table is not None
    assert [column.title for column in table.columns[:2]] == ["clients", "server"]
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert table.rows[0][0].text == dict(groups[0].context)["clients"]


def test_one_row_is_told_by_what_would_be_on_its_axis() -> None:
    names = kit_with().names
    alone: Context = (("scale", "10"), ("clients", "4"))
    assert names.varied([alone]) == ("clients",)
    assert names.varied([alone, (("scale", "20"), ("clients", "4"))]) == ("scale",)
    assert names.varied([()]) == ()


def test_answers_and_figures_of_several_sides_tell_them_apart() -> None:
    """Five answers about one workload, each against the same old side, need more than its name."""
    shown = view(versions(Random(163)).analysis, "en")
    statements = of_kind(shown.sections[0].blocks, Statement)
    assert len(statements) > len({statement.word for statement in statements})
    assert len({statement.workload for statement in statements}) == len(statements)
    titles = [chart.title for chart in shown.blocks() if isinstance(chart, Chart)]
    assert len(set(titles)) == len(titles)
