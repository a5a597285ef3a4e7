"""Numbers that a text has of itself: the same wherever the text stands, and in both languages.

Texts of reports stand in translation files, with names in braces where they vary. What varies is
read against the trials; what does not vary stands as it is written.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import teiten
from tests.reader.document import BRACKETS, plain
from tests.reader.language import UNITS, Language, printed

PLACE = re.compile(r"\{[\w.-]*\}")
OWN = re.compile(r"(?<![A-Za-z0-9_.#-])\d[\d,]*(?:\.\d+)?(?![A-Za-z0-9_-])")
VALUE = r"(?P<number>(?<![\d.,])[+−-]?\d[\d,]*(?:\.\d+)?) ?(?P<unit>µs|ms|s|秒|min|分|%)?"
BESIDE = 30
"""So many characters on both sides tell a place from others."""
LEAST = 8
"""Characters without numbers and places by which a text is known."""


@dataclass(frozen=True)
class Template:
    """A text with numbers of its own."""

    anchor: str
    """The longest run of its characters that neither varies nor is a number."""
    exact: re.Pattern[str]
    loose: re.Pattern[str]
    """The same with any numbers."""


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


@dataclass(frozen=True)
class Place:
    """A number of a text that has a name there, with the words beside it."""

    names: tuple[str, str]
    """Its own, and the one with its text's key before it."""
    words: re.Pattern[str]


@cache
def places(language: Language) -> tuple[Place, ...]:
    """The named places of every text that few words beside them tell from others."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for _, key, text in texts_of(language):
        parts = re.split(r"\{([\w-]*)\}", plain(text.translate(BRACKETS)))
        for at in range(1, len(parts), 2):
            before, after = parts[at - 1][-BESIDE:], parts[at + 1][:BESIDE]
            if len(before.strip()) + len(after.strip()) >= LEAST:
                words = rf"{re.escape(before)}{VALUE}{re.escape(after)}"
                found[words].add((parts[at], f"{key.lstrip('.')} {parts[at]}"))
    return tuple(
        Place(next(iter(names)), re.compile(words))
        for words, names in found.items()
        if len({name for name, _ in names}) == 1
    )


def named_objections(
    text: str, language: Language, expected: Mapping[str, set[float]]
) -> Iterator[str]:
    """Objects to numbers at places whose names say what they are. ``expected``: by those names, in
    base units."""
    for place in places(language):
        name = next((name for name in place.names if name in expected), None)
        for found in place.words.finditer(text) if name is not None else ():
            scale = UNITS.get(found["unit"] or "", 1.0)
            number = printed(found["number"])
            if not any(number.is_of(value * scale) for value in expected[name or ""]):
                yield f"{name} is {sorted(expected[name or ''])}, not {found['number']}"


@cache
def templates(language: Language) -> tuple[Template, ...]:
    found = (_template(text) for _, _, text in texts_of(language))
    return tuple(each for each in found if each is not None)


def _template(text: str) -> Template | None:
    text = plain(text.translate(BRACKETS))
    if not OWN.search(PLACE.sub("", text)):
        return None
    fixed = re.split(rf"{PLACE.pattern}|{OWN.pattern}", text)
    anchor = max(fixed, key=len).strip()
    if len(anchor) < LEAST:
        return None
    exact = loose = r"(?<![A-Za-z0-9.,])"
    at = 0
    for found in re.finditer(rf"{PLACE.pattern}|{OWN.pattern}", text):
        words = re.escape(text[at : found.start()])
        is_place = found[0].startswith("{")
        exact += words + (r"[^\n]*?" if is_place else f"({re.escape(found[0])})")
        loose += words + (r"[^\n]*?" if is_place else r"\d[\d,]*(?:\.\d+)?")
        at = found.end()
    rest = re.escape(text[at:]) + r"(?![A-Za-z0-9])"
    return Template(anchor, re.compile(exact + rest), re.compile(loose + rest))


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
        for place in range(1, each.exact.groups + 1)
    }


def own_objections(text: str, every: Iterable[Template]) -> Iterator[str]:
    """Objects to a text that is known but for its own numbers."""
    known = [each for each in every if each.anchor in text]
    for each in known:
        found = each.loose.search(text)
        if found is not None and not any(
            same.start() <= found.start() < same.end()
            and not OWN.search(text[same.end() : found.end()])
            for other in known
            for same in other.exact.finditer(text)
        ):
            yield f"known words with another number: {found[0]}"
