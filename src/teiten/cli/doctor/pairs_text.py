"""Result of a check of paired transactions, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime

from rich.text import Text

from teiten.cli.doctor.text import Row, rows_text, words
from teiten.model.pairs_check import CheckedNumber, PairsCheck
from teiten.model.text import Language


def pairs_text(check: PairsCheck, language: Language, width: int) -> Text:
    """Two lines for each number. ``width``: of the terminal, in cells."""
    say = words(language)
    title = say(
        "doctor.pairs_title",
        version=check.version,
        clients=check.clients,
        starts=check.starts,
        load=f"{check.load_average:.1f}",
        moment=datetime.fromtimestamp(check.measured_at, UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    rows = [row for number in check.numbers for row in _rows(number, language)]
    return rows_text(title, rows, width)


def _rows(one: CheckedNumber, language: Language) -> Iterator[Row]:
    say = words(language)
    equal = say(
        "doctor.pairs_equal",
        mean=signed(one.mean),
        low=signed(one.low),
        high=signed(one.high),
        deviation=f"{one.deviation:.2%}".replace("%", " %"),
        band=f"{math.expm1(one.band) * 100:.2g} %",
        holds=say(f"doctor.pairs_{one.equal}"),
    )
    slope = say(
        "doctor.pairs_slope",
        slope=f"{one.slope:.2f}",
        low=f"{one.slope_low:.2f}",
        high=f"{one.slope_high:.2f}",
        holds=say(f"doctor.pairs_{one.true_to_scale}"),
    )
    yield Row(say(f"doctor.pairs_{one.name}"), "dim", equal)
    yield Row("", "dim", slope)


def signed(logarithm: float) -> str:
    """``+1.20 %`` of the logarithm of 1.012."""
    return f"{math.expm1(logarithm) * 100:+.2f} %"
