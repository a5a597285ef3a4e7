"""Digits as the interval allows."""

from __future__ import annotations

import math

import pytest
from benchmarks.house.__main__ import ROOT, python_below

from teiten.report.numbers import (
    NOTHING,
    bytes_text,
    decimals_for,
    fixed,
    measured,
    plain,
    significant,
    spread,
)


@pytest.mark.parametrize(
    ("half_width", "decimals"),
    [(1.2, 1), (0.48, 1), (0.12, 2), (4.5, 0), (31.0, 0), (0.034, 3), (0.0, 2), (math.inf, 2)],
)
def test_decimals_follow_the_half_width(half_width: float, decimals: int) -> None:
    assert decimals_for(half_width) == decimals


def test_fixed_has_thousands_and_a_true_minus_sign() -> None:
    assert fixed(-1234.56, 1) == "−1,234.6"
    assert fixed(1.5, 1, signed=True) == "+1.5"
    assert fixed(-0.001, 1) == "0.0", "no negative zero"
    assert fixed(math.nan, 1) == "—"
    assert fixed(math.inf, 1) == "∞"


def test_measured_never_shows_more_digits_than_are_worth_it() -> None:
    assert measured(410.08123, 3.1) == "410.1"
    assert measured(0.152, 4.0) == "0.15", "not 0, however much the trials differ"
    assert measured(0.61114, 1e-12) == "0.6111"
    assert measured(410.08123, math.nan) == "410"
    assert measured(None, 1.0) == "—"


def test_small_helpers() -> None:
    assert significant(0.0012345) == "0.00123"
    assert significant(0.0) == "0"
    assert spread([1.0, 3.0, math.nan]) == 1.0
    assert math.isnan(spread([1.0]))
    assert bytes_text(8 * 2**30) == "8 GiB"
    assert bytes_text(1536) == "1.5 KiB"
    assert bytes_text(12) == "12 B"
    assert plain(5.0) == "5"
    assert plain(0.25) == "0.25"


@pytest.mark.same
def test_what_is_not_known_is_spelt_in_one_place() -> None:
    package = ROOT / "src" / "teiten"
    sources = [
        source for room in ("report", "kinds") for source in python_below(package / room).items()
    ]
    assert [path for path, text in sources if f'"{NOTHING}"' in text] == ["numbers.py"]
