"""Where variance arises, and the length of a trial that follows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from teiten.analysis.verdict.replication import Components, components, long_run_variance
from teiten.model.units import Seconds


def test_the_best_length_by_hand() -> None:
    """√4 · 0.05 / 0.01 = 10 s."""
    assert Components(0.01, 0.05, Seconds(4.0)).best_duration == pytest.approx(10.0)
    assert Components(0.0, 0.05, Seconds(4.0)).best_duration is None


def test_it_is_the_length_at_which_an_hour_gives_the_most_precise_mean() -> None:
    parts = Components(0.01, 0.05, Seconds(4.0))

    def variance(seconds: float) -> float:
        trials = 3600 / (parts.fixed + seconds)
        return (parts.between**2 + parts.within**2 / seconds) / trials

    best = parts.best_duration
    assert best is not None
    assert variance(best) < min(variance(0.8 * best), variance(1.25 * best))


def test_the_variance_of_independent_seconds_is_their_own() -> None:
    random = np.random.default_rng(1)
    found = [long_run_variance(100 + random.normal(0, 5, 400)) for _ in range(50)]
    assert np.mean([value or 0.0 for value in found]) == pytest.approx(0.05**2, rel=0.1)


def test_autocorrelation_counts() -> None:
    random = np.random.default_rng(2)
    noise = random.normal(0, 5, 10_000)
    smooth = np.convolve(noise, np.ones(5) / 5, mode="valid")
    found = long_run_variance(100 + smooth)
    assert found is not None
    assert found > 3 * float(np.var(smooth)) / 100**2


def test_the_parts_are_found_again() -> None:
    """Trials of 20 s with 1 % between them and 5 % per second."""
    random = np.random.default_rng(3)
    series = [
        1000 * math.exp(random.normal(0, 0.01)) * (1 + random.normal(0, 0.05, 20))
        for _ in range(400)
    ]
    means = np.log([one.mean() for one in series])
    deviation = float(np.std(means[::2] - means[1::2], ddof=1))
    parts = components(deviation, Seconds(20.0), Seconds(4.0), series)
    assert parts is not None
    assert parts.between == pytest.approx(0.01, rel=0.25)
    assert parts.within == pytest.approx(0.05, rel=0.15)


@pytest.mark.parametrize("series", [[], [[1.0, 2.0, 3.0]], [[0.0] * 20], [[math.nan] * 20]])
def test_without_a_usable_series_nothing_is_claimed(series: list[list[float]]) -> None:
    arrays = [np.array(one) for one in series]
    assert components(0.02, Seconds(10.0), Seconds(4.0), arrays) is None
