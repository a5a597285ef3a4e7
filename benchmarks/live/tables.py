"""The record as the tables of docs/concepts/trust.md."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, median, stdev

import numpy as np
from scipy import stats

from benchmarks.figures import binomial_interval, percent, row
from benchmarks.live.comparison import Outcome

THRESHOLD = 0.02
"""From which on the reports would have spoken of a difference."""
DIFFERENT = frozenset({"slower", "faster", "different-but-small"})


def tables(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield from ["", *nulls([outcome for outcome in outcomes if outcome.kind == "null"])]
    yield from ["", *effects(outcomes)]


def nulls(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """How often equal servers were called different, with an exact interval."""
    if not outcomes:
        return
    alarms = sum(outcome.verdict in DIFFERENT for outcome in outcomes)
    low, high = binomial_interval(alarms, len(outcomes))
    equal = sum(outcome.verdict == "equivalent" for outcome in outcomes)
    early = [median_of_three(outcome) for outcome in outcomes if len(outcome.log_ratios) >= 3]
    yield from head(
        "comparisons",
        "false alarms",
        "95 % interval",
        "3 pairs, median, 2 %",
        "equivalent",
        "inconclusive",
        "pair deviation",
        "pairs",
        "minutes",
    )
    cells = [
        str(len(outcomes)),
        str(alarms),
        f"{100 * low:.1f} to {percent(high)}",
        percent(fmean(abs(math.expm1(log_ratio)) > THRESHOLD for log_ratio in early), 0),
        str(equal),
        str(len(outcomes) - alarms - equal),
        deviation(outcomes),
        f"{fmean(outcome.pairs for outcome in outcomes):.1f}",
        f"{sum(outcome.seconds for outcome in outcomes) / 60:.0f}",
    ]
    yield row(*cells)


def deviation(outcomes: Sequence[Outcome]) -> str:
    """How far the pairs of one comparison lie apart, the root mean square of the comparisons."""
    deviations = [stdev(outcome.log_ratios) for outcome in outcomes if len(outcome.log_ratios) > 1]
    return percent(math.sqrt(fmean(spread**2 for spread in deviations)), 2) if deviations else "—"


def median_of_three(outcome: Outcome) -> float:
    """What the reports' rule would have looked at: the first three pairs."""
    return median(outcome.log_ratios[:3])


def effects(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Each known effect: the truth, what the comparisons estimated, how often it was found."""
    truths = {
        outcome.rows: outcome for outcome in outcomes if outcome.kind == "truth" and outcome.ratio
    }
    rows = sorted(
        {outcome.rows for outcome in outcomes if outcome.kind == "effect"} & truths.keys()
    )
    if not rows:
        return
    yield from head(
        "rows",
        "truth",
        "mean of the estimates",
        "slower",
        "equivalent",
        "inconclusive",
        "holds the truth",
        "pair deviation",
        "pairs",
    )
    points: list[tuple[float, float]] = []
    for count in rows:
        truth = truths[count]
        mine = [
            outcome for outcome in outcomes if outcome.kind == "effect" and outcome.rows == count
        ]
        means = [fmean(outcome.log_ratios) for outcome in mine if outcome.log_ratios]
        centre = fmean(truth.log_ratios)
        points += [(centre, mean) for mean in means]
        held = [
            (outcome.low or 0) <= math.exp(centre) <= outcome.high
            for outcome in mine
            if outcome.high is not None
        ]
        cells = [
            f"{count:,}",
            f"{signed(centre)} ({signed(math.log(truth.low or 1))} to"
            f" {signed(math.log(truth.high or 1))})",
            signed(fmean(means)),
            f"{sum(outcome.verdict == 'slower' for outcome in mine)} of {len(mine)}",
            str(sum(outcome.verdict == "equivalent" for outcome in mine)),
            str(sum(outcome.verdict == "inconclusive" for outcome in mine)),
            f"{sum(held)} of {len(held)}",
            deviation([truth, *mine]),
            f"{fmean(outcome.pairs for outcome in mine):.1f}",
        ]
        yield row(*cells)
    yield ""
    yield slope(points, [fmean(o.log_ratios) for o in outcomes if o.kind == "null"])


def head(*columns: str) -> tuple[str, str]:
    return row(*columns), f"|{' --: |' * len(columns)}"


def slope(points: Sequence[tuple[float, float]], nulls: Sequence[float]) -> str:
    """Estimated effects against true ones, the nulls as the effect 0."""
    truth, estimate = np.array([*points, *((0.0, null) for null in nulls)]).T
    fit = stats.linregress(truth, estimate)
    half = stats.t.ppf(0.975, len(truth) - 2) * fit.stderr
    return (
        f"Slope of the estimates against the truth: {fit.slope:.3f} (95 % interval"
        f" {fit.slope - half:.3f} to {fit.slope + half:.3f}, {len(truth)} comparisons)."
    )


def signed(log_ratio: float) -> str:
    return f"{100 * math.expm1(log_ratio):+.2f} %"
