"""Rounds: everything is measured once in each, and ratios are formed within a round."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.figures import mean_interval

Seconds = dict[str, list[float]]
"""For each subject its seconds, round by round."""


@dataclass(frozen=True)
class Ratio:
    """How many times as fast one subject is as another."""

    name: str
    value: float
    """The geometric mean of the rounds' ratios."""
    low: float
    high: float
    """95 %, from t on their logarithms; of a single round not a number."""
    least: float | None = None
    """What is asked for."""

    @property
    def suffices(self) -> bool:
        return self.least is None or self.value >= self.least

    def __str__(self) -> str:
        bounds = "" if math.isnan(self.low) else f"{self.low:.2f} to {self.high:.2f}"
        asked = "" if self.least is None else f"at least {self.least:g}: "
        outcome = "" if self.least is None else "yes" if self.suffices else "NO"
        return f"{self.name:<58} {self.value:>6.2f}  {bounds:<14} {asked}{outcome}".rstrip()


def measured(makers: Mapping[str, Callable[[], float]], rounds: int) -> Seconds:
    """The seconds of each; the order turns round with every round."""
    seconds: Seconds = {name: [] for name in makers}
    for number in range(rounds):
        for name in list(makers)[:: -1 if number % 2 else 1]:
            seconds[name].append(makers[name]())
    return seconds


def ratio(
    name: str, reference: Sequence[float], ours: Sequence[float], least: float | None = None
) -> Ratio:
    """How many times as fast ``ours`` is, from the seconds of the same rounds."""
    logs = [math.log(theirs / own) for theirs, own in zip(reference, ours, strict=True)]
    middle, low, high = map(math.exp, mean_interval(logs))
    return Ratio(name, middle, low, high, least=least)


def tell(seconds: Seconds, rows: int) -> None:
    """Print the median rates."""
    for name, values in seconds.items():
        value = median(values)
        print(
            f"{name:<58} {value:>7.2f} s {rows / value / 1e6:>7.2f} M rows/s"
            f"   ({min(values):.2f} to {max(values):.2f} s)"
        )
