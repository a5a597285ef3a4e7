"""The discussion of a load of pgbench: the form of its curves, and latency's tail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.analysis.model.discussion import Tail, TailLevel
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.scaling import CurveShape, Form, Knee, ScalingResult
from teiten.analysis.model.verdict import Interval
from teiten.kinds.pgbench.analyse import CLIENTS, CORES
from teiten.kinds.pgbench.present.scaling import level_at, side_of
from teiten.kinds.pgbench.results import pgbench_found
from teiten.report.effects import (
    change_decimals,
    change_interval,
    confidence_percent,
    percent,
    plain_percent,
)
from teiten.report.numbers import decimals_for, fixed, plain, significant
from teiten.report.texts import Texts
from teiten.report.view.discussion import level_text, levels_text, sides_text, sides_told
from teiten.report.view.kit import Kit

MILLI = 1000.0
"""Milliseconds in a second."""


def shapes(kit: Kit, workload: str) -> Iterator[str]:
    """Say for every side whether throughput rises to the end, is level, or falls."""
    for result in pgbench_found(kit.analysis).scaling:
        knee, shape = result.scaling.knee, result.scaling.shape
        if result.workload == workload and knee is not None and shape is not None:
            yield _shape(kit, result, knee, shape)
            yield from _processors(kit, result, knee, shape)


def _shape(kit: Kit, result: ScalingResult, knee: Knee, shape: CurveShape) -> str:
    values = {
        "side": _side(kit, result),
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


def _side(kit: Kit, result: ScalingResult) -> str:
    """With the levels of factors that vary beside the load."""
    side = side_of(kit, result).long
    level = kit.names.varied_levels(
        result.context, *([] if result.load == CLIENTS else [result.load])
    )
    return kit.t("discussion.side-at", side=side, level=level) if level else side


def tail_sentences(kit: Kit, workload: str) -> Iterator[str]:
    """Compare latency's tails in contrasts with a verdict; nothing where there is no interval.
    Differences of δ or more come first; the first sentence is empty where there is none."""
    relevant: list[str] = []
    further: list[str] = []
    for growth, sentence in _tails(kit, workload):
        (relevant if growth >= kit.study.measure.delta else further).append(sentence)
    if relevant or further:
        yield from (*(relevant or ("",)), *further)


def _tails(kit: Kit, workload: str) -> Iterator[tuple[float, str]]:
    """Sentences with the share of a tail's size by which it differs, at most."""
    alike: dict[tuple[str, int], list[Tail]] = {}
    for tail in pgbench_found(kit.analysis).tails:
        if tail.workload == workload and (tail.old, tail.new) in sides_told(kit, workload):
            differing = tuple(_tail(kit, tail))
            yield from differing
            known = sum(level.change.low is not None for level in tail.levels)
            if known and not differing:
                alike.setdefault((tail.old, known), []).append(tail)
    for (old, count), same in alike.items():
        key = "discussion.tail.same" if len(same) == 1 else "discussion.tail.same-several"
        new = sides_text(kit, (tail.new for tail in same))
        yield 0.0, kit.t.plural(key, count, old=kit.names.titled(old), new=new)


def _tail(kit: Kit, tail: Tail) -> Iterator[tuple[float, str]]:
    """The levels at which it differs, and that at which it does so most, as a share of its size."""
    certain = [level for level in tail.levels if level.change.certain]
    for direction, sign in (("longer", 1), ("shorter", -1)):
        levels = [level for level in certain if level.change.difference * sign > 0]
        if levels:
            most = max(levels, key=_growth)
            yield _growth(most), _differs(kit, tail, direction, levels, most)


def _growth(level: TailLevel) -> float:
    return abs(level.change.difference) / max(level.old, level.new)


def _differs(
    kit: Kit, tail: Tail, direction: str, levels: Sequence[TailLevel], most: TailLevel
) -> str:
    return kit.t(
        f"discussion.tail.{direction}" + ("-at" if len(levels) == 1 else ""),
        levels=levels_text(kit, [level.context for level in levels], len(tail.levels)),
        level=level_text(kit, most.context),
        **tail_values(kit.t, kit.analysis, tail, most),
        old=kit.names.titled(tail.old),
        new=kit.names.titled(tail.new),
    )


def tail_values(
    t: Texts, analysis: CampaignAnalysis, tail: Tail, level: TailLevel
) -> dict[str, str]:
    """In milliseconds: both tails, their difference and its interval, with its share of α."""
    alpha = analysis.plan.study.measure.alpha / len(tail.levels)
    digits = change_decimals(level.change, MILLI)
    return {
        "old_value": significant(level.old * MILLI),
        "new_value": significant(level.new * MILLI),
        "difference": fixed(level.change.difference * MILLI, digits, signed=True),
        "confidence": confidence_percent(t, 1 - alpha),
        "interval": change_interval(t, level.change, MILLI),
    }
