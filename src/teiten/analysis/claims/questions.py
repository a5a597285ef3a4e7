"""Predicates of claims as questions: where must which mean of logarithms lie?

Everything that a predicate asks is a mean over blocks of a logarithm of a ratio, and two bounds, so
that measured curves (with an interval) and published ones (without) are asked the same.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from teiten.analysis.claims.curves import Curve, log_changes
from teiten.model.claims import (
    Bounds,
    CheckKind,
    CurvePredicate,
    Effect,
    Flat,
    FunctionShare,
    Linear,
    NoDifference,
    Plateau,
    Proportional,
    Reason,
    Rising,
    Span,
)

AT_CORES = 0.75
"""The level "at the cores" is the greatest one not above them, and not below this share."""


@dataclass(frozen=True)
class Question:
    """Does the mean of ``values`` lie between ``low`` and ``high`` (logarithms)?"""

    kind: CheckKind
    sides: tuple[str, ...]
    at: tuple[float, ...]
    values: tuple[float, ...]
    """One for each block that has all it takes; NaN where a metric was zero or infinite."""
    low: float
    high: float
    classes: tuple[tuple[str, ...], ...] = ()
    """As in ``Check``."""
    server: str = ""
    metric: str = ""


@dataclass(frozen=True)
class Ground:
    """What else a predicate is asked with."""

    cores: int
    delta: float


class UnmetError(Exception):
    """The curves do not reach where a predicate looks."""

    def __init__(self, code: str, **values: str) -> None:
        super().__init__(code)
        self.reason = Reason(code, tuple(values.items()))


def questions(
    predicate: CurvePredicate, curves: Sequence[Curve], ground: Ground
) -> tuple[Question, ...] | Reason:
    """What a predicate asks of curves, or why it cannot be asked."""
    try:
        return tuple(_ask(predicate, curves, ground))
    except UnmetError as unmet:
        return unmet.reason


def _ask(predicate: CurvePredicate, curves: Sequence[Curve], ground: Ground) -> Iterator[Question]:
    match predicate:
        case Effect(parts) | FunctionShare(_, parts):
            for part in parts:
                yield from _effect(part, curves[0], curves[1], ground.cores)
        case NoDifference():
            part = within_delta(ground.delta)
            yield from _effect(part, curves[0], curves[1], ground.cores)
        case _:
            for curve in curves:
                yield from _shape(predicate, curve, ground.cores)


def _shape(predicate: CurvePredicate, curve: Curve, cores: int) -> Iterator[Question]:
    match predicate:
        case Plateau(within):
            yield from _plateau(curve, within, cores)
        case Linear(within):
            yield from _linear(curve, within, cores)
        case Rising(to, slower_beyond):
            yield from _rising(curve, to, slower_beyond, cores)
        case Flat():
            yield from _flat(curve, predicate, cores)
        case Proportional(within):
            yield from _proportional(curve, within)


def within_delta(delta: float) -> Bounds:
    """What "no difference" asks of every level."""
    return Bounds(1 / (1 + delta), 1 + delta, each=True)


def level_groups(part: Bounds, old: Curve, new: Curve, cores: int) -> list[list[float]]:
    """The levels over each of which a bound asks for one mean. Raises UnmetError for none."""
    levels = [level for level in old.within(part.span, cores) if level in new.points]
    if not levels:
        raise _beyond_reach(part.span)
    return [[level] for level in levels] if part.each else [levels]


def _effect(part: Bounds, old: Curve, new: Curve, cores: int) -> Iterator[Question]:
    for group in level_groups(part, old, new, cores):
        changes = [log_changes(old, level, new, level) for level in group]
        yield Question(
            CheckKind.CONTRAST,
            (old.side, new.side),
            tuple(group),
            _means(changes),
            log_bound(part.low, -math.inf),
            log_bound(part.high, math.inf),
        )


def _plateau(curve: Curve, within: float | None, cores: int) -> Iterator[Question]:
    at = _at_cores(curve, cores)
    before = [level for level in curve.levels if level <= at]
    beyond = [level for level in curve.levels if level > max(at, cores)]
    if len(before) < 2 or not beyond:
        raise UnmetError("levels-around-cores")
    yield from _steps(curve, before)
    bounds = (-math.inf, 0.0) if within is None else around(within)
    for level in beyond:
        yield _between(curve, at, level, *bounds)


def _linear(curve: Curve, within: float, cores: int) -> Iterator[Question]:
    levels = [level for level in curve.levels if level >= AT_CORES * cores]
    if len(levels) < 3:
        raise UnmetError("levels-from-cores")
    first, last = levels[0], levels[-1]
    yield _between(curve, first, last, 0.0, math.inf)
    for level in levels[1:-1]:
        yield Question(
            CheckKind.LINE,
            (curve.side,),
            (first, level, last),
            _from_line(curve, first, level, last),
            *around(within),
        )


def _rising(curve: Curve, to: float, slower: bool, cores: int) -> Iterator[Question]:
    levels = [level for level in curve.levels if level <= to * cores]
    if len(levels) < 2 or levels[-1] < AT_CORES * to * cores:
        raise _beyond_reach(Span(most=to))
    yield from _steps(curve, levels)
    if not slower:
        return
    beyond = [level for level in curve.levels if level > to * cores]
    if not beyond:
        raise _beyond_reach(Span(least=to))
    first, turn, last = levels[0], levels[-1], beyond[-1]
    yield Question(
        CheckKind.LINE,
        (curve.side,),
        (first, turn, last),
        _from_line(curve, first, turn, last),
        0.0,
        math.inf,
    )


def _flat(curve: Curve, predicate: Flat, cores: int) -> Iterator[Question]:
    span = predicate.span
    levels = curve.within(span, cores)
    reached = span.most is None or (bool(levels) and levels[-1] >= AT_CORES * span.most * cores)
    if len(levels) < 2 or not reached:
        raise _beyond_reach(span)
    for level in levels[1:]:
        yield _between(curve, levels[0], level, *around(predicate.within))
    if predicate.rises_beyond:
        beyond = [level for level in curve.levels if level > levels[-1]]
        if not beyond:
            raise _beyond_reach(Span(least=span.most))
        yield _between(curve, levels[-1], beyond[-1], 0.0, math.inf)


def _proportional(curve: Curve, within: float) -> Iterator[Question]:
    first, *others = curve.levels or (0.0,)
    if not others:
        raise UnmetError("levels-of-cores")
    for level in others:
        values = (
            change - math.log(level / first)
            for change in log_changes(curve, first, curve, level).values()
        )
        yield Question(
            CheckKind.PER_CORE, (curve.side,), (first, level), tuple(values), *around(within)
        )


def _steps(curve: Curve, levels: Sequence[float]) -> Iterator[Question]:
    """Every level is above the one before."""
    for lower, higher in itertools.pairwise(levels):
        yield _between(curve, lower, higher, 0.0, math.inf)


def _between(curve: Curve, first: float, second: float, low: float, high: float) -> Question:
    changes = log_changes(curve, first, curve, second)
    return Question(
        CheckKind.LEVELS, (curve.side,), (first, second), tuple(changes.values()), low, high
    )


def _from_line(curve: Curve, first: float, middle: float, last: float) -> tuple[float, ...]:
    """ln(value / straight line through the ends) at a middle level; NaN as in log_changes."""
    ends = (curve.points[first], curve.points[middle], curve.points[last])
    weight = (middle - first) / (last - first)
    found = []
    for block in sorted(set.intersection(*(set(one) for one in ends))):
        start, value, end = (one[block] for one in ends)
        line = start + weight * (end - start)
        usable = min(start, value, end) > 0 and math.isfinite(value + line)
        found.append(math.log(value / line) if usable else math.nan)
    return tuple(found)


def _at_cores(curve: Curve, cores: int) -> float:
    levels = [level for level in curve.levels if AT_CORES * cores <= level <= cores]
    if not levels:
        raise UnmetError("levels-around-cores")
    return levels[-1]


def _means(changes: Sequence[Mapping[int, float]]) -> tuple[float, ...]:
    """The mean over the levels, of each block that has them all."""
    blocks = set.intersection(*(set(one) for one in changes))
    return tuple(
        math.fsum(one[block] for one in changes) / len(changes) for block in sorted(blocks)
    )


def around(share: float) -> tuple[float, float]:
    """The band of a share: from 1 - share to its reciprocal, so that it is symmetric in ratios."""
    return math.log1p(-share), -math.log1p(-share)


def log_bound(bound: float | None, otherwise: float) -> float:
    return otherwise if bound is None else math.log(bound)


def _beyond_reach(span: Span) -> UnmetError:
    if span.clients is not None:
        return UnmetError("levels-clients", clients=str(span.clients))
    if span.most is None:
        return UnmetError("levels-beyond", least=f"{span.least or 0:g}")
    return UnmetError("levels-up-to", most=f"{span.most:g}")
