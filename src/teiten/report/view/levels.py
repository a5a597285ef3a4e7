"""Charts of a metric by level: every trial as a dot, the median, the range."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.model.findings import TrialView
from teiten.model.metrics import Metric
from teiten.model.study import SERVER
from teiten.report.charts.base import Chart, coloured
from teiten.report.charts.levels import Dot, LevelAxes, by_level
from teiten.report.view.contrasts import of_workload
from teiten.report.view.kit import Kit, TrialGroup, factor_of


@dataclass(frozen=True)
class ChartPlace:
    """Where a group is drawn in a chart by level."""

    level: str
    panel: str
    side: str


def place_of(kit: Kit, group: TrialGroup) -> ChartPlace:
    """By clients, or by what is contrasted where that makes a curve, with a side by server."""
    if not kit.names.contrast_on_axis:
        return ChartPlace(*kit.names.axis(group.context), kit.short(group.side))
    varied = {factor.name for factor in kit.study.factors if len(factor.levels) > 1} - {SERVER}
    others = tuple(pair for pair in group.context if pair[0] in varied)
    server = kit.names.server(dict(group.context).get(SERVER, "")).short
    level = kit.names.level(kit.study.contrast, group.side)
    return ChartPlace(level, kit.names.context(others) if others else "", server)


def axes_for(kit: Kit, groups: Sequence[TrialGroup], y: str) -> LevelAxes:
    """The axes of a chart by level of these groups."""
    places = [place_of(kit, group) for group in groups]
    if kit.names.contrast_on_axis:
        sides = coloured(dict.fromkeys(place.side for place in places))
        named = (kit.names.level(kit.study.contrast, level) for level in kit.names.sides)
        levels = [ChartPlace(level, "", "") for level in named]
        axes = level_axes(kit, (kit.study.contrast, y, kit.names.factor(SERVER)), levels, sides)
        return replace(axes, panels=tuple(dict.fromkeys(place.panel for place in places)))
    factor = kit.names.axis_factor(groups[0].context) if groups else None
    words = (factor, y, kit.names.factor(kit.study.contrast))
    return level_axes(kit, words, places, kit.colours({group.workload for group in groups}))


def level_axes(
    kit: Kit,
    words: tuple[str | None, str, str],
    places: Sequence[ChartPlace],
    sides: Mapping[str, str],
) -> LevelAxes:
    """``words``: the factor on the axis, the title of the other, and what the sides are; ``sides``:
    the colour of each, in their order."""
    factor, y, side = words
    return LevelAxes(
        x=kit.names.factor(factor) if factor else "",
        y=y,
        levels=tuple(dict.fromkeys(place.level for place in places)),
        sides=sides,
        panels=tuple(dict.fromkeys(place.panel for place in places)),
        side=side,
    )


def dots_of(kit: Kit, groups: Sequence[TrialGroup], metric: str, factor: float) -> list[Dot]:
    return [
        dot_at(place, trial, value * factor)
        for group in groups
        for place in (place_of(kit, group),)
        for trial in group.trials
        if math.isfinite(value := trial.metrics.get(metric, math.nan))
    ]


def dot_at(place: ChartPlace, trial: TrialView, value: float) -> Dot:
    return Dot(place.panel, place.level, place.side, value, trial.block, trial.number)


def metric_chart(kit: Kit, name: str, groups: Sequence[TrialGroup], metric: Metric) -> Chart | None:
    """Dots, medians and ranges of one metric by level; None where no trial has it."""
    dots = dots_of(kit, groups, metric.name, factor_of(metric))
    if not dots:
        return None
    axes = axes_for(kit, groups, kit.metric_title(metric))
    title = of_workload(kit, kit.t.metric(metric), groups[0].workload)
    return by_level(kit.t, name, dots, axes, title=title, note=note_of(kit, axes))


def note_of(kit: Kit, axes: LevelAxes) -> str:
    """The legend of a chart by level: its medians are joined where several levels are numbers."""
    numbers = [level for level in axes.levels if level[:1].isdecimal()]
    return kit.t("chart.by-level.note" if len(numbers) > 1 else "chart.by-level.note-apart")
