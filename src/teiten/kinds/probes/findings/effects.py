"""How much the contrasted factor changes a probe, and which side wins, by declared thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from teiten.analysis.model.verdict import Interval, Verdict, VerdictKind
from teiten.kinds.probes.findings.estimates import arithmetic
from teiten.kinds.probes.findings.tried import Sides, Tried
from teiten.kinds.probes.measurement import PageOrigin
from teiten.kinds.probes.metrics import PROBE_TIME
from teiten.kinds.probes.model import Probe
from teiten.kinds.probes.results import EffectFound, SidePair
from teiten.kinds.probes.thresholds import NONE_WITHIN, Size, size_of
from teiten.model.units import Seconds

DECIDED = (VerdictKind.FASTER, VerdictKind.SLOWER, VerdictKind.DIFFERENT_BUT_SMALL)


@dataclass(frozen=True)
class Yardstick:
    """The time by which the effects of a probe are measured."""

    seconds: Seconds | None
    of_checkpoint: bool = False


def disk_read(trials: Iterable[Tried]) -> Seconds | None:
    """The mean time of the statements whose page came from the disk; None without any."""
    found = [
        statement.seconds
        for trial in trials
        for statement in trial.statements
        if statement.origin is PageOrigin.DISK
    ]
    return Seconds(fmean(found)) if found else None


def yardstick(probe: Probe, trials: Iterable[Tried], disk: Seconds | None) -> Yardstick:
    """A probe of checkpoints is measured by those that wait for the disk."""
    checkpoints = [checkpoint for trial in trials for checkpoint in trial.measurement.checkpoints]
    if not checkpoints:
        return Yardstick(disk)
    whole = [checkpoint.seconds for checkpoint in checkpoints if checkpoint.step != probe.number_of]
    return Yardstick(Seconds(median(whole)) if whole else None, of_checkpoint=True)


def effect_of(
    sides: Sides, pairs: Sequence[SidePair], by: Yardstick, alpha: float
) -> EffectFound | None:
    """None where fewer than two sides have a number."""
    numbers = {
        side: found for side, trials in sides.items() if (found := _mean_log(trials)) is not None
    }
    known = [pair for pair in pairs if pair.old in numbers and pair.new in numbers]
    if not known:
        return None
    best = min(numbers, key=lambda side: numbers[side])
    worst = max(numbers, key=lambda side: numbers[side])
    towards = (_towards(one, best, worst) for one in known)
    verdict = next((toward for toward in towards if toward is not None), None)
    added = arithmetic(_added(sides[worst], sides[best]), alpha)
    if verdict is None or added is None:
        return None
    least, most = _between(verdict, added.low, added.high, by.seconds)
    return EffectFound(
        best=best,
        worst=worst,
        verdict=verdict,
        added=added,
        measure=by.seconds,
        of_checkpoint=by.of_checkpoint,
        least=least,
        most=most,
        winners=tuple(numbers) if most is Size.NONE else _winners(tuple(numbers), known),
    )


def slower_of(one: SidePair) -> tuple[str, str] | None:
    """The slower and the faster side of a pair that was decided."""
    effect = one.verdict.effect
    if one.verdict.kind not in DECIDED or effect is None:
        return None
    return (one.new, one.old) if effect.ratio > 1 else (one.old, one.new)


def _towards(one: SidePair, old: str, new: str) -> Verdict | None:
    """The verdict of new against old, from the pair of the two in either order: exchanging them
    inverts the ratio and mirrors the verdict."""
    if (one.old, one.new) == (old, new):
        return one.verdict
    if (one.new, one.old) != (old, new):
        return None
    effect, verdict = one.verdict.effect, one.verdict
    mirrored = {
        VerdictKind.FASTER: VerdictKind.SLOWER,
        VerdictKind.SLOWER: VerdictKind.FASTER,
    }
    return replace(
        verdict,
        kind=mirrored.get(verdict.kind, verdict.kind),
        effect=None
        if effect is None
        else Interval(1 / effect.ratio, 1 / effect.high, 1 / effect.low, effect.confidence),
    )


def _mean_log(trials: Mapping[int, Tried]) -> float | None:
    found = [trial.metrics.get(PROBE_TIME.name, math.nan) for trial in trials.values()]
    logs = [math.log(value) for value in found if value > 0]
    return fmean(logs) if logs else None


def _added(worst: Mapping[int, Tried], best: Mapping[int, Tried]) -> list[float]:
    """By how much a statement takes longer, of each block that has both."""
    return [
        _each(worst[block]) - _each(best[block]) for block in sorted(worst.keys() & best.keys())
    ]


def _each(one: Tried) -> float:
    """The mean time of a statement, those among them that swept; without statements the number."""
    statements = one.statements
    if statements:
        return fmean(each.seconds for each in statements)
    return one.metrics.get(PROBE_TIME.name, math.nan)


def _between(
    verdict: Verdict, low: float | None, high: float | None, by: Seconds | None
) -> tuple[Size, Size]:
    """The least and the greatest size that the intervals leave."""
    if verdict.kind is VerdictKind.EQUIVALENT:
        return Size.NONE, Size.NONE
    decided = verdict.kind in DECIDED
    least = Size.SMALL if decided else Size.NONE
    if by is None or low is None or high is None:
        return least, Size.LARGE
    if not decided and max(-low, high) <= NONE_WITHIN * by:
        return Size.NONE, Size.NONE
    if decided and low > 0:
        least = size_of(low / by)
    return least, size_of(max(0.0, high) / by)


def _winners(sides: Sequence[str], pairs: Sequence[SidePair]) -> tuple[str, ...]:
    decided = [found for pair in pairs if (found := slower_of(pair)) is not None]
    if not decided:
        return ()
    slower = {one for one, _ in decided}
    return tuple(side for side in sides if side not in slower)
