"""The results of a comparison: charts and tables with A, B, ratio, interval, verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from teiten.analysis.model.comparison import UnpairedResult
from teiten.analysis.model.findings import LevelResult
from teiten.kinds.contract_present import present_in
from teiten.report.blocks import Block, Gallery, Heading
from teiten.report.charts.base import Chart, Columns, as_columns, coloured
from teiten.report.charts.forest import ForestWords, forest
from teiten.report.charts.levels import Dot, by_level
from teiten.report.comparison.sides import Pair
from teiten.report.effects import confidence_percent, plain_percent
from teiten.report.tables import Table, TableCell
from teiten.report.view.contrasts import (
    Judged,
    by_spread,
    forest_rows,
    verdict_table,
)
from teiten.report.view.kit import factor_of
from teiten.report.view.levels import ChartPlace, level_axes

WIDEST = (0.02, 50.0)
"""Machines differ by more than versions do."""
FIELDS = ("workload", "metric", "factor", "level_a", "level_b", "levels", "side", "value")


def part_results(pair: Pair) -> Iterator[Block]:
    """A part for each workload on each server."""
    groups: dict[str, list[UnpairedResult]] = {}
    for one in pair.comparison.results:
        groups.setdefault(pair.title(one), []).append(one)
    for at, (title, found) in enumerate(groups.items(), start=1):
        yield Heading(3, title, part=True)
        charts = tuple(_charts(pair, f"part-{at}", found))
        if charts:
            yield Gallery(charts)
        for one in found:
            name = f"part-{at}-{one.metric.name}"
            yield result_table(pair, name, one, noted=one is found[0])


def forest_chart(pair: Pair, name: str, result: UnpairedResult) -> Chart | None:
    """The ratio B ÷ A with its interval by level; None where there is none."""
    t = pair.t
    label = pair.kits[0].names.context
    rows = forest_rows(t, result.levels, result.overall, label)
    if not rows:
        return None
    metric = t.either(f"metric.{result.metric.name}", result.metric.name)
    words = ForestWords(
        axis=t("chart.forest.axis", metric=metric, sides=t("contrast.sides", new="B", old="A")),
        title=t("chart.forest.title", workload=pair.title(result), metric=metric),
        note=t("comparison.forest-note", delta=plain_percent(t, result.overall.delta)),
        ratio=t("comparison.ratio"),
        verdict=t("table.verdict"),
        cut=t("chart.band-cut"),
    )
    return forest(name, rows, result.overall.delta, words, WIDEST)


def _charts(pair: Pair, prefix: str, found: Sequence[UnpairedResult]) -> Iterator[Chart]:
    for one in found:
        if one.metric.judged or one.metric.name in present_in(pair.kits[0], one.workload).by_level:
            chart = _by_level(pair, f"{prefix}-{one.metric.name}-levels", one)
            if chart is not None:
                yield chart


def _by_level(pair: Pair, name: str, result: UnpairedResult) -> Chart | None:
    t, kit = pair.t, pair.kits[0]
    factor = factor_of(result.metric)
    labels = tuple(side.long for side in pair.sides)
    dots, places = [], []
    for level in result.levels:
        on_axis, panel = kit.names.axis(level.context)
        places.append(ChartPlace(on_axis, panel, ""))
        for label, values in zip(labels, (level.old_values, level.new_values), strict=True):
            dots += [
                Dot(panel, on_axis, label, value * factor, at, at)
                for at, value in enumerate(values, start=1)
                if math.isfinite(value)
            ]
    if not dots:
        return None
    axis = kit.names.axis_factor(result.levels[0].context)
    y = kit.metric_title(result.metric)
    axes = level_axes(kit, (axis, y, t("comparison.campaign")), places, coloured(labels))
    title = t("chart.by-level.title", metric=t.either(f"metric.{result.metric.name}", ""))
    return by_level(name, title, t("chart.by-level.note"), dots, axes)


def result_table(pair: Pair, name: str, result: UnpairedResult, *, noted: bool) -> Table:
    """A, B, ratio, interval, trials and verdict of every level, and over all levels."""
    t, kit = pair.t, pair.kits[0]
    factors = kit.names.varied([level.context for level in result.levels])
    confidence = confidence_percent(t, 1 - pair.comparison.statement_alpha)
    a, b = pair.sides

    def count(level: LevelResult | None) -> TableCell:
        seen = (len(level.old_values), len(level.new_values)) if level else result.blocks
        verdict = level.verdict if level else result.overall
        return TableCell(t("comparison.counts", a=seen[0], b=seen[1]), verdict.pairs)

    said = Judged(
        t,
        t(
            "table.contrast.caption",
            metric=kit.metric_title(result.metric),
            workload=pair.title(result),
        ),
        factors,
        tuple(kit.names.factor(factor) for factor in factors),
        (a.short, b.short),
        t("comparison.ratio"),
        t("comparison.trials"),
        t("level.overall"),
        t("comparison.table-note", confidence=confidence) if noted else "",
        by_spread(factor_of(result.metric)),
        count,
    )
    return verdict_table(name, said, result.levels, result.overall)


def value_columns(pair: Pair) -> Columns:
    """Every counted value that entered the comparison, in base units. ``level_a`` and ``level_b``
    are of the contrasted ``factor``, ``levels`` those of all others."""
    factor = pair.comparison.a.plan.study.contrast
    rows = []
    for result in pair.comparison.results:
        which = (result.workload, result.metric.name, factor, result.side.a, result.side.b)
        for level in result.levels:
            where = " ".join(f"{name}={text}" for name, text in level.context)
            for side, values in (("A", level.old_values), ("B", level.new_values)):
                rows += [(*which, where, side, value) for value in values]
    return as_columns(FIELDS, rows)
