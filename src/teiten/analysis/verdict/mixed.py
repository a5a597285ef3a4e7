"""Levels that contradict their mean (METHOD.md, Verdicts): the mean of 28 times as fast and a tenth
slower is a number that no user will ever see.

Only what is decided counts: the levels' intervals hold together, so that a statement about two of
them is as sure as the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from teiten.analysis.model.findings import LevelResult
from teiten.analysis.model.verdict import BY_SIGN, Extreme, Verdict, VerdictKind
from teiten.analysis.verdict.verdict import LEVELS_DIFFER, Rule, withheld


def over_levels(mean: Verdict, levels: Sequence[LevelResult], rule: Rule) -> Verdict:
    """The verdict over several levels: that of their mean, or ``mixed``.

    Mixed where one level is decided to be slower and another to be faster, or where one is either
    and the levels differ, beyond their intervals, by more than the mean itself and by more than δ.
    """
    known = [
        Extreme(one.context, one.verdict.kind, one.verdict.effect)
        for one in levels
        if one.verdict.effect is not None
    ]
    kinds = {one.kind for one in known}
    if not rule.worded or mean.effect is None or kinds.isdisjoint(BY_SIGN):
        return mean
    least = min(known, key=lambda one: one.effect.high)
    most = max(known, key=lambda one: one.effect.low)
    if not kinds.issuperset(BY_SIGN):
        apart = _log(most.effect.low) - _log(least.effect.high)
        if apart <= max(abs(_log(mean.effect.ratio)), rule.band):
            return mean
    mixed = withheld(mean, LEVELS_DIFFER)
    return replace(mixed, kind=VerdictKind.MIXED, extremes=(least, most))


def _log(ratio: float) -> float:
    return math.log(ratio) if ratio > 0 else -math.inf
