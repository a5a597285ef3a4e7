"""The record as the tables of docs/concepts/trust.md."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, median, stdev

import numpy as np
from scipy import stats

from benchmarks.live.comparison import Outcome

THRESHOLD = 0.02
"""From which on the reports would have spoken of a difference."""
DIFFERENT = frozenset({"slower", "faster", "different-but-small"})


def tables(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield from ["", *nulls([outcome for outcome in outcomes if outcome.kind == "null"])]
    yield from ["", *effects(outcomes)]


def nulls(found: Sequence[Outcome]) -> Iterator[str]:
    """How often equal servers were called different, with an exact interval."""
    if not found:
        return
    alarms = sum(one.verdict in DIFFERENT for one in found)
    interval = stats.binomtest(alarms, len(found)).proportion_ci(method="exact")
    equal = sum(one.verdict == "equivalent" for one in found)
    early = [median_of_three(one) for one in found if len(one.log_ratios) >= 3]
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
        str(len(found)),
        str(alarms),
        f"{100 * interval.low:.1f} to {100 * interval.high:.1f} %",
        f"{100 * fmean(abs(math.expm1(one)) > THRESHOLD for one in early):.0f} %",
        str(equal),
        str(len(found) - alarms - equal),
        deviation(found),
        f"{fmean(one.pairs for one in found):.1f}",
        f"{sum(one.seconds for one in found) / 60:.0f}",
    ]
    yield f"| {' | '.join(cells)} |"


def deviation(found: Sequence[Outcome]) -> str:
    """How far the pairs of one comparison lie apart, the root mean square of the comparisons."""
    deviations = [stdev(one.log_ratios) for one in found if len(one.log_ratios) > 1]
    return f"{100 * math.sqrt(fmean(one**2 for one in deviations)):.2f} %" if deviations else "—"


def median_of_three(one: Outcome) -> float:
    """What the reports' rule would have looked at: the first three pairs."""
    return median(one.log_ratios[:3])


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
        means = [fmean(one.log_ratios) for one in mine if one.log_ratios]
        centre = fmean(truth.log_ratios)
        points += [(centre, mean) for mean in means]
        held = [
            (one.low or 0) <= math.exp(centre) <= one.high for one in mine if one.high is not None
        ]
        cells = [
            f"{count:,}",
            f"{percent(centre)} ({percent(math.log(truth.low or 1))} to"
            f" {percent(math.log(truth.high or 1))})",
            percent(fmean(means)),
            f"{sum(one.verdict == 'slower' for one in mine)} of {len(mine)}",
            str(sum(one.verdict == "equivalent" for one in mine)),
            str(sum(one.verdict == "inconclusive" for one in mine)),
            f"{sum(held)} of {len(held)}",
            deviation([truth, *mine]),
            f"{fmean(one.pairs for one in mine):.1f}",
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield slope(points, [fmean(o.log_ratios) for o in outcomes if o.kind == "null"])


def head(*columns: str) -> tuple[str, str]:
    return f"| {' | '.join(columns)} |", f"|{' --: |' * len(columns)}"


def slope(points: Sequence[tuple[float, float]], nulls: Sequence[float]) -> str:
    """Estimated effects against true ones, the nulls as the effect 0."""
    truth, estimate = np.array([*points, *((0.0, null) for null in nulls)]).T
    fit = stats.linregress(truth, estimate)
    half = stats.t.ppf(0.975, len(truth) - 2) * fit.stderr
    return (
        f"Slope of the estimates against the truth: {fit.slope:.3f} (95 % interval"
        f" {fit.slope - half:.3f} to {fit.slope + half:.3f}, {len(truth)} comparisons)."
    )


def percent(log_ratio: float) -> str:
    return f"{100 * math.expm1(log_ratio):+.2f} %"
