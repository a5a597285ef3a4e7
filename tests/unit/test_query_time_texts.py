"""Times of queries, with as many digits as their intervals allow."""

from __future__ import annotations

import math

import pytest

from teiten.kinds.queries.present.times import MILLISECONDS, SECONDS, TimeUnit


@pytest.mark.parametrize(
    ("unit", "seconds", "half_width", "text"),
    [
        (SECONDS, 0.284, 9.0, "0.3"),  # a time is never printed as none
        (SECONDS, 2.99, 9.0, "3"),
        (SECONDS, 12.3456, 0.02, "12.35"),
        (MILLISECONDS, 0.0042, 0.009, "4.20"),
        (MILLISECONDS, 0.284, 0.3, "284"),
        (MILLISECONDS, 0.284, math.nan, "284"),
    ],
)
def test_a_time_has_the_digits_that_its_interval_allows(
    unit: TimeUnit, seconds: float, half_width: float, text: str
) -> None:
    assert unit.text(seconds, half_width) == text
