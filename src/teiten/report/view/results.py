"""Part 3: the results of each workload: charts, then tables with old, new, ratio, interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from teiten.analysis.model.findings import ContrastResult, LevelResult, Verdict
from teiten.analysis.model.query_results import RatioBound
from teiten.model.metrics import (
    BY_NAME,
    LATENCY_MEAN,
    PERCENTILES,
    PRIMARY,
    QUERY_TIME,
    TPS,
    Metric,
)
from teiten.report.blocks import Block, Gallery, Heading, Section, Text
from teiten.report.charts.base import Chart
from teiten.report.charts.levels import Dot, LevelAxes, by_level, logarithmic_ticks
from teiten.report.names import CORES, QUERY, SERVER
from teiten.report.numbers import measured, spread
from teiten.report.sentences import (
    detectable_percent,
    interval_text,
    plain_percent,
    ratio_text,
    verdict_word,
)
from teiten.report.speed import speed_text
from teiten.report.tables import Cell, Column, Row, Table, cells, level_value
from teiten.report.view.chooser import still_series
from teiten.report.view.kit import Group, Kit, factor_of
from teiten.report.view.queries.groups import bound_text, contrast_of
from teiten.report.view.queries.part import charts as query_charts
from teiten.report.view.queries.part import results_of, topics
from teiten.report.view.queries.sweep import sweeps_of
from teiten.report.view.queries.units import MILLISECONDS, TimeUnit, unit_for
from teiten.report.view.scaling import scaling


def results(kit: Kit) -> Section:
    """A part for each workload that was measured."""
    shown: list[Block] = []
    for at, name in enumerate(kit.workloads_measured()):
        description = kit.t.of(kit.study.workload(name).description)
        shown += [Heading(3, kit.names.workload(name), part=True), Text(description)]
        shown += _of_workload(kit, f"workload-{at + 1}", name)
    return Section("results", kit.t("section.results"), tuple(shown))


def _of_workload(kit: Kit, prefix: str, name: str) -> Iterator[Block]:
    groups = kit.of_workload(name)
    queries = results_of(kit, name)
    charts = _charts(kit, prefix, groups)
    if queries is not None:
        charts += query_charts(kit, prefix, queries)
    if charts:
        yield Gallery(charts)
    for at, contrast in enumerate(_contrasts(kit, name)):
        yield contrast_table(kit, f"{prefix}-contrast-{at + 1}", contrast, noted=at == 0)
    percentiles = _percentiles(kit, f"{prefix}-percentiles", groups)
    if percentiles:
        yield percentiles
    if queries is not None:
        yield from topics(kit, prefix, queries)
    yield from scaling(kit, prefix, name)
    series = still_series(kit, f"{prefix}-series", name)
    if series:
        yield series


def _contrasts(kit: Kit, workload: str) -> list[ContrastResult]:
    """Those that get a table of their own: of a sweep none, whose table has all levels."""
    mine = [
        one
        for one in kit.analysis.contrasts
        if one.workload == workload
        and not (one.metric is QUERY_TIME and sweeps_of(kit, workload) is not None)
    ]
    return sorted(mine, key=lambda one: one.metric.name not in PRIMARY)


@dataclass(frozen=True)
class Place:
    """Where a group is drawn in a chart by level."""

    level: str
    panel: str
    side: str


def place_of(kit: Kit, group: Group) -> Place:
    """By clients, or where the cores are contrasted by these, with a side for each server."""
    if kit.study.contrast != CORES:
        return Place(*kit.names.axis(group.context), kit.short(group.side))
    varied = {one.name for one in kit.study.factors if len(one.levels) > 1} - {SERVER}
    others = tuple(pair for pair in group.context if pair[0] in varied)
    server = kit.names.server(dict(group.context).get(SERVER, "")).short
    return Place(group.side, kit.names.context(others) if others else "", server)


def axes_for(kit: Kit, groups: Sequence[Group], y: str) -> LevelAxes:
    """The axes of a chart by level of these groups."""
    by_cores = kit.study.contrast == CORES
    factor = CORES if by_cores else kit.names.axis_factor(groups[0].context) if groups else None
    places = [place_of(kit, group) for group in groups]
    levels = dict.fromkeys(kit.names.sides if by_cores else (place.level for place in places))
    sides = tuple(dict.fromkeys(place.side for place in places)) if by_cores else kit.side_labels
    t = kit.t
    return LevelAxes(
        x=kit.names.factor(factor) if factor else "",
        y=y,
        levels=tuple(levels),
        sides=sides,
        panels=tuple(dict.fromkeys(place.panel for place in places)),
        side=kit.names.factor(SERVER if by_cores else kit.study.contrast),
        block=t("table.block"),
        trial=t("table.trial"),
        median=t("word.median"),
    )


def dots_of(kit: Kit, groups: Sequence[Group], metric: str, factor: float) -> list[Dot]:
    dots = []
    for group in groups:
        place = place_of(kit, group)
        for trial in group.trials:
            value = trial.metrics.get(metric, math.nan)
            if math.isfinite(value):
                dots.append(
                    Dot(
                        place.panel,
                        place.level,
                        place.side,
                        value * factor,
                        trial.block,
                        trial.number,
                    )
                )
    return dots


def metric_chart(kit: Kit, name: str, groups: Sequence[Group], metric: Metric) -> Chart | None:
    """Dots, medians and ranges of one metric by level; None where no trial has it."""
    dots = dots_of(kit, groups, metric.name, factor_of(metric))
    if not dots:
        return None
    title = kit.t("chart.by-level.title", metric=kit.t.either(f"metric.{metric.name}", metric.name))
    return by_level(
        name,
        title,
        kit.t("chart.by-level.note"),
        dots,
        axes_for(kit, groups, kit.metric_title(metric)),
    )


def _charts(kit: Kit, prefix: str, groups: Sequence[Group]) -> tuple[Chart, ...]:
    charts = (
        metric_chart(kit, f"{prefix}-tps", groups, TPS),
        metric_chart(kit, f"{prefix}-latency", groups, LATENCY_MEAN),
        _latency_chart(kit, f"{prefix}-percentiles", groups),
    )
    return tuple(chart for chart in charts if chart is not None)


def _latency_chart(kit: Kit, name: str, groups: Sequence[Group]) -> Chart | None:
    """One panel per percentile, with a logarithmic axis that all panels share."""
    dots, panels = [], list[str]()
    several = len({place_of(kit, group).panel for group in groups}) > 1
    for metric, _ in PERCENTILES:
        title = kit.t(f"metric.short.{metric}")
        for dot in dots_of(kit, groups, metric, 1000.0):
            if dot.value <= 0:
                continue
            panel = f"{title} · {dot.panel}" if several else title
            panels.append(panel)
            dots.append(Dot(panel, dot.level, dot.side, dot.value, dot.block, dot.trial))
    if not dots:
        return None
    axes = axes_for(kit, groups, kit.t("unit.of", title=kit.t("word.latency"), unit="ms"))
    axes = LevelAxes(
        **{
            **axes.__dict__,
            "panels": tuple(dict.fromkeys(panels)),
            "logarithmic": True,
            "format": ",~f",
            "ticks": logarithmic_ticks([dot.value for dot in dots]),
        }
    )
    return by_level(
        name, kit.t("chart.percentiles.title"), kit.t("chart.percentiles.note"), dots, axes
    )


def contrast_table(kit: Kit, name: str, contrast: ContrastResult, *, noted: bool) -> Table:
    """Old, new, ratio, interval, pairs and verdict of every level, and over all levels.

    ``noted``: with the note on how they were made, which is the same for all.
    """
    t, names = kit.t, kit.names
    timed = contrast.metric is QUERY_TIME
    unit = _time_unit(contrast)
    factors = shown_factors(kit, contrast)
    title = kit.metric_title(contrast.metric)
    if timed:
        title = t("unit.of", title=t(f"metric.{contrast.metric.name}"), unit=unit.name)
    columns = (
        *(Column(names.factor(one), numeric=True) for one in factors),
        Column(names.side(contrast.old).long, numeric=True),
        Column(names.side(contrast.new).long, numeric=True),
        Column(names.ratio, numeric=True),
        Column(t("table.interval"), numeric=True),
        *([Column(t("table.speed-up"), numeric=True)] if timed else []),
        Column(t("table.pairs"), numeric=True),
        Column(t("table.verdict")),
    )
    own = contrast_of(kit, contrast)
    bounds = dict(own.bounds) if own else {}
    rows = tuple(
        _level_row(kit, contrast, level, unit, bounds.get(level.context))
        for level in contrast.levels
    )
    overall = t("level.overall-queries" if factors == [QUERY] else "level.overall")
    lead = [Cell(overall), *(Cell("") for _ in factors[1:])] if factors else []
    total = (*lead, Cell(""), Cell(""), *_judged(kit, contrast.overall, speed=timed))
    confidence = contrast.overall.effect.confidence if contrast.overall.effect else 0.95
    sequential = kit.study.measure.sequential is not None
    note = "table.contrast.note-sequential" if sequential else "table.contrast.note"
    return Table(
        name,
        t("table.contrast.caption", metric=title, workload=names.workload(contrast.workload)),
        columns,
        rows,
        total if len(rows) > 1 else None,
        "".join(
            (
                t(note, confidence=plain_percent(t, confidence)) if noted else "",
                _left_out(kit, contrast),
            )
        ),
    )


def shown_factors(kit: Kit, contrast: ContrastResult) -> list[str]:
    """The factors with a column: of queries only those that vary, as the others are said above."""
    context = contrast.levels[0].context if contrast.levels else ()
    if contrast.metric is not QUERY_TIME:
        return [one for one, _ in context]
    told = kit.names.told.get(context, context)
    return [one for one, _ in told if one not in kit.names.single or one == QUERY]


def _time_unit(contrast: ContrastResult) -> TimeUnit:
    """Of a table of queries; of other metrics the one that they are always shown in."""
    if contrast.metric is not QUERY_TIME:
        return TimeUnit("", factor_of(contrast.metric))
    medians = [one for level in contrast.levels for one in (level.old_median, level.new_median)]
    return unit_for(one for one in medians if one is not None) if medians else MILLISECONDS


def _left_out(kit: Kit, contrast: ContrastResult) -> str:
    if not contrast.left_out:
        return ""
    named = kit.t("list.separator").join(kit.names.context(one) for one in contrast.left_out)
    return " " + kit.t("table.left-out", queries=named)


def _level_row(
    kit: Kit,
    contrast: ContrastResult,
    level: LevelResult,
    unit: TimeUnit,
    bound: RatioBound | None,
) -> Row:
    effect = level.verdict.effect
    relative = (effect.high - effect.low) / 2 if effect else math.nan
    timed = contrast.metric is QUERY_TIME
    shown = shown_factors(kit, contrast)

    def value(number: float | None, values: Sequence[float], over: int) -> Cell:
        if over and level.limit is not None:
            some = "all" if not values else "some"
            limit = kit.seconds(level.limit)
            return Cell(
                kit.t(f"level.over.{some}", limit=limit, count=over, of=over + len(values)),
                float(level.limit),
            )
        if number is None:
            return Cell("—")
        half = abs(number) * relative if math.isfinite(relative) else spread(values)
        if timed:
            return Cell(unit.text(number, half), number)
        return Cell(measured(number * unit.factor, half * unit.factor), number)

    return (
        *(
            Cell(text, level_value(text, at))
            for at, (name, text) in enumerate(level.context)
            if name in shown
        ),
        value(level.old_median, level.old_values, level.old_over),
        value(level.new_median, level.new_values, level.new_over),
        *_judged(kit, level.verdict, speed=timed, bound=bound),
    )


def _judged(
    kit: Kit, verdict: Verdict, *, speed: bool = False, bound: RatioBound | None = None
) -> Row:
    effect = verdict.effect
    word = verdict_word(kit.t, verdict)
    hint = ""
    if verdict.smallest_detectable is not None:
        hint = kit.t(
            "table.detectable", percent=detectable_percent(kit.t, verdict.smallest_detectable)
        )
    faster = Cell(bound_text(bound) or speed_text(effect), 1 / effect.ratio if effect else None)
    return (
        Cell(ratio_text(effect), effect.ratio if effect else None),
        Cell(interval_text(kit.t, effect), effect.low if effect else None),
        *([faster] if speed else []),
        Cell(str(verdict.pairs), verdict.pairs),
        Cell(f"{word}{hint}", kind=f"verdict {verdict.kind.value}"),
    )


def _percentiles(kit: Kit, name: str, groups: Sequence[Group]) -> Table | None:
    t = kit.t
    metrics = [LATENCY_MEAN.name, *(one for one, _ in PERCENTILES)]
    present = [one for one in metrics if any(group.values(one) for group in groups)]
    if not present:
        return None
    factors = [one for one, _ in groups[0].context]
    columns = (
        *(Column(kit.names.factor(one), numeric=True) for one in factors),
        Column(kit.names.factor(kit.study.contrast)),
        *(Column(t(f"metric.short.{one}"), numeric=True) for one in present),
    )
    rows = tuple(_percentile_row(kit, group, present) for group in groups)
    return Table(
        name, t("table.percentiles.caption"), columns, rows, note=t("table.percentiles.note")
    )


def _percentile_row(kit: Kit, group: Group, present: Sequence[str]) -> Row:
    found = []
    for metric in present:
        values = group.values(metric)
        factor = factor_of(BY_NAME[metric])
        middle = median(values) if values else None
        found.append(
            Cell(
                measured(None if middle is None else middle * factor, spread(values) * factor),
                middle,
            )
        )
    head = [Cell(text, level_value(text, at)) for at, (_, text) in enumerate(group.context)]
    return (*head, *cells(kit.short(group.side)), *found)
