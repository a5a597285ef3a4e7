"""How the reader's patterns of sentences are written, in both languages.

A pattern is the sentence as people read it, with ``<name:kind>`` where it varies. Kinds: ``n`` a
number, ``p`` a percentage, ``f`` a factor or the part that is left, ``i`` a count, ``d`` a time, ``t`` any words, ``w`` words without a full
stop, ``s`` words of one sentence, ``r`` all the rest, ``l`` what may stand before an answer, ``o``
levels that may stand before what is said of them. Everything else is taken literally: a number that
stands in the pattern itself is right only as it stands. They stand in ``sentences``, a file for each
language.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tests.reader.document import BRACKETS, Part

if TYPE_CHECKING:
    from tests.reader.reader import Reader

Language = Literal["en", "ja"]
NUMBER = r"(?:[<>≥≤] ?)?[+−-]?\d[\d,]*(?:\.\d+)?"
DURATION = {
    "en": rf"(?:\d[\d,]* h \d+ min|\d[\d,]* min|{NUMBER} s)",
    "ja": rf"(?:\d[\d,]*時間\d+分|\d[\d,]*分|{NUMBER}秒)",
}
PART_OF = {"en": NUMBER, "ja": r"(?:[<>] )?1/\d[\d,]*(?:\.\d+)?"}
"""How a time that became shorter is told: by the factor, or by the part that is left."""
PLACE = re.compile(r"<(\w+):(\w)>")
UNITS = {
    "ns": 1e9, "µs": 1e6, "ms": 1e3, "s": 1.0, "秒": 1.0, "min": 1 / 60, "分": 1 / 60,
    "%": 100.0, "B": 1.0, "KiB": 2.0**-10, "MiB": 2.0**-20, "GiB": 2.0**-30, "KB/s": 1e-3,
    "kB": 1e-3, "MB": 1e-6,
}  # fmt: skip
UNIT = re.compile(r"(?<![A-Za-z-])(ns|µs|ms|s|秒|min|分|%|KiB|MiB|GiB|KB/s|kB|MB|B)(?![A-Za-z])")
SLOT = re.compile(rf"(?<![A-Za-z0-9_.,/-])(?:{NUMBER})(?![A-Za-z0-9_/-]|[.,]\d|\.[A-Za-z])")


def unit_behind(text: str, end: int) -> str:
    """The unit right behind a number, or behind a space."""
    after = UNIT.match(text, end + text.startswith(" ", end))
    return after[1] if after else ""


Groups = dict[str, str]
Check = Callable[["Reader", Groups, Part], None]


Texts = str | list[str] | dict[str, "Texts"]


@cache
def sentences(language: str) -> dict[str, dict[str, Texts]]:
    """What the reader knows of a language: by the module that checks it and the name of the check."""
    path = Path(__file__).parent / "sentences" / f"{language}.toml"
    return tomllib.loads(path.read_text("utf-8"))


def flat(texts: Texts, form: str = "") -> Iterator[tuple[str, str]]:
    """Each text with the form that it has."""
    if isinstance(texts, dict):
        for name, one in texts.items():
            yield from flat(one, name)
    else:
        yield from ((form, one) for one in ([texts] if isinstance(texts, str) else texts))


@dataclass(frozen=True)
class Pattern:
    """A sentence that the reader knows, and what must hold of it."""

    name: str
    form: str
    """Of several forms that one check tells apart; it finds it among the groups."""
    matches: dict[str, re.Pattern[str]]
    check: Check
    weight: dict[str, int]
    """How many of its characters are words: of two that fit, the one with more is meant."""
    of: frozenset[str] = frozenset()
    """The kinds of parts that it can be; empty for any."""


class Book:
    """The patterns of a module, in the order of their registration."""

    def __init__(self, name: str) -> None:
        self.name = name.rsplit(".", 1)[-1]
        self.patterns: list[Pattern] = []
        if "words" in sentences("en")[self.name]:  # claim nothing which varies: known as they are
            self.says("words")(lambda _reader, _groups, _part: None)

    def texts(self, key: str) -> Iterator[tuple[str, str, str]]:
        """Form, English and Japanese of what is known under a key."""
        each = (flat(sentences(one)[self.name][key]) for one in ("en", "ja"))
        for (form, en), (_, ja) in zip(*each, strict=True):
            yield form, en, ja

    def says(self, key: str = "", of: str = "", then: str = "") -> Callable[[Check], Check]:
        """Registers what checks sentences, by default those of its own name.

        ``of``: the kinds of parts that it can be; ``then``: an expression of what may follow.
        """

        def register(check: Check) -> Check:
            name = key or check.__name__
            for form, en, ja in self.texts(name):
                self.add(name, form, {"en": en, "ja": ja}, check, of, then)
            return check

        return register

    def holds(
        self, key: str, expected: Callable[[Reader], Mapping[str, Any]], of: str = ""
    ) -> None:
        """Registers sentences whose places are what is expected, by the kinds of the places; what
        stands at no place is what must be so."""
        both = {place: kind for _, *texts in self.texts(key) for place, kind in kinds_in(*texts)}

        def check(reader: Reader, groups: Groups, _part: Part) -> None:
            reader.holds(groups, both, expected(reader))

        self.says(key, of)(check)

    def add(
        self,
        name: str,
        form: str,
        texts: dict[str, str],
        check: Check,
        of: str = "",
        then: str = "",
    ) -> None:
        matches = {one: compiled(text, one, then) for one, text in texts.items()}
        weight = {one: len(PLACE.sub("", text)) for one, text in texts.items()}
        self.patterns.append(Pattern(name, form, matches, check, weight, frozenset(of.split())))


def kinds_in(*texts: str) -> Iterator[tuple[str, str]]:
    """The places of texts, each with its kind."""
    for text in texts:
        yield from PLACE.findall(text)


SENTENCE = r"(?:(?!\. |。).)+?"
LEAD = {
    "en": "(?:Judged by .+?: )?(?:On average over .+?: )?",
    "ja": "(?:[^:。]+による判定: )?(?:[^:。]+の平均: )?",
}
OTHERS = {"en": rf"(?:At (?P<others>{SENTENCE}): )?", "ja": rf"(?:(?P<others>{SENTENCE})の場合: )?"}


def compiled(pattern: str, language: str, then: str = "") -> re.Pattern[str]:
    pattern = pattern.translate(BRACKETS)
    kinds = {
        "n": NUMBER,
        "p": rf"{NUMBER} ?%",
        "f": PART_OF[language],
        "i": r"\d[\d,]*",
        "d": DURATION[language],
        "t": r".+?",
        "w": r"[^.。]+?",
        "s": SENTENCE,
        "r": r".+",
        "v": r"(?:前バージョン)?",
        "l": LEAD[language],
    }
    text, at = "", 0
    for place in PLACE.finditer(pattern):
        text += re.escape(pattern[at : place.start()])
        name, kind = place[1], place[2]
        text += OTHERS[language] if kind == "o" else f"(?P<{name}>{kinds[kind]})"
        at = place.end()
    return re.compile(text + re.escape(pattern[at:]) + then, re.DOTALL)


def as_factor(text: str) -> str:
    """``> 1,000`` of ``< 1/1,000``, and other texts as they are."""
    if "1/" not in text:
        return text
    sign, number = text.split("1/")
    return sign.translate(str.maketrans("<>", "><")) + number


REACH = (0.001, 1000.0, 99_900.0)
"""Beyond it a ratio, or a percentage, is told by it."""


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
        if self.bound in {"<", ">"} and self.value not in REACH:
            return False
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
