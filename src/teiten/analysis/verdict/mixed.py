"""Levels that contradict their mean (METHOD.md, Verdicts): the mean of 28 times as fast and a tenth
slower is a number that no user will ever see.

Only what is decided counts: the levels' intervals hold together, so that a statement about two of
them is as sure as the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from teiten.analysis.model.findings import LevelResult
from teiten.analysis.model.verdict import BY_SIGN, Extreme, Interval, Verdict, VerdictKind
from teiten.analysis.verdict.verdict import LEVELS_DIFFER, NOT_AVERAGED, Rule, log_of, withheld
from teiten.kinds.contract import plan_of
from teiten.model.plan import Context, Plan
from teiten.model.quantities import is_number, parse_size
from teiten.model.study import SERVER

WITHIN_DELTA = (VerdictKind.EQUIVALENT, VerdictKind.DIFFERENT_BUT_SMALL)


def over_levels(
    mean: Verdict, levels: Sequence[LevelResult], rule: Rule, *, averaged: bool = True
) -> Verdict:
    """The verdict over several levels: that of their mean, or ``mixed``.

    Mixed where one level is decided to be slower and another to be faster, or where one is either
    and the levels differ, beyond their intervals, by more than the mean itself and by more than δ.

    ``averaged``: whether a mean over these levels means something by itself. Where it does not, it
    stands only for levels that all say the same.
    """
    if not rule.worded or mean.effect is None or len(levels) < 2:
        return mean
    extremes = _contradiction(mean.effect, levels, rule)
    if extremes is not None:
        mixed = withheld(mean, LEVELS_DIFFER)
        return replace(mixed, kind=VerdictKind.MIXED, extremes=extremes)
    if not averaged and not _agree(mean.kind, [level.verdict.kind for level in levels]):
        return withheld(mean, NOT_AVERAGED)
    return mean


def is_averaged(plan: Plan, workload: str, contexts: Sequence[Context]) -> bool:
    """Whether a mean over levels means something by itself: over amounts (clients, sizes), over the
    servers, which reports name, and over what the workload's kind measures as one piece of work;
    but not over scenarios, methods or kinds of scan."""
    kind = plan_of(plan.study.workload(workload).kind)
    varied: dict[str, set[str]] = {}
    for context in contexts:
        for factor, level in context:
            varied.setdefault(factor, set()).add(level)
    return all(
        len(levels) < 2
        or factor == SERVER
        or factor in kind.averaged
        or all(map(_is_amount, levels))
        for factor, levels in varied.items()
    )


def _contradiction(
    mean: Interval, levels: Sequence[LevelResult], rule: Rule
) -> tuple[Extreme, Extreme] | None:
    known = [
        Extreme(level.context, level.verdict.kind, level.verdict.effect)
        for level in levels
        if level.verdict.effect is not None
    ]
    kinds = {extreme.kind for extreme in known}
    if kinds.isdisjoint(BY_SIGN):
        return None
    least = min(extreme.effect.high for extreme in known)
    most = max(extreme.effect.low for extreme in known)
    opposite = kinds.issuperset(BY_SIGN)
    differ = log_of(most) - log_of(least) > max(abs(log_of(mean.ratio)), rule.band)
    return _extremes(known) if opposite or differ else None


def _extremes(known: Sequence[Extreme]) -> tuple[Extreme, Extreme]:
    """The outermost levels: on each side of 1 those first that are slower or faster. A gate asks
    the levels that are named, and a small difference must not hide one that matters."""

    def matters(extreme: Extreme, sign: int) -> bool:
        return extreme.kind in BY_SIGN and extreme.effect.sign == sign

    least = min(known, key=lambda extreme: (not matters(extreme, -1), extreme.effect.high))
    most = max(known, key=lambda extreme: (matters(extreme, 1), extreme.effect.low))
    return least, most


def _agree(mean: VerdictKind, levels: Sequence[VerdictKind]) -> bool:
    """Whether each level by itself says what the mean does."""
    if mean in BY_SIGN:
        return set(levels) == {mean}
    return mean is not VerdictKind.INCONCLUSIVE and set(levels) <= set(WITHIN_DELTA)


def _is_amount(level: str) -> bool:
    """A number, a share or a size."""
    text = level.removesuffix("%")
    try:
        parse_size(text, unitless=1)
    except ValueError:
        return is_number(text)
    return True
