"""The noise of a machine from a null campaign: deviation, autocorrelation, false alarms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from teiten.analysis.verdict.changes import half_width_of
from teiten.analysis.verdict.drift import lag_one
from teiten.analysis.verdict.pairs import by_start, observe, pair
from teiten.analysis.verdict.sequential import patient_half_width
from teiten.analysis.verdict.verdict import NO_VARIANCE, mean_and_deviation
from teiten.kinds.metrics import judged_in
from teiten.model.noise import NOISE, Bias, NoiseFloor
from teiten.model.plan import Context, Plan
from teiten.model.study import Measure
from teiten.model.trial import Attempt, Event, FloatArray
from teiten.model.units import Share

COMPARISONS = 2_000
LOOKS = 30
"""Pairs of a resampled comparison."""
NORMAL_MAD = 1.482602218505602
"""Deviation of a normal distribution by its median absolute deviation."""


@dataclass(frozen=True)
class Noise:
    """The noise of one workload at one context."""

    workload: str
    context: Context
    pairs: int
    deviation: float
    robust_deviation: float
    lag_one: float | None
    false_alarms: Share
    bias: Bias | None


def noise(plan: Plan, attempts: Iterable[Attempt]) -> Iterator[Noise]:
    """Estimate the noise of each workload and context of a null campaign; those without an estimate
    are left out."""
    factor = plan.study.factor(plan.study.contrast)
    old, new = factor.levels[:2] if factor is not None else ("", "")
    known = tuple(attempts)
    observations = observe(plan, known)
    places = dict.fromkeys(
        (observation.workload, observation.context) for observation in observations
    )
    for workload, context in places:
        mine = [observation for observation in observations if observation.workload == workload]
        metric = judged_in(plan, workload).name
        paired = pair(mine, context=context, metric=metric, old=old, new=new)
        d = list(by_start(plan, known, paired.log_ratios).values())
        if len(d) < 3:
            continue
        _, deviation = mean_and_deviation(d)
        if deviation >= NO_VARIANCE:
            yield Noise(
                workload,
                context,
                len(d),
                deviation,
                robust_deviation(d),
                lag_one(d),
                false_alarm_rate(d, plan.study.measure.alpha),
                bias_of(d, plan.study.measure),
            )


def bias_of(log_ratios: Sequence[float], measure: Measure) -> Bias | None:
    """The mean that ``false_alarm_rate`` takes off, by the interval of the campaign's design; None
    where that is infinite."""
    mean, deviation = mean_and_deviation(log_ratios)
    half = half_width_of(measure)(deviation, len(log_ratios), measure.alpha)
    return Bias(mean, mean - half, mean + half) if math.isfinite(half) else None


def robust_deviation(log_ratios: Sequence[float]) -> float:
    """The deviation that a normal distribution of this median absolute deviation has."""
    values = np.asarray(log_ratios)
    return float(NORMAL_MAD * np.median(np.abs(values - np.median(values))))


def false_alarm_rate(log_ratios: Sequence[float], alpha: float, seed: int = 1) -> Share:
    """How many sequential comparisons of equal sides would have found a difference.

    ``log_ratios``: of a null campaign, in block order. Comparisons of LOOKS pairs are resampled
    from runs of neighbouring pairs (a circular block bootstrap, so that autocorrelation stays) and
    each run gets a sign at random: which of two equal sides is called A is arbitrary. The mean is
    taken off first, or else it would look like autocorrelation; ``bias_of`` tells it. Of 20
    independent pairs the result scatters from about 0 to 9 % around the true 2.5 %: a warning, not
    a measurement of the rule.
    """
    values = np.asarray(log_ratios, dtype=np.float64)
    values = values - values.mean()
    random = np.random.default_rng(seed)
    length = max(1, round(len(values) ** (1 / 3)))
    runs = math.ceil(LOOKS / length)
    starts = random.integers(0, len(values), (COMPARISONS, runs, 1))
    signs = random.choice((-1.0, 1.0), (COMPARISONS, runs, 1))
    drawn = signs * values[(starts + np.arange(length)) % len(values)]
    return Share(float(np.mean(_alarms(drawn.reshape(COMPARISONS, -1)[:, :LOOKS], alpha))))


def recorded_noise(events: Iterable[Event]) -> tuple[NoiseFloor, ...]:
    """The noise floors that were known when a campaign began; unreadable ones are left out."""
    floors = (_floor(event.detail) for event in events if event.kind == NOISE)
    return tuple(floor for floor in floors if floor is not None)


def _floor(detail: dict[str, Any]) -> NoiseFloor | None:
    try:
        bias = detail.get("bias")
        return NoiseFloor(**{**detail, "bias": Bias(**bias) if bias else None})
    except TypeError:  # of a Teiten that knew other things of noise
        return None


def _alarms(drawn: FloatArray, alpha: float) -> FloatArray:
    """Whether each row (a comparison), looked at after every pair, ever excludes 0: 1 or 0."""
    counts = np.arange(1, drawn.shape[1] + 1)
    means = np.cumsum(drawn, axis=1) / counts
    squares = np.cumsum(drawn**2, axis=1) - counts * means**2
    deviations = np.sqrt(np.maximum(squares[:, 1:], 0.0) / counts[:-1])
    widths = np.array([patient_half_width(1.0, int(pairs), alpha) for pairs in counts[1:]])
    finite = np.isfinite(widths)
    beyond = np.abs(means[:, 1:][:, finite]) > deviations[:, finite] * widths[finite]
    alarms: FloatArray = np.any(beyond, axis=1).astype(np.float64)
    return alarms
