"""How a workload scales: knee, form, and the law or why it is withheld, in words; the curve,
the efficiency by load, and the limits with which its greatest throughput is consistent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from teiten.analysis.model.scaling import (
    NO_REPLICATES,
    CurveShape,
    Form,
    Knee,
    LackOfFit,
    Parameter,
    Scaling,
    ScalingPoint,
    ScalingResult,
    UslFit,
)
from teiten.analysis.model.verdict import Interval
from teiten.kinds.pgbench.analyse import CLIENTS, CORES
from teiten.kinds.pgbench.metrics import TPS
from teiten.kinds.pgbench.results import pgbench_found
from teiten.model.bottleneck import BottleneckResult, Consistent
from teiten.model.plan import Context
from teiten.model.study import SERVER
from teiten.report.blocks import Block, Further, Heading, Items, Text
from teiten.report.charts.base import Chart, coloured
from teiten.report.charts.lines import CurveLabels, CurvePoint, PointKind, curves
from teiten.report.effects import confidence_percent, percent, plain_percent
from teiten.report.names import Side
from teiten.report.numbers import (
    NOTHING,
    bytes_text,
    decimals_for,
    measured,
    plain,
    significant,
)
from teiten.report.tables import Column, Row, Table, TableCell
from teiten.report.view.kit import Kit

CURVE_POINTS = 60


def scaling(kit: Kit, prefix: str, workload: str) -> Iterator[Block]:
    """Show the scaling of every combination of levels that was planned at four loads or more."""
    contexts: dict[Context, list[ScalingResult]] = {}
    for result in pgbench_found(kit.analysis).scaling:
        if result.workload == workload and result.scaling.points:
            contexts.setdefault(result.context, []).append(result)
    for at, results in enumerate(contexts.values()):
        yield from _part(kit, f"{prefix}-scaling-{at + 1}", results)


def _part(kit: Kit, name: str, results: Sequence[ScalingResult]) -> Iterator[Block]:
    first, names = results[0], kit.names
    levels = names.varied_levels(first.context)
    if first.load == CLIENTS:
        levels = names.context(first.context) if first.context else ""
    title = wording(kit, first.load)("title")
    yield Heading(4, kit.t.aside(title, levels))
    yield Items(tuple(_alike(kit, results)), "findings")
    yield Further((_chart(kit, name, results), _table(kit, f"{name}-table", results)))


def _chart(kit: Kit, name: str, results: Sequence[ScalingResult]) -> Chart:
    load = results[0].load
    text_of = wording(kit, load)
    words = CurveLabels(
        text_of("chart.title"),
        text_of("chart.note"),
        kit.names.factor(load),
        kit.metric_title(TPS),
        kit.names.factor(kit.study.contrast if load == CLIENTS else SERVER),
        kit.colours({result.workload for result in results})
        if load == CLIENTS
        else coloured(dict.fromkeys(side_of(kit, result).short for result in results)),
    )
    points = [
        point
        for result in results
        for point in _chart_points(side_of(kit, result).short, result.scaling)
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


def _table(kit: Kit, name: str, results: Sequence[ScalingResult]) -> Table:
    load = results[0].load
    text_of = wording(kit, load)
    by_clients = load == CLIENTS
    columns = (
        Column(kit.names.factor(load), numeric=True),
        Column(kit.names.factor(kit.study.contrast if by_clients else SERVER)),
        Column(kit.metric_title(TPS), numeric=True),
        Column(text_of("column.per-client"), numeric=True),
        *([Column(text_of("column.per-core"), numeric=True)] if by_clients else []),
        Column(text_of("column.residual"), numeric=True),
    )
    loads = sorted({load for result in results for load in result.scaling.loads})
    rows = tuple(
        _row(kit, result, point)
        for load in loads
        for result in results
        for point in result.scaling.points
        if point.load == load
    )
    caption = text_of("table.caption", workload=kit.names.workload(results[0].workload))
    return Table(name, caption, columns, rows, note=text_of("table.note"))


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
    bottlenecks = [
        bottleneck
        for bottleneck in pgbench_found(kit.analysis).bottlenecks
        if bottleneck.workload == workload
    ]
    if bottlenecks:
        yield Heading(4, kit.t("bottleneck.title"))
        yield Items(tuple(_sentence(kit, bottleneck) for bottleneck in bottlenecks), "findings")
        yield Text(kit.t("bottleneck.note"), "note")


def _sentence(kit: Kit, result: BottleneckResult) -> str:
    t, finding = kit.t, result.finding
    context = ((CLIENTS, plain(result.load)), *result.context)
    where = t(
        "bottleneck.where", side=kit.names.side(result.side).long, level=kit.names.context(context)
    )
    if isinstance(finding, Consistent):
        conclusion = t(f"bottleneck.consistent.{finding.resource.value}")
    else:
        conclusion = t(f"bottleneck.abstained.{finding.reason.value}")
    if not finding.evidence:
        return t("bottleneck.sentence", where=where, said=conclusion)
    evidence = t("list.separator").join(
        t(f"bottleneck.evidence.{name}", value=_written(kit, name, value))
        for name, value in finding.evidence
    )
    return t("bottleneck.sentence-evidence", where=where, said=conclusion, evidence=evidence)


def _written(kit: Kit, name: str, value: float) -> str:
    if name in RATES | COUNTS:
        number = bytes_text(value) if name in RATES else significant(value)
        return kit.t("bottleneck.per-second", value=number)
    if name == "cores":
        return significant(value)
    return percent(kit.t, value, 0 if value >= 0.1 else 1)


RATES = frozenset({"written", "write_ceiling", "read", "read_ceiling"})
COUNTS = frozenset({"fsyncs", "fsyncs_before", "fsync_ceiling", "reads", "reads_ceiling"})
MILLIONTH = 1e-6
"""κ is shown in these."""
LEAST_PROBABILITY = 0.001


def wording(kit: Kit, load: str) -> Callable[..., str]:
    """The texts on scaling: those that a load has of its own, else those for connections."""

    def text(key: str, **values: object) -> str:
        own = f"scaling.{load}.{key}"
        return kit.t(own if own in kit.t else f"scaling.{key}", **values)

    return text


def side_of(kit: Kit, result: ScalingResult) -> Side:
    """Find the name of a curve: a server's where the load is cores, else a side's."""
    names = kit.names
    return names.server(result.side) if result.load == CORES else names.side(result.side)


def _alike(kit: Kit, results: Sequence[ScalingResult]) -> Iterator[str]:
    """Sentences about the curves; what is the same of several stands once, behind their names."""
    sides: dict[str, list[str]] = {}
    for result in results:
        name = side_of(kit, result).long
        for sentence in findings(kit, result):
            sides.setdefault(sentence.removeprefix(name), []).append(name)
    for behind, names in sides.items():
        yield f"{kit.t.listed(names)}{behind}"


def findings(kit: Kit, result: ScalingResult) -> Iterator[str]:
    """Growth and the knee first, which need no model."""
    side, scaling = side_of(kit, result).long, result.scaling
    if result.load == CORES and len(scaling.points) > 1:
        yield _growth(kit, side, scaling)
    if scaling.knee is not None:
        yield _knee(kit, side, result, scaling.knee)
    if scaling.fit is not None:
        yield _fit(kit, side, result, scaling.fit)
    elif scaling.lack is not None:
        yield _misfit(kit, side, scaling, scaling.lack)
    else:
        yield wording(kit, result.load)(f"withheld.{scaling.withheld}", side=side)


def _growth(kit: Kit, side: str, scaling: Scaling) -> str:
    """From the fewest cores to the most: how many times the throughput, and the share per core."""
    first, last = scaling.points[0], scaling.points[-1]
    return kit.t(
        "scaling.cores.growth",
        side=side,
        first=level_at(kit, CORES, first.load),
        last=level_at(kit, CORES, last.load),
        times=significant(last.value / first.value, 3),
        share=percent(kit.t, last.per_load, 0),
    )


def _knee(kit: Kit, side: str, result: ScalingResult, knee: Knee) -> str:
    scaling, text_of = result.scaling, wording(kit, result.load)
    values = {
        "side": side,
        "clients": level_at(kit, result.load, knee.load),
        "delta": plain_percent(kit.t, knee.delta),
    }
    if knee.low is None or knee.high is None:
        text = text_of("knee.plain", reason=text_of(f"reason.{scaling.no_interval}"), **values)
    else:
        values["confidence"] = confidence_percent(kit.t, knee.confidence)
        ends = {"low": plain(knee.low), "high": plain(knee.high)}
        single = knee.low == knee.high
        text = text_of("knee.single" if single else "knee.interval", **values, **ends)
    if knee.at_end(scaling.loads):
        text += text_of("knee.end")
    return text


def _fit(kit: Kit, side: str, result: ScalingResult, fit: UslFit) -> str:
    t, scaling = kit.t, result.scaling
    least, most = _residuals(kit, scaling)
    confidence = kit.confidence
    return t(
        "scaling.fit",
        side=side,
        rate=_parameter(kit, fit.rate),
        contention=_parameter(kit, fit.contention),
        coherency=_millionths(kit, fit.coherency),
        level="" if fit.rate.low is None else t("scaling.fit-level", confidence=confidence),
        least=least,
        most=most,
        low=plain(scaling.loads[0]),
        high=level_at(kit, result.load, scaling.loads[-1]),
    )


def _misfit(kit: Kit, side: str, scaling: Scaling, lack: LackOfFit) -> str:
    t = kit.t
    least, most = _residuals(kit, scaling)
    values = {"side": side, "lack": percent(t, lack.lack, 1), "least": least, "most": most}
    if lack.pure is None:
        key = "presumed" if scaling.no_interval == NO_REPLICATES else "unknown"
        return t(f"scaling.misfit.{key}", limit=percent(t, lack.limit, 1), **values)
    pure = percent(t, lack.pure, 1)
    if lack.lack > lack.limit:
        return t("scaling.misfit.times", pure=pure, **values)
    return t("scaling.misfit.chance", pure=pure, p=_probability(lack), **values)


def _probability(lack: LackOfFit) -> str:
    if lack.probability is not None and lack.probability < LEAST_PROBABILITY:
        return f"p < {LEAST_PROBABILITY}"
    return f"p = {significant(lack.probability, 2)}"


def _parameter(kit: Kit, parameter: Parameter, unit: float = 1.0) -> str:
    if parameter.at_bound:
        return kit.t("scaling.parameter.bound")
    if parameter.low is None or parameter.high is None:
        return significant(parameter.value / unit)
    half = (parameter.high - parameter.low) / 2 / unit
    value, low, high = (
        measured(end / unit, half) for end in (parameter.value, parameter.low, parameter.high)
    )
    return kit.t("scaling.parameter.interval", value=value, low=low, high=high)


def _millionths(kit: Kit, parameter: Parameter) -> str:
    text = _parameter(kit, parameter, MILLIONTH)
    return text if parameter.at_bound else kit.t("scaling.parameter.millionths", value=text)


def _residuals(kit: Kit, scaling: Scaling) -> tuple[str, str]:
    off = [math.expm1(point.residual) for point in scaling.points if point.residual is not None]
    least, most = (percent(kit.t, end, 1, signed=True) for end in (min(off), max(off)))
    return least, most


def level_at(kit: Kit, factor: str, load: float) -> str:
    return kit.names.context(((factor, plain(load)),))


def shapes(kit: Kit, workload: str) -> Iterator[str]:
    """Say for every side whether throughput rises to the end, is level, or falls."""
    for result in pgbench_found(kit.analysis).scaling:
        knee, shape = result.scaling.knee, result.scaling.shape
        if result.workload == workload and knee is not None and shape is not None:
            yield _form(kit, result, knee, shape)
            yield from _processors(kit, result, knee, shape)


def _form(kit: Kit, result: ScalingResult, knee: Knee, shape: CurveShape) -> str:
    values = {
        "side": _side_at(kit, result),
        "knee": level_at(kit, result.load, knee.load),
        "peak": level_at(kit, result.load, shape.peak),
        "last": level_at(kit, result.load, result.scaling.loads[-1]),
        "share": percent(kit.t, shape.last, _decimals(shape.decline)),
        "delta": plain_percent(kit.t, knee.delta),
    }
    if shape.form is Form.LEVEL:
        return kit.t(f"discussion.shape.{_level(result, knee, shape)}", **values)
    if shape.decline is None or shape.form is Form.RISING:
        return kit.t(f"discussion.shape.{shape.form.value}", **values)
    values |= {
        "low": percent(kit.t, shape.decline.low, _decimals(shape.decline)),
        "high": percent(kit.t, shape.decline.high, _decimals(shape.decline)),
        "confidence": plain_percent(kit.t, round(shape.decline.confidence, 12)),
    }
    return kit.t(f"discussion.shape.{shape.form.value}-interval", **values)


def _level(result: ScalingResult, knee: Knee, shape: CurveShape) -> str:
    """Where the knee and the peak are on the measured range."""
    loads = result.scaling.loads
    if knee.load == loads[0]:
        return "level-all" if shape.peak == loads[-1] else "level-first"
    return "level-last" if shape.peak == loads[-1] else "level"


def _decimals(decline: Interval | None) -> int:
    return 1 if decline is None else decimals_for((decline.high - decline.low) / 2 * 100)


def _processors(kit: Kit, result: ScalingResult, knee: Knee, shape: CurveShape) -> Iterator[str]:
    """The knee beside the machine's processors; not where a trial had fewer, or another machine."""
    limited = result.load != CLIENTS or CORES in dict(result.context)
    if limited or kit.analysis.plan.is_of_one_start or shape.form is Form.RISING:
        return
    if knee.low is None or knee.high is None:
        return
    cores = kit.analysis.facts.cpu.logical
    where = "below" if knee.high < cores else "above" if knee.low > cores else "within"
    single = knee.low == knee.high
    yield kit.t(
        f"discussion.shape.{'is' if single and where == 'within' else where}",
        confidence=plain_percent(kit.t, round(knee.confidence, 12)),
        ends=plain(knee.low)
        if single
        else kit.t("interval.plain", low=plain(knee.low), high=plain(knee.high)),
        cores=cores,
    )


def _side_at(kit: Kit, result: ScalingResult) -> str:
    """With the levels of factors that vary beside the load."""
    side = side_of(kit, result).long
    level = kit.names.varied_levels(
        result.context, *([] if result.load == CLIENTS else [result.load])
    )
    return kit.t.aside(side, level)
