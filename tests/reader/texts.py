"""Numbers that a text has of itself: the same wherever the text stands, and in both languages.

Texts of reports stand in translation files, with names in braces where they vary. What varies is
read against the trials; what does not vary stands as it is written.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import teiten
from tests.reader.document import BRACKETS, plain
from tests.reader.language import UNITS, Language, printed, unit_behind

PLACE = re.compile(r"\{[\w.-]*\}")
OWN = re.compile(r"(?<![A-Za-z0-9_.#-])\d[\d,]*(?:\.\d+)?(?![A-Za-z0-9_-])")
VALUE = r"(?<![\d.,])((?:[<>] ?)?[+−-]?\d[\d,]*(?:\.\d+)?)(?![\d]|[.,]\d)"
SEPARATOR = {"en": ", ", "ja": "、"}
LEAST = 8
"""Characters without numbers and places by which a text is known, of two bytes twice."""
OF_HALF = 18
"""The same of half a run of words."""
OF_SITE = "site.more"
"""A text of few words whose place has a name in the index of a site alone."""
SHORT = 12
"""Characters of a number at a place, with its unit."""
WITHIN = {
    "discussion.counted-part": "discussion.counted",
    "design.duration.text": "design.duration",
}
"""Texts of few words, or their section, by the text or the label that they stand in."""


def is_telling(words: str, least: int = LEAST) -> bool:
    """Whether these words are enough to know a text by."""
    return sum(1 + (char > "\u2e80") for char in words.strip()) >= least


@dataclass(frozen=True)
class Template:
    """A text with numbers of its own."""

    anchor: str
    """The longest run of its characters that neither varies nor is a number."""
    exact: re.Pattern[str]
    """Its own numbers and its places are groups."""
    loose: re.Pattern[str]
    """The same with any numbers."""
    owns: tuple[bool, ...]
    """Which groups are numbers of its own."""


def texts_of(language: Language) -> Iterator[tuple[Path, str, str]]:
    """Every text of the translation files: its file, its key, and itself."""
    for path in sorted(Path(teiten.__file__).parent.rglob(f"*{language}.toml")):
        if path.name in {f"{language}.toml"} or path.name.endswith(f".{language}.toml"):
            yield from ((path, *each) for each in _flat(tomllib.loads(path.read_text("utf-8"))))


def _flat(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(inner, f"{key}.{name}")


@cache
def phrases(language: Language) -> dict[str, str]:
    return {key.lstrip("."): plain(text.translate(BRACKETS)) for _, key, text in texts_of(language)}


@cache
def whole_texts(language: Language) -> frozenset[str]:
    return frozenset(phrases(language).values())


def phrase(language: Language, key: str) -> str:
    """A text by its key, with its places in braces."""
    return phrases(language)[key]


@cache
def sentence(language: Language, key: str) -> re.Pattern[str]:
    """A text by its key, whose places are groups of their names."""
    pattern, known = "", set()
    for at, part in enumerate(re.split(r"\{(\w*)\}", phrase(language, key))):
        if at % 2 == 0:
            pattern += re.escape(part)
        else:
            pattern += f"(?P={part})" if part in known else f"(?P<{part}>.+?)"
            known.add(part)
    return re.compile(pattern + r"(?=[\s(),;、。]|$)" * pattern.endswith(">.+?)"))


@cache
def words_of(language: Language) -> frozenset[str]:
    """The longest run of words of each text."""
    runs = (max(re.split(PLACE, text), key=len).strip() for text in phrases(language).values())
    return frozenset(filter(is_telling, runs))


def told(text: str, language: Language, key: str) -> Iterator[re.Match[str]]:
    """Where a text stands in another, with what is at its places."""
    if max(PLACE.split(phrase(language, key)), key=len) in text:
        yield from sentence(language, key).finditer(text)


@cache
def units(language: Language) -> tuple[str, ...]:
    """The runs of words of all texts, between their places and the ends of their sentences."""
    runs = (run for text in phrases(language).values() for run in PLACE.split(text))
    found = (each.strip(" :;,.()、。") for run in runs for each in re.split(r"(?<=[.。]) ?", run))
    return tuple(dict.fromkeys(found))


@cache
def _halves(language: Language) -> tuple[str, ...]:
    halves = (
        half.strip()
        for unit in units(language)
        for half in (unit[: len(unit) // 2], unit[len(unit) // 2 :])
    )
    return tuple(dict.fromkeys(half for half in halves if is_telling(half, OF_HALF)))


@cache
def _with(language: Language, half: str) -> tuple[str, ...]:
    return tuple(unit for unit in units(language) if half in unit)


@cache
def broken(text: str, language: Language) -> tuple[str, ...]:
    """Halves of runs of words of which no text has what stands beside them here; a sentence begins with
    a capital letter."""
    return tuple(
        half
        for half in _halves(language)
        if half in text and not any(unit[1:] in text for unit in _with(language, half))
    )


@dataclass(frozen=True)
class Form:
    """A text with numbers at places that are known by their names."""

    anchor: str
    pattern: re.Pattern[str]
    names: tuple[str, ...]
    """Of its groups."""
    within: str = ""
    """The key of the text that it stands in; empty where its own words are enough."""


@cache
def forms(language: Language, known: frozenset[str]) -> tuple[Form, ...]:
    """The texts with known places. A name is a place's own, or one with its text's key before it."""
    found = (_form(key.lstrip("."), text, known) for _, key, text in texts_of(language))
    return tuple(each for each in found if each is not None)


def _form(key: str, text: str, known: frozenset[str]) -> Form | None:
    parts = re.split(r"\{([\w-]*)\}", plain(text.translate(BRACKETS)))
    anchor = max(parts[::2], key=len).strip()
    names, pattern = [], ""
    for at, part in enumerate(parts):
        if at % 2 == 0:
            pattern += re.escape(part)
            continue
        name = next((name for name in (f"{key} {part}", part) if name in known), None)
        if name is not None:
            names.append(name)
            pattern += VALUE + r"[^\n\d]*?"
        elif pattern:
            pattern += r"[^\n]*?"
    within = WITHIN.get(key) or WITHIN.get(key.rpartition(".")[0], "")
    if not names or not (is_telling("".join(parts[::2])) or key in {OF_SITE, *WITHIN}):
        return None
    return Form(anchor, re.compile(pattern), tuple(names), within)


def stated(
    text: str, language: Language, expected: Mapping[str, set[float]]
) -> dict[int, list[str]]:
    """By where they begin, the numbers at known places, with what is wrong of each by every text that
    it can be of. ``expected``: by name, in base units; none of a number that only has to be the same
    at every place of its name."""
    found: dict[int, list[str]] = defaultdict(list)
    for form in forms(language, frozenset(expected)):
        around = max(re.split(PLACE, phrase(language, form.within)), key=len) if form.within else ""
        if around and not PLACE.search(phrase(language, form.within)):
            around += ": "  # a label
        for said in form.pattern.finditer(text) if form.anchor in text and around in text else ():
            for at, name in enumerate(form.names, start=1):
                number = printed(said[at])
                scale = UNITS.get(unit_behind(text, said.end(at)), 1.0)
                same = said[at] == said[1 + form.names.index(name)]
                right = same and (
                    not expected[name]
                    or any(number.is_of(value * scale) for value in expected[name])
                )
                why = f"{name} is {sorted(expected[name])[:9]}, not {said[at]}"
                found[said.start(at)].append("" if right else why)
    return found


def named_objections(
    text: str, language: Language, expected: Mapping[str, set[float]]
) -> Iterator[str]:
    """Objects to numbers at known places that are none of those expected there."""
    yield from (whys[0] for whys in stated(text, language, expected).values() if all(whys))


def spread(name: str) -> Iterator[str]:
    """The names of places that one with alternatives, ``text.(one|many) count``, stands for."""
    parts = re.split(r"\(([^()]*)\)", name)
    return map("".join, itertools.product(*(part.split("|") for part in parts)))


@cache
def labels(language: Language, known: frozenset[str]) -> dict[str, str]:
    """The keys of texts that are labels, by the texts."""
    return {text.rstrip(":"): key for key, text in phrases(language).items() if key in known}


@cache
def templates(language: Language) -> tuple[Template, ...]:
    """Of all texts but those whose own numbers another one has at its places, as of one and many,
    and but names of levels, each of which is that of another with another number."""
    texts = [
        text for _, key, text in texts_of(language) if not key.startswith((".level.", ".side."))
    ]
    places: dict[str, int] = defaultdict(int)
    for text in texts:
        places[_shape(text)] = max(places[_shape(text)], len(PLACE.findall(text)))
    found = (_template(text) for text in texts if len(PLACE.findall(text)) == places[_shape(text)])
    return tuple(each for each in found if each is not None)


def _shape(text: str) -> str:
    return OWN.sub("#", PLACE.sub("#", text))


def _template(text: str) -> Template | None:
    text = plain(text.translate(BRACKETS))
    if not OWN.search(PLACE.sub("", text)):
        return None
    fixed = re.split(rf"{PLACE.pattern}|{OWN.pattern}", text)
    anchor = max(fixed, key=len).strip()
    if not is_telling("".join(fixed)):
        return None
    exact = loose = r"(?<![A-Za-z0-9.,])"
    at, owns = 0, []
    for found in re.finditer(rf"{PLACE.pattern}|{OWN.pattern}", text):
        words = re.escape(text[at : found.start()])
        is_place = found[0].startswith("{")
        exact += words + (r"([^\n]*?)" if is_place else f"({re.escape(found[0])})")
        loose += words + (r"([^\n]*?)" if is_place else r"(\d[\d,]*(?:\.\d+)?)")
        owns.append(not is_place)
        at = found.end()
    rest = re.escape(text[at:]) + r"(?![A-Za-z0-9])"
    return Template(anchor, re.compile(exact + rest), re.compile(loose + rest), tuple(owns))


def templates_of(texts: Iterable[str]) -> tuple[Template, ...]:
    """Of what authors of studies and of published findings have written."""
    found = (_template(text.replace("{", "(").replace("}", ")")) for text in texts)
    return tuple(each for each in found if each is not None)


def own_spans(text: str, known: Iterable[Template]) -> set[int]:
    """Where the numbers begin that the texts which a text is made of have of themselves."""
    return {
        found.start(place)
        for each in known
        if each.anchor in text
        for found in each.exact.finditer(text)
        for place, own in enumerate(each.owns, start=1)
        if own
    }


def own_objections(text: str, every: Iterable[Template]) -> Iterator[str]:
    """Objects to a text that is known but for its own numbers, where these are no numbers of another
    text, or at a place of one that has nothing else."""
    known = [each for each in every if each.anchor in text]
    right = {
        same.start(place)
        for each in known
        for same in each.exact.finditer(text)
        for place, own in enumerate(each.owns, start=1)
        if own or len(same[place]) <= SHORT
    }
    for each in known:
        for found in each.loose.finditer(text):
            starts = {found.start(place) for place, own in enumerate(each.owns, start=1) if own}
            if not starts <= right:
                yield f"known words with another number: {found[0]}"
