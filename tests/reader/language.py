"""How the reader's patterns of sentences are written, in both languages.

A pattern is the sentence as people read it, with ``<name:kind>`` where it varies. Kinds: ``n`` a
number, ``p`` a percentage, ``i`` a count, ``d`` a time, ``t`` any words, ``w`` words without a full
stop, ``s`` words of one sentence, ``r`` all the rest. Everything else is taken
literally: a number that stands in the pattern itself is right only as it stands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tests.reader.document import Part

if TYPE_CHECKING:
    from tests.reader.reader import Reader

Language = Literal["en", "ja"]
NUMBER = r"(?:[<>≥≤] ?)?[+−-]?\d[\d,]*(?:\.\d+)?"
DURATION = {
    "en": rf"(?:\d[\d,]* h \d+ min|\d[\d,]* min|{NUMBER} s)",
    "ja": rf"(?:\d[\d,]*時間\d+分|\d[\d,]*分|{NUMBER}秒)",
}
PLACE = re.compile(r"<(\w+):(\w)>")

Groups = dict[str, str]
Check = Callable[["Reader", Groups, Part], None]


@dataclass(frozen=True)
class Pattern:
    """A sentence that the reader knows, and what must hold of it."""

    name: str
    matches: dict[str, re.Pattern[str]]
    check: Check
    weight: dict[str, int]
    """How many of its characters are words: of two that fit, the one with more is meant."""
    of: frozenset[str] = frozenset()
    """The kinds of parts that it can be; empty for any."""


class Book:
    """Patterns in the order of their registration."""

    def __init__(self) -> None:
        self.patterns: list[Pattern] = []

    def says(self, en: str, ja: str, of: str = "") -> Callable[[Check], Check]:
        """Registers what checks a sentence; ``of``: the kinds of parts that it can be."""

        def register(check: Check) -> Check:
            self._add(check.__name__, en, ja, check, of)
            return check

        return register

    def _add(self, name: str, en: str, ja: str, check: Check, of: str = "") -> None:
        matches = {"en": compiled(en, "en"), "ja": compiled(ja, "ja")}
        weight = {"en": len(PLACE.sub("", en)), "ja": len(PLACE.sub("", ja))}
        self.patterns.append(Pattern(name, matches, check, weight, frozenset(of.split())))

    def only_words(self, *both: tuple[str, str]) -> None:
        """Sentences that claim nothing which varies: known word for word, their numbers too."""
        for en, ja in both:
            self._add("words", en, ja, lambda _reader, _groups, _part: None)


def compiled(pattern: str, language: str) -> re.Pattern[str]:
    kinds = {
        "n": NUMBER,
        "p": rf"{NUMBER} ?%",
        "i": r"\d[\d,]*",
        "d": DURATION[language],
        "t": r".+?",
        "w": r"[^.。]+?",
        "s": r"(?:(?!\. |。).)+?",
        "r": r".+",
        "v": r"(?:前バージョン)?",
    }
    text, at = "", 0
    for place in PLACE.finditer(pattern):
        text += re.escape(pattern[at : place.start()])
        name, kind = place[1], place[2]
        text += f"(?P<{name}>{kinds[kind]})"
        at = place.end()
    return re.compile(text + re.escape(pattern[at:]), re.DOTALL)


@dataclass(frozen=True)
class Printed:
    """A number as it stands in a text."""

    value: float
    step: float
    """One of its last digit."""
    bound: str = ""
    """< or > before it."""
    signed: bool = False

    def is_of(self, value: float, *, slack: float = 0.0, safe: str = "") -> bool:
        """Whether it is the value, rounded. ``safe``: rounded to that side instead (up, down)."""
        if self.bound in {">", "≥"}:
            return value > self.value - slack
        if self.bound in {"<", "≤"}:
            return value < self.value + slack
        if not math.isfinite(value):
            return False
        room = self.step * 0.5 + slack + 1e-9 * max(1.0, abs(value))
        if safe == "up":
            return -1e-9 <= self.value - value <= self.step + slack + 1e-9
        if safe == "down":
            return -1e-9 <= value - self.value <= self.step + slack + 1e-9
        return abs(self.value - value) <= room


def printed(text: str) -> Printed:
    """``−1,234.5`` ``+3.5 %`` ``> 1,000``"""
    found = re.search(r"([<>≥≤]?) ?([+−-]?)(\d[\d,]*)(?:\.(\d+))?", text)
    if found is None:
        raise ValueError(f"no number: {text!r}")
    bound, sign, whole, decimals = found.groups()
    value = float(whole.replace(",", "") + "." + (decimals or "0"))
    return Printed(
        -value if sign in {"−", "-"} else value, 10.0 ** -len(decimals or ""), bound, sign == "+"
    )


def count(text: str) -> int:
    return int(text.replace(",", ""))
