"""Questions that predicates ask: where must which mean of logarithms lie?

Everything that a predicate asks is a mean over blocks of a logarithm of a ratio, and two bounds, so
that measured curves (with an interval) and published ones (without) are asked the same.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from teiten.analysis.model.claims import Check, CheckKind, ClaimQuestion, ClaimWords
from teiten.analysis.model.evidence import Blocks
from teiten.analysis.model.predicate import UnmetError
from teiten.claims.curves import ClaimCurve, level_changes
from teiten.claims.forms import Bounds, Span

AT_CORES = 0.75
"""The level "at the cores" is the greatest one not above them, and not below this share."""


def level_groups(part: Bounds, old: ClaimCurve, new: ClaimCurve, cores: int) -> list[list[float]]:
    """The levels over each of which a bound asks for one mean. Raises UnmetError for none."""
    levels = [level for level in old.within(part, cores) if level in new.points]
    if not levels:
        raise beyond_reach(part)
    return [[level] for level in levels] if part.each else [levels]


def steps(curve: ClaimCurve, levels: Sequence[float]) -> Iterator[ClaimQuestion]:
    """Every level is above the one before."""
    for lower, higher in itertools.pairwise(levels):
        yield between(curve, lower, higher, 0.0, math.inf)


def between(
    curve: ClaimCurve, first: float, second: float, low: float, high: float
) -> ClaimQuestion:
    changes = level_changes(curve, first, curve, second)
    return ClaimQuestion(LEVELS, (curve.side,), (first, second), changes, low, high)


def from_line(curve: ClaimCurve, first: float, middle: float, last: float) -> Blocks:
    """ln(value / straight line through the ends) at a middle level; NaN as in level_changes."""
    ends = (curve.points[first], curve.points[middle], curve.points[last])
    weight = (middle - first) / (last - first)
    changes: dict[int, float] = {}
    for block in sorted(set.intersection(*(set(end) for end in ends))):
        start, value, end = (end[block] for end in ends)
        line = start + weight * (end - start)
        usable = min(start, value, end) > 0 and math.isfinite(value + line)
        changes[block] = math.log(value / line) if usable else math.nan
    return changes


def at_cores(curve: ClaimCurve, cores: int) -> float:
    levels = [level for level in curve.levels if AT_CORES * cores <= level <= cores]
    if not levels:
        raise UnmetError("levels-around-cores")
    return levels[-1]


def around(share: float) -> tuple[float, float]:
    """The band of a share: from 1 - share to its reciprocal, so that it is symmetric in ratios."""
    return math.log1p(-share), -math.log1p(-share)


def beyond_reach(span: Span) -> UnmetError:
    if span.clients is not None:
        return UnmetError("levels-clients", clients=str(span.clients))
    if span.most is None:
        return UnmetError("levels-beyond", least=f"{span.least or 0:g}")
    return UnmetError("levels-up-to", most=f"{span.most:g}")


def _contrast(check: Check, words: ClaimWords) -> str:
    old, *_, new = (words.side(side) for side in check.sides)
    if len(check.at) == 1:
        return words.plural("claim.contrast", round(check.at[0]), old=old, new=new)
    levels = words("list.separator").join(words.number(level) for level in check.at)
    return words("claim.contrast-mean", old=old, new=new, levels=levels)


def _levels(check: Check, words: ClaimWords) -> str:
    first, second = (words.number(level) for level in check.at)
    return words("claim.levels", side=words.side(check.sides[0]), first=first, second=second)


def _line(check: Check, words: ClaimWords) -> str:
    first, middle, last = (words.number(level) for level in check.at)
    side = words.side(check.sides[0])
    return words("claim.line", side=side, first=first, middle=middle, last=last)


CONTRAST = CheckKind("contrast", _contrast, of_sides=True)
"""New and old, at the levels named."""
LEVELS = CheckKind("levels", _levels)
"""The second level and the first."""
LINE = CheckKind("line", _line)
"""The middle level and the straight line through the others."""
