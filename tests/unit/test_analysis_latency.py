"""The latency distribution from a trial's histogram."""

from __future__ import annotations

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram

from teiten.analysis.campaign import distribution


def encoded(values: list[int]) -> str:
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    for value in values:
        histogram.record_value(value)
    text: bytes = histogram.encode()
    return text.decode("ascii")


def test_a_few_latencies_exactly() -> None:
    assert distribution(encoded([1000, 1000, 1500, 2000])) == (
        (0.001, 0.5),
        (0.0015, 0.75),
        (0.002, 1.0),
    )


def test_it_agrees_with_the_librarys_percentiles_and_with_the_values() -> None:
    values = np.random.default_rng(1).lognormal(7.0, 0.8, 20_000).astype(int).tolist()
    curve = distribution(encoded(values))
    latencies, shares = np.array(curve).T
    assert np.all(np.diff(latencies) > 0)
    assert np.all(np.diff(shares) > 0)
    assert len(curve) < 50
    ordered = np.sort(values)
    for latency, share in curve:
        at_or_below = np.searchsorted(ordered, round(latency * 1e6), side="right") / len(values)
        assert share == pytest.approx(at_or_below, abs=1e-9)
    histogram = HdrHistogram.decode(encoded(values))
    known = dict(zip(np.round(shares, 3), latencies, strict=True))
    assert round(known[0.99] * 1e6) == histogram.get_value_at_percentile(99.0)
    assert curve[-1][1] == 1.0


@pytest.mark.parametrize("text", ["", "no histogram", "HISTFAAA", "%%%%"])
def test_without_a_histogram_there_is_no_curve(text: str) -> None:
    assert distribution(text) == ()


def test_an_empty_histogram_has_no_curve() -> None:
    assert distribution(encoded([])) == ()
