"""How a workload scales: the knee and the law in words, the curve, and the efficiency by load."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from teiten.model.metrics import TPS
from teiten.model.scaling import Scaling, ScalingPoint, ScalingResult
from teiten.report.charts.base import Chart
from teiten.report.charts.curves import CurvePoint, CurveWords, PointKind, curves
from teiten.report.names import CLIENTS
from teiten.report.numbers import NOTHING, plain, significant
from teiten.report.sentences import percent
from teiten.report.tables import Cell, Column, Row, Table
from teiten.report.view.kit import Kit
from teiten.report.view.scaling_words import findings

CURVE_POINTS = 60


@dataclass(frozen=True)
class WorkloadScaling:
    """Of one workload, and of one combination of the other factors' levels."""

    title: str
    findings: tuple[str, ...]
    chart: Chart
    table: Table


def scaling(kit: Kit, prefix: str, workload: str) -> tuple[WorkloadScaling, ...]:
    """Of every combination of levels that was planned at four loads or more."""
    contexts: dict[tuple[tuple[str, str], ...], list[ScalingResult]] = {}
    for one in kit.analysis.scaling:
        if one.workload == workload and one.scaling.points:
            contexts.setdefault(one.context, []).append(one)
    return tuple(
        _part(kit, f"{prefix}-scaling-{at + 1}", found)
        for at, found in enumerate(contexts.values())
    )


def _part(kit: Kit, name: str, found: Sequence[ScalingResult]) -> WorkloadScaling:
    context = found[0].context
    title = kit.t("scaling.title")
    return WorkloadScaling(
        f"{title} ({kit.names.context(context)})" if context else title,
        tuple(sentence for one in found for sentence in findings(kit, one)),
        _chart(kit, name, found),
        _table(kit, f"{name}-table", found),
    )


def _chart(kit: Kit, name: str, found: Sequence[ScalingResult]) -> Chart:
    t = kit.t
    words = CurveWords(
        t("scaling.chart.title"),
        t("scaling.chart.note"),
        kit.names.factor(CLIENTS),
        kit.metric_title(TPS),
        kit.names.factor(kit.study.contrast),
        kit.side_labels,
    )
    points = [point for one in found for point in _chart_points(kit.short(one.side), one.scaling)]
    return curves(name, points, words)


def _chart_points(side: str, scaling: Scaling) -> Iterator[CurvePoint]:
    values = {point.load: point.value for point in scaling.points}
    for load, value in values.items():
        yield CurvePoint(PointKind.MEAN, side, load, value)
    knee = scaling.knee
    if knee is not None:
        ends = (knee.low, knee.high)
        yield CurvePoint(PointKind.KNEE, side, knee.load, values[knee.load], *ends)
    if scaling.fit is not None:
        loads = np.linspace(scaling.loads[0], scaling.loads[-1], CURVE_POINTS)
        for load, value in zip(loads, scaling.fit.curve.at(loads), strict=True):
            yield CurvePoint(PointKind.CURVE, side, float(load), float(value))


def _table(kit: Kit, name: str, found: Sequence[ScalingResult]) -> Table:
    t = kit.t
    columns = (
        Column(kit.names.factor(CLIENTS), numeric=True),
        Column(kit.names.factor(kit.study.contrast)),
        Column(kit.metric_title(TPS), numeric=True),
        Column(t("scaling.column.per-client"), numeric=True),
        Column(t("scaling.column.per-core"), numeric=True),
        Column(t("scaling.column.residual"), numeric=True),
    )
    loads = sorted({load for one in found for load in one.scaling.loads})
    rows = tuple(
        _row(kit, one.side, point)
        for load in loads
        for one in found
        for point in one.scaling.points
        if point.load == load
    )
    caption = t("scaling.table.caption", workload=kit.names.workload(found[0].workload))
    return Table(name, caption, columns, rows, note=t("scaling.table.note"))


def _row(kit: Kit, side: str, point: ScalingPoint) -> Row:
    def share(value: float | None, decimals: int = 0, *, signed: bool = False) -> Cell:
        if value is None:
            return Cell(NOTHING)
        return Cell(percent(kit.t, value, decimals, signed=signed), value)

    off = None if point.residual is None else math.expm1(point.residual)
    return (
        Cell(plain(point.load), point.load),
        Cell(kit.short(side)),
        Cell(significant(point.value, 4), point.value),
        share(point.per_load),
        share(point.per_core),
        share(off, 1, signed=True),
    )
