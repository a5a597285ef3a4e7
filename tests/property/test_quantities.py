"""Sizes, times and shares: every exact text is read back to the same value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.model.quantities import (
    exact_share,
    exact_size,
    format_duration,
    format_size,
    parse_duration,
    parse_share,
    parse_size,
)


@given(st.integers(min_value=0, max_value=2**60))
def test_a_size_survives_its_exact_text(size: int) -> None:
    assert parse_size(exact_size(size)) == size


@given(st.floats(min_value=0, max_value=0.999, allow_nan=False))
def test_a_share_survives_its_exact_text(share: float) -> None:
    assert parse_share(exact_share(share)) == share


@given(st.integers(0, 99), st.sampled_from("kMGT"), st.sampled_from(["B", "iB"]), st.booleans())
def test_a_unit_means_the_same_in_every_spelling(
    count: int, letter: str, rest: str, spaced: bool
) -> None:
    text = f"{count}{' ' if spaced else ''}{letter}{rest}"
    assert parse_size(text) == count * 1024 ** ("kMGT".index(letter) + 1)
    assert parse_size(text.lower()) == parse_size(text)


@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_a_time_may_have_parts(hours: int, minutes: int, seconds: int) -> None:
    expected = float(hours * 3600 + minutes * 60 + seconds)
    assert parse_duration(f"{hours}h{minutes}m{seconds}s") == expected
    assert parse_duration(f"{hours} h {minutes} min {seconds} s") == expected


@given(st.text(max_size=12))
def test_whatever_stands_there_is_read_or_refused_in_words(text: str) -> None:
    for parse in (parse_size, parse_duration, parse_share):
        try:
            assert parse(text) is not None
        except ValueError as error:
            assert repr(text) in str(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("40", "'40' needs a unit: for example 40MB"),
        ("40XB", "'40XB' is not a size; write for example 512MB or 40GB"),
        ("", "'' is not a size; write for example 512MB or 40GB"),
    ],
)
def test_a_wrong_size_is_explained(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_size(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("20", "'20' needs a unit: for example 20s"),
        ("20x", "'20x' is not a time; write for example 300s, 5m or 1h30m"),
    ],
)
def test_a_wrong_time_is_explained(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_duration(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2", "'2' is not a share below 1; did you mean 2%?"),
        ("nan", "'nan' is not a share; write for example 2% or 0.02"),
        ("two", "'two' is not a share; write for example 2% or 0.02"),
    ],
)
def test_a_wrong_share_is_explained(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_share(text)
    assert str(caught.value) == message


def test_people_read_rounded_quantities() -> None:
    assert format_size(66_892_866_355) == "62.3 GiB"
    assert format_size(512) == "512 B"
    assert [format_duration(seconds) for seconds in (4.5, 45, 252, 300, 3900)] == [
        "4.5 s",
        "45 s",
        "4 min 12 s",
        "5 min",
        "1 h 05 min",
    ]
