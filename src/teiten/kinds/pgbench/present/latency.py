"""Latencies: percentiles by level as a chart and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from teiten.kinds.metrics import by_name
from teiten.kinds.pgbench.metrics import LATENCY_MEAN, PERCENTILES
from teiten.report.charts.base import Chart, logarithmic_ticks
from teiten.report.charts.levels import Dot, by_level
from teiten.report.numbers import measured, spread
from teiten.report.tables import Column, Row, Table, TableCell, cells, level_value
from teiten.report.view.kit import Kit, TrialGroup, factor_of
from teiten.report.view.levels import axes_for, dots_of, place_of


def latency_chart(kit: Kit, name: str, groups: Sequence[TrialGroup]) -> Chart | None:
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
    axes = replace(
        axes,
        panels=tuple(dict.fromkeys(panels)),
        logarithmic=True,
        ticks=logarithmic_ticks([dot.value for dot in dots]),
    )
    return by_level(
        name, kit.t("chart.percentiles.title"), kit.t("chart.percentiles.note"), dots, axes
    )


def percentile_table(kit: Kit, name: str, groups: Sequence[TrialGroup]) -> Table | None:
    t = kit.t
    metrics = [LATENCY_MEAN.name, *(name for name, _ in PERCENTILES)]
    present = [metric for metric in metrics if any(group.values(metric) for group in groups)]
    if not present:
        return None
    factors = kit.names.varied([group.context for group in groups])
    columns = (
        *head_columns(kit, factors),
        *(Column(t(f"metric.short.{metric}"), numeric=True) for metric in present),
    )
    rows = tuple(_percentile_row(kit, group, factors, present) for group in groups)
    return Table(
        name, t("table.percentiles.caption"), columns, rows, note=t("table.percentiles.note")
    )


def _percentile_row(
    kit: Kit, group: TrialGroup, factors: Sequence[str], present: Sequence[str]
) -> Row:
    latencies = []
    for metric in present:
        values = group.values(metric)
        factor = factor_of(by_name()[metric])
        middle = median(values) if values else None
        latencies.append(
            TableCell(
                measured(None if middle is None else middle * factor, spread(values) * factor),
                middle,
            )
        )
    return (*head_cells(kit, group, factors), *latencies)


def head_columns(kit: Kit, factors: Sequence[str]) -> tuple[Column, ...]:
    """The columns that tell groups of trials apart: their levels, and the side."""
    levels = (Column(kit.names.factor(factor), numeric=True) for factor in factors)
    return (*levels, Column(kit.names.factor(kit.study.contrast)))


def head_cells(kit: Kit, group: TrialGroup, factors: Sequence[str]) -> Row:
    """A group's cells of ``head_columns``."""
    levels = dict(group.context)
    head = (
        TableCell(kit.names.level(factor, levels[factor]), level_value(levels[factor], at))
        for at, factor in enumerate(factors)
    )
    return (*head, *cells(kit.short(group.side)))
