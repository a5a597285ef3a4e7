"""The texts of the reports, by language, looked up by dotted key: TOML files under ``i18n``, and
``words.LANGUAGE.toml`` in the folder of each kind of workload, data set and factor."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from teiten import datasets, factors, kinds, ways
from teiten.datasets.registry import names as names_of_datasets
from teiten.factors.registry import folders as names_of_factors
from teiten.kinds.registry import names as names_of_kinds
from teiten.model.facts import Caution
from teiten.model.metrics import Metric
from teiten.model.text import Bilingual, Language
from teiten.model.trial import Problem
from teiten.ways.registry import folders as names_of_ways

PARTS = (
    *("", "cautions.", "problems.", "profiles.", "comparison.", "history.", "collection."),
    *("saturation.", "plans.", "attached.", "hosts.", "nodes.", "distribution.", "site."),
    "discussion.",
)
"""The files of each language, by what stands before the language's name."""


class Texts:
    """Texts of one language. A key or a value that does not exist is a KeyError."""

    def __init__(self, language: Language, entries: Mapping[str, str]) -> None:
        self.language: Language = language
        self.entries = entries

    def __call__(self, key: str, **values: object) -> str:
        """The text under ``key`` with its ``{placeholders}`` filled in."""
        text = self.entries[key]
        return text.format_map(values) if values else text

    def title(self, key: str, **values: object) -> str:
        """The text under ``key`` as a title: in English with a capital letter first."""
        text = self(key, **values)
        return text[:1].upper() + text[1:] if self.language == "en" else text

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def either(self, key: str, otherwise: str) -> str:
        """The text under ``key``, or ``otherwise`` where there is none: for names of open lists."""
        return self.entries.get(key, otherwise)

    def metric(self, metric: Metric) -> str:
        """The name of a metric; its own where it has no text."""
        return self.either(f"metric.{metric.name}", metric.name)

    def problem(self, problem: Problem) -> str:
        """Why a trial does not count, without the detail; the code itself where it has no text."""
        return self.either(f"problem.{problem.code}", problem.code)

    def of(self, text: Bilingual) -> str:
        return text.in_language(self.language)

    def aside(self, text: str, aside: str) -> str:
        """``text`` with ``aside`` in the language's own brackets; alone where that is empty."""
        return self("list.aside", said=text, aside=aside) if aside else text

    def listed(self, parts: Iterable[str]) -> str:
        """Parts one after the other; where one has a comma of its own, semicolons part them."""
        known = list(parts)
        comma = self("list.separator").strip()
        has_commas = len(known) > 1 and any(comma in part for part in known)
        return self("list.strong" if has_commas else "list.separator").join(known)

    def quoted(self, name: str) -> str:
        """A name inside of a sentence; in quotes where it has a comma."""
        comma = self("list.separator").strip()
        return self("list.quoted", name=name) if comma in name else name

    def plural(self, key: str, count: int, **values: object) -> str:
        """``key.one`` or ``key.many``, with ``{count}``."""
        return self(f"{key}.one" if count == 1 else f"{key}.many", count=count, **values)


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


def read_entries(name: str) -> dict[str, str]:
    """A file of ``i18n`` as dotted keys; empty where the file does not exist."""
    return _entries(resources.files("teiten.report") / "i18n" / name)


def words_in(package: str, language: Language) -> dict[str, str]:
    """The words in the folder of a kind, data set or factor, as dotted keys; empty without any."""
    return _entries(resources.files(package) / f"words.{language}.toml")


def with_words() -> tuple[str, ...]:
    """The folders that may have words: of all kinds of workloads, data sets, factors and ways."""
    return (
        *(f"{kinds.__name__}.{kind}" for kind in names_of_kinds()),
        *(f"{datasets.__name__}.{dataset}" for dataset in names_of_datasets()),
        *(f"{factors.__name__}.{factor}" for factor in names_of_factors()),
        *(f"{ways.__name__}.{name}" for name in names_of_ways()),
    )


def _entries(file: Traversable) -> dict[str, str]:
    if not file.is_file():
        return {}
    return dict(_flatten(tomllib.loads(file.read_text(encoding="utf-8"))))


@cache
def texts(language: Language) -> Texts:
    """All texts of a language: of the report, the cautions, the problems, the kinds."""
    entries: dict[str, str] = {}
    for part in PARTS:
        entries.update(read_entries(f"{part}{language}.toml"))
    for package in with_words():
        entries.update(words_in(package, language))
    return Texts(language, entries)


def valid_xml(text: str) -> str:
    """Replace the characters that no XML 1.0 may hold, not even escaped: ElementTree lets them
    through, and no program reads the file then."""
    return re.sub("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


class _Values(dict[str, str]):
    """A value that a caution does not carry is shown by its name, never a failure of the report."""

    def __missing__(self, key: str) -> str:
        return f"<{key}>"


def caution_text(caution: Caution, language: Language) -> tuple[str, str]:
    """Word what a caution is about, and its advice; the code itself where it has no text. A value
    that is a text has one for each language: ``why`` is that of ``why_en`` or ``why_ja``."""
    t = texts(language)
    suffix = f"_{language}"
    own = ((key, text) for key, text in caution.values if key.endswith(suffix))
    values = _Values((*caution.values, *((key.removesuffix(suffix), text) for key, text in own)))
    what = t.entries.get(f"caution.{caution.code}.what")
    if what is None:
        listed = ", ".join(f"{name} {value}" for name, value in caution.values)
        return f"{caution.code} ({listed})" if listed else caution.code, ""
    what = what.format_map(values)
    if "host" in values:  # in a campaign on other hosts
        what = t("host.caution", host=values["host"], what=what)
    return what, t.either(f"caution.{caution.code}.advice", "").format_map(values)
