"""The results of a comparison: charts and tables with A, B, ratio, interval, verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from teiten.analysis.model.comparison import UnpairedResult
from teiten.analysis.model.findings import LevelResult, Verdict
from teiten.model.metrics import PRIMARY
from teiten.report.blocks import Block, Gallery, Heading
from teiten.report.charts.base import Chart, Columns, as_columns
from teiten.report.charts.forest import ForestRow, ForestWords, forest
from teiten.report.charts.levels import Dot, LevelAxes, by_level
from teiten.report.comparison.sides import Pair, shown_detectable, shown_interval
from teiten.report.numbers import measured, spread
from teiten.report.sentences import (
    plain_percent,
    ratio_text,
    verdict_word,
)
from teiten.report.tables import Cell, Column, Row, Table, level_value
from teiten.report.view.kit import factor_of

WIDEST = (0.02, 50.0)
"""Machines differ by more than versions do."""
FIELDS = ("workload", "metric", "server_a", "server_b", "level", "side", "value")


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
    t, names = pair.t, pair.kits[0].names
    rows = [_forest_row(pair, t("level.overall"), result.overall, overall=True)]
    if len(result.levels) > 1:
        rows += [
            _forest_row(pair, names.context(one.context), one.verdict, overall=False)
            for one in result.levels
        ]
    drawn = [row for row in rows if row is not None]
    if not drawn:
        return None
    metric = t.either(f"metric.{result.metric.name}", result.metric.name)
    words = ForestWords(
        axis=t("chart.forest.axis", metric=metric, sides=t("contrast.sides", new="B", old="A")),
        title=t("chart.forest.title", workload=pair.title(result), metric=metric),
        note=t("comparison.forest-note", delta=plain_percent(t, result.overall.delta)),
        ratio=t("comparison.ratio"),
        verdict=t("table.verdict"),
    )
    return forest(name, drawn, result.overall.delta, words, WIDEST)


def _forest_row(pair: Pair, label: str, verdict: Verdict, *, overall: bool) -> ForestRow | None:
    effect = verdict.effect
    if effect is None or not math.isfinite(effect.high):
        return None
    text = f"{ratio_text(effect)}  ({shown_interval(pair.t, effect)})"
    word = verdict_word(pair.t, verdict)
    return ForestRow(label, effect.ratio, effect.low, effect.high, text, word, overall)


def _charts(pair: Pair, prefix: str, found: Sequence[UnpairedResult]) -> Iterator[Chart]:
    for one in found:
        if one.metric.name in (*PRIMARY, "latency_mean"):
            chart = _by_level(pair, f"{prefix}-{one.metric.name}-levels", one)
            if chart is not None:
                yield chart


def _by_level(pair: Pair, name: str, result: UnpairedResult) -> Chart | None:
    t, names = pair.t, pair.kits[0].names
    factor = factor_of(result.metric)
    labels = tuple(side.long for side in pair.sides)
    dots, levels, panels = [], list[str](), list[str]()
    for level in result.levels:
        on_axis, panel = names.axis(level.context)
        levels.append(on_axis)
        panels.append(panel)
        for label, values in zip(labels, (level.old_values, level.new_values), strict=True):
            dots += [
                Dot(panel, on_axis, label, value * factor, at, at)
                for at, value in enumerate(values, start=1)
                if math.isfinite(value)
            ]
    if not dots:
        return None
    axis = names.axis_factor(result.levels[0].context)
    axes = LevelAxes(
        x=names.factor(axis) if axis else "",
        y=pair.kits[0].metric_title(result.metric),
        levels=tuple(dict.fromkeys(levels)),
        sides=labels,
        panels=tuple(dict.fromkeys(panels)),
        side=t("comparison.campaign"),
        block=t("table.block"),
        trial=t("table.trial"),
        median=t("word.median"),
    )
    title = t("chart.by-level.title", metric=t.either(f"metric.{result.metric.name}", ""))
    return by_level(name, title, t("chart.by-level.note"), dots, axes)


def result_table(pair: Pair, name: str, result: UnpairedResult, *, noted: bool) -> Table:
    """A, B, ratio, interval, trials and verdict of every level, and over all levels."""
    t, names = pair.t, pair.kits[0].names
    factors = [one for one, _ in result.levels[0].context]
    metric = pair.kits[0].metric_title(result.metric)
    columns = (
        *(Column(names.factor(one), numeric=True) for one in factors),
        *(Column(side.short, numeric=True) for side in pair.sides),
        Column(t("comparison.ratio"), numeric=True),
        Column(t("table.interval"), numeric=True),
        Column(t("comparison.trials"), numeric=True),
        Column(t("table.verdict")),
    )
    rows = tuple(_row(pair, level, factor_of(result.metric)) for level in result.levels)
    lead = [Cell(t("level.overall")), *(Cell("") for _ in factors[1:])] if factors else []
    count = t("comparison.counts", a=result.blocks[0], b=result.blocks[1])
    total = (*lead, Cell(""), Cell(""), *_judged(pair, result.overall, count))
    effect = result.overall.effect
    confidence = plain_percent(t, round(effect.confidence, 12) if effect else 0.95)
    return Table(
        name,
        t("table.contrast.caption", metric=metric, workload=pair.title(result)),
        columns,
        rows,
        total if len(rows) > 1 and factors else None,
        t("comparison.table-note", confidence=confidence) if noted else "",
    )


def _row(pair: Pair, level: LevelResult, factor: float) -> Row:
    def value(number: float | None, values: Sequence[float]) -> Cell:
        if number is None:
            return Cell("—")
        return Cell(measured(number * factor, spread(values) * factor), number)

    count = pair.t("comparison.counts", a=len(level.old_values), b=len(level.new_values))
    return (
        *(Cell(text, level_value(text, at)) for at, (_, text) in enumerate(level.context)),
        value(level.old_median, level.old_values),
        value(level.new_median, level.new_values),
        *_judged(pair, level.verdict, count),
    )


def _judged(pair: Pair, verdict: Verdict, count: str) -> Row:
    t, effect = pair.t, verdict.effect
    hint = shown_detectable(t, verdict)
    return (
        Cell(ratio_text(effect), effect.ratio if effect else None),
        Cell(shown_interval(t, effect), effect.low if effect else None),
        Cell(count, verdict.pairs),
        Cell(f"{verdict_word(t, verdict)}{hint}", kind=f"verdict {verdict.kind.value}"),
    )


def value_columns(pair: Pair) -> Columns:
    """Every counted value that entered the comparison, in base units."""
    rows = []
    for one in pair.comparison.results:
        for level in one.levels:
            where = " ".join(f"{name}={text}" for name, text in level.context)
            for side, values in (("A", level.old_values), ("B", level.new_values)):
                rows += [
                    (one.workload, one.metric.name, one.side.a, one.side.b, where, side, value)
                    for value in values
                ]
    return as_columns(FIELDS, rows)
