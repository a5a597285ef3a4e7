"""The findings on scaling in words: the knee, and the law or why it is withheld."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from teiten.analysis.model.scaling import (
    NO_REPLICATES,
    Knee,
    LackOfFit,
    Parameter,
    Scaling,
    ScalingResult,
    UslFit,
)
from teiten.kinds.pgbench.loads import CORES
from teiten.report.effects import confidence_percent, percent, plain_percent
from teiten.report.names import Side
from teiten.report.numbers import measured, plain, significant
from teiten.report.view.kit import Kit

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
        first=_at(kit, CORES, first.load),
        last=_at(kit, CORES, last.load),
        times=significant(last.value / first.value, 3),
        share=percent(kit.t, last.per_load, 0),
    )


def _knee(kit: Kit, side: str, result: ScalingResult, knee: Knee) -> str:
    scaling, said = result.scaling, wording(kit, result.load)
    values = {
        "side": side,
        "clients": _at(kit, result.load, knee.load),
        "delta": plain_percent(kit.t, knee.delta),
    }
    if knee.low is None or knee.high is None:
        text = said("knee.plain", reason=said(f"reason.{scaling.no_interval}"), **values)
    else:
        values["confidence"] = confidence_percent(kit.t, knee.confidence)
        ends = {"low": plain(knee.low), "high": plain(knee.high)}
        single = knee.low == knee.high
        text = said("knee.single" if single else "knee.interval", **values, **ends)
    if knee.at_end(scaling.loads):
        text += said("knee.end")
    return text


def _fit(kit: Kit, side: str, result: ScalingResult, fit: UslFit) -> str:
    t, scaling = kit.t, result.scaling
    least, most = _residuals(kit, scaling)
    return t(
        "scaling.fit",
        side=side,
        rate=_parameter(kit, fit.rate),
        contention=_parameter(kit, fit.contention),
        coherency=_millionths(kit, fit.coherency),
        least=least,
        most=most,
        low=plain(scaling.loads[0]),
        high=_at(kit, result.load, scaling.loads[-1]),
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


def _parameter(kit: Kit, one: Parameter, unit: float = 1.0) -> str:
    if one.at_bound:
        return kit.t("scaling.parameter.bound")
    if one.low is None or one.high is None:
        return significant(one.value / unit)
    half = (one.high - one.low) / 2 / unit
    value, low, high = (measured(end / unit, half) for end in (one.value, one.low, one.high))
    return kit.t("scaling.parameter.interval", value=value, low=low, high=high)


def _millionths(kit: Kit, one: Parameter) -> str:
    text = _parameter(kit, one, MILLIONTH)
    return text if one.at_bound else kit.t("scaling.parameter.millionths", value=text)


def _residuals(kit: Kit, scaling: Scaling) -> tuple[str, str]:
    off = [math.expm1(point.residual) for point in scaling.points if point.residual is not None]
    least, most = (percent(kit.t, end, 1, signed=True) for end in (min(off), max(off)))
    return least, most


def _at(kit: Kit, factor: str, load: float) -> str:
    return kit.names.context(((factor, plain(load)),))
