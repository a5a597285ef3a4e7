"""How a workload scales: the knee and the law in words, the curve, the efficiency by load, and the
limits with which its greatest throughput is consistent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from teiten.analysis.model.scaling import Scaling, ScalingPoint, ScalingResult
from teiten.kinds.pgbench.loads import CLIENTS
from teiten.kinds.pgbench.metrics import TPS
from teiten.kinds.pgbench.present.scaling_words import findings, side_of, wording
from teiten.kinds.pgbench.results import pgbench_found
from teiten.model.bottleneck import BottleneckResult, Consistent, Evidence
from teiten.model.study import SERVER
from teiten.report.blocks import Block, Further, Heading, Items, Text
from teiten.report.charts.base import Chart, coloured
from teiten.report.charts.lines import CurveLabels, CurvePoint, PointKind, curves
from teiten.report.effects import percent
from teiten.report.names import Context
from teiten.report.numbers import NOTHING, bytes_text, plain, significant
from teiten.report.tables import Column, Row, Table, TableCell
from teiten.report.view.kit import Kit

CURVE_POINTS = 60


def scaling(kit: Kit, prefix: str, workload: str) -> Iterator[Block]:
    """Show the scaling of every combination of levels that was planned at four loads or more."""
    contexts: dict[tuple[tuple[str, str], ...], list[ScalingResult]] = {}
    for one in pgbench_found(kit.analysis).scaling:
        if one.workload == workload and one.scaling.points:
            contexts.setdefault(one.context, []).append(one)
    for at, found in enumerate(contexts.values()):
        yield from _part(kit, f"{prefix}-scaling-{at + 1}", found)


def _part(kit: Kit, name: str, found: Sequence[ScalingResult]) -> Iterator[Block]:
    context = found[0].context if found[0].load == CLIENTS else _varied(kit, found[0].context)
    title = wording(kit, found[0].load)("title")
    yield Heading(4, kit.t.aside(title, kit.names.context(context)) if context else title)
    yield Items(tuple(sentence for one in found for sentence in findings(kit, one)), "findings")
    yield Further((_chart(kit, name, found), _table(kit, f"{name}-table", found)))


def _varied(kit: Kit, context: Context) -> Context:
    """Without the factors that have one level alone, as the clients where the cores are varied."""
    levels = {factor.name: factor.levels for factor in kit.study.factors}
    return tuple(pair for pair in context if len(levels.get(pair[0], ())) > 1)


def _chart(kit: Kit, name: str, found: Sequence[ScalingResult]) -> Chart:
    load = found[0].load
    said = wording(kit, load)
    words = CurveLabels(
        said("chart.title"),
        said("chart.note"),
        kit.names.factor(load),
        kit.metric_title(TPS),
        kit.names.factor(kit.study.contrast if load == CLIENTS else SERVER),
        kit.colours({one.workload for one in found})
        if load == CLIENTS
        else coloured(dict.fromkeys(side_of(kit, one).short for one in found)),
    )
    points = [
        point for one in found for point in _chart_points(side_of(kit, one).short, one.scaling)
    ]
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
    load = found[0].load
    said = wording(kit, load)
    by_clients = load == CLIENTS
    columns = (
        Column(kit.names.factor(load), numeric=True),
        Column(kit.names.factor(kit.study.contrast if by_clients else SERVER)),
        Column(kit.metric_title(TPS), numeric=True),
        Column(said("column.per-client"), numeric=True),
        *([Column(said("column.per-core"), numeric=True)] if by_clients else []),
        Column(said("column.residual"), numeric=True),
    )
    loads = sorted({load for one in found for load in one.scaling.loads})
    rows = tuple(
        _row(kit, one, point)
        for load in loads
        for one in found
        for point in one.scaling.points
        if point.load == load
    )
    caption = said("table.caption", workload=kit.names.workload(found[0].workload))
    return Table(name, caption, columns, rows, note=said("table.note"))


def _row(kit: Kit, result: ScalingResult, point: ScalingPoint) -> Row:
    def share(value: float | None, decimals: int = 0, *, signed: bool = False) -> TableCell:
        if value is None:
            return TableCell(NOTHING)
        return TableCell(percent(kit.t, value, decimals, signed=signed), value)

    off = None if point.residual is None else math.expm1(point.residual)
    return (
        TableCell(plain(point.load), point.load),
        TableCell(side_of(kit, result).short),
        TableCell(significant(point.value, 4), point.value),
        share(point.per_load),
        *([share(point.per_core)] if result.load == CLIENTS else []),
        share(off, 1, signed=True),
    )


def limits(kit: Kit, workload: str) -> Iterator[Block]:
    """Nothing where no ceilings were measured before the campaign."""
    found = [
        bottleneck
        for bottleneck in pgbench_found(kit.analysis).bottlenecks
        if bottleneck.workload == workload
    ]
    if found:
        yield Heading(4, kit.t("bottleneck.title"))
        yield Items(tuple(_sentence(kit, one) for one in found), "findings")
        yield Text(kit.t("bottleneck.note"), "note")


def _sentence(kit: Kit, one: BottleneckResult) -> str:
    t, finding = kit.t, one.finding
    context = ((CLIENTS, plain(one.load)), *one.context)
    where = t(
        "bottleneck.where", side=kit.names.side(one.side).long, level=kit.names.context(context)
    )
    if isinstance(finding, Consistent):
        said = t(f"bottleneck.consistent.{finding.resource.value}")
    else:
        said = t(f"bottleneck.abstained.{finding.reason.value}")
    if not finding.evidence:
        return t("bottleneck.sentence", where=where, said=said)
    evidence = t("list.separator").join(_evidence(kit, finding.evidence))
    return t("bottleneck.sentence-evidence", where=where, said=said, evidence=evidence)


def _evidence(kit: Kit, evidence: Evidence) -> list[str]:
    return [
        kit.t(f"bottleneck.evidence.{name}", value=_written(name)(kit, value))
        for name, value in evidence
    ]


def _written(name: str) -> Callable[[Kit, float], str]:
    if name in RATES:
        return lambda kit, value: kit.t("bottleneck.per-second", value=bytes_text(value))
    if name in COUNTS:
        return lambda kit, value: kit.t("bottleneck.per-second", value=significant(value, 3))
    if name == "cores":
        return lambda _, value: significant(value, 3)
    return lambda kit, value: percent(kit.t, value, 0 if value >= 0.1 else 1)


RATES = frozenset({"written", "write_ceiling", "read", "read_ceiling"})
COUNTS = frozenset({"fsyncs", "fsyncs_before", "fsync_ceiling", "reads", "reads_ceiling"})
