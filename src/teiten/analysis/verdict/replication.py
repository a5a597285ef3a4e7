"""Where variance arises, and so how long a trial should be (Kalibera & Jones, Rigorous Benchmarking
in Reasonable Time, 2013): repeat at the level that varies.

ln TPS of a trial of T seconds varies by between² + within²/T. A longer trial averages away only the
second part, and costs T beside its fixed seconds (restore, start, prewarm, settle, warm-up, stop).
For a given total time the mean of many trials is the most precise at

    T = √(fixed) · within / between
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from teiten.analysis.model.replication import REPLICATION, NoiseSource, Replication
from teiten.analysis.verdict.sequential import least_pairs, pairs_for
from teiten.kinds.metrics import judged_in
from teiten.model.plan import Plan
from teiten.model.trial import Event, FloatArray, Trial
from teiten.model.units import Seconds

SHORTEST, LONGEST = 5, 60
"""Seconds of a trial; what is longer is several pairs of one start of the servers."""
TOTALS = (*range(SHORTEST, LONGEST + 1), 90, 120, 180, 240, 300)
"""Measured seconds of one start from which is chosen."""
SLICE_COST = 1.15
"""Seconds that a slice of one second takes."""
FEWEST_SECONDS = 4
"""The fewest seconds of a series from which the variance inside of a trial can be estimated."""


@dataclass(frozen=True)
class Components:
    """The parts of the variance of ln TPS, as deviations."""

    between: float
    """From trial to trial, whatever their length."""
    within: float
    """The deviation of one second of a trial, autocorrelation counted in."""
    fixed: Seconds
    """Seconds of a trial besides the measured ones."""

    @property
    def best_duration(self) -> Seconds | None:
        """None where trials differ no more than their seconds explain: the longer the better."""
        if self.between <= 0:
            return None
        return Seconds(math.sqrt(self.fixed) * self.within / self.between)


@dataclass(frozen=True)
class Length:
    """How long to measure after each start of a side's server."""

    duration: Seconds
    """Measured seconds of a trial."""
    pairs_of_a_start: int
    expected: int | None
    """How many starts a difference of the size asked for is expected to take."""


def choose_length(
    parts: Components, *, effect: float, alpha: float, seconds: Seconds, longest: int | None = None
) -> Length:
    """The length of trials with which a difference is found soonest.

    The pairs that a sequential comparison needs fall with the variance of one start,
    2 · (between² + within²/T), and each start takes its fixed seconds and T; so the time is
    least near the length of Kalibera & Jones where the noise is large, and where it is small,
    the shortest will do. ``effect``: a share; ``seconds``: that are left for all pairs, into which
    as many must fit as an interval needs; ``longest``: seconds after one start, at most.
    """
    fewest = least_pairs(alpha)
    totals = [total for total in TOTALS if longest is None or total <= longest] or [SHORTEST]
    fitting = [total for total in totals if fewest * _pair_seconds(parts, total) <= seconds]

    def time(total: int) -> float:
        pairs = pairs_for(effect, _pair_deviation(parts, total), alpha)
        return math.inf if pairs is None else max(pairs, fewest) * _pair_seconds(parts, total)

    best = min(fitting or totals[:1], key=time)
    pairs = math.ceil(best / LONGEST)
    expected = pairs_for(effect, _pair_deviation(parts, best), alpha)
    return Length(Seconds(float(math.ceil(best / pairs))), pairs, expected)


def _pair_deviation(parts: Components, total: float) -> float:
    return math.sqrt(2 * (parts.between**2 + parts.within**2 / total))


def _pair_seconds(parts: Components, total: float) -> float:
    return 2 * (parts.fixed + SLICE_COST * total)


def pilot_components(
    starts: Sequence[Sequence[float]], slice_seconds: Seconds, fixed: Seconds
) -> Components | None:
    """The parts of the variance from the slices of a pilot, by the analysis of variance of one
    way, starts by slices (Searle, Linear Models, 1971, ch. 9).

    ``starts``: of each start of both servers, d = ln(B/A) of its slices. None of fewer than two
    starts with two slices each, or where nothing varies.
    """
    usable = [start for start in starts if len(start) >= 2]
    freedom = sum(len(start) - 1 for start in usable)
    if len(usable) < 2:
        return None
    within = math.fsum(float(np.var(start)) * len(start) for start in usable) / freedom
    means = float(np.var([float(np.mean(start)) for start in usable], ddof=1))
    slices = len(usable) / math.fsum(1 / len(start) for start in usable)
    between = max(0.0, means - within / slices)
    if within <= 0:
        return None
    return Components(math.sqrt(between / 2), math.sqrt(within / 2 * slice_seconds), fixed)


def recorded_replication(events: Iterable[Event]) -> Replication | None:
    """How the length of a campaign's trials was chosen; None where it was not."""
    for event in events:
        if event.kind == REPLICATION:
            try:
                replication = Replication(**event.detail)
                return replace(replication, source=NoiseSource(replication.source))
            except (TypeError, ValueError):  # of a Teiten that knew other things of it
                return None
    return None


def slices_by_start(plan: Plan, trials: Iterable[Trial]) -> list[list[float]]:
    """d = ln(B/A) of each pair of slices, by start of the servers.

    ``trials``: counted ones of one workload and context, with their slices in the facts.
    """
    planned = {trial.number: trial for trial in plan.trials}
    old = next(iter(plan.study.contrasted_levels), "")
    by_pair: dict[tuple[int, int], dict[bool, list[float | None]]] = {}
    for trial in trials:
        planned_trial = planned[trial.number]
        judged = judged_in(plan, planned_trial.cell.workload).name
        values = [metrics.get(judged) for metrics in trial.facts.get("slices", [])]
        pair = by_pair.setdefault((planned_trial.restart, planned_trial.block), {})
        pair[planned_trial.cell.level(plan.study.contrast) == old] = values
    starts: dict[int, list[float]] = {}
    for (start, _), pair in by_pair.items():
        if len(pair) == 2:
            starts.setdefault(start, []).extend(
                math.log(after / before)
                for before, after in zip(pair[True], pair[False], strict=False)
                if before and after
            )
    return list(starts.values())


def components(
    pair_deviation: float, duration: Seconds, fixed: Seconds, series: Iterable[FloatArray]
) -> Components | None:
    """From a null campaign.

    ``pair_deviation``: of d = ln(B/A); ``duration``: measured seconds of a trial; ``fixed``: its
    other seconds; ``series``: TPS per second of each trial. None where no series is long enough.
    """
    estimates = map(long_run_variance, series)
    variances = [variance for variance in estimates if variance is not None]
    if not variances or duration <= 0:
        return None
    variance = math.fsum(variances) / len(variances)
    between = pair_deviation**2 / 2 - variance / duration
    return Components(math.sqrt(max(0.0, between)), math.sqrt(variance), fixed)


def long_run_variance(values: FloatArray) -> float | None:
    """The relative variance of one second that the mean of many neighbouring ones shows.

    By the means of batches of √n seconds, so that autocorrelation within a batch counts. None of
    too few finite values, or of a mean that is not positive.
    """
    finite = values[np.isfinite(values)]
    if len(finite) < FEWEST_SECONDS or finite.mean() <= 0:
        return None
    length = math.isqrt(len(finite))
    batches = len(finite) // length
    means = finite[: batches * length].reshape(batches, length).mean(axis=1) / finite.mean()
    return float(length * means.var(ddof=1))
