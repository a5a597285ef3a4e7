"""Reports of drawn campaigns, read by ``tests/reader``: which of their numbers are not so."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import get_args

from tests.fixtures.drawn import KINDS, Drawn
from tests.fixtures.drawn_across import ACROSS, Across
from tests.fixtures.drawn_kinds import BY_NUMBERS
from tests.reader.document import Document, read_html
from tests.reader.planted import planted
from tests.reader.reader import Reader
from tests.reader.whole import read_whole, trials_objections

from teiten.model.text import Language
from teiten.report.render.html import html
from teiten.report.view.report import view

EVERY: tuple[Callable[[random.Random], Drawn | Across], ...] = (*KINDS, *BY_NUMBERS, *ACROSS)
EVERY_PAGE = 10
"""One of so many reports is read as a page too."""
EVERY_PLANTED = 50
"""In one of so many, every number is changed and every direction turned."""


@dataclass
class Readings:
    """Counts of a run, and what was found."""

    count: int = 0
    """Campaigns, each of which has several reports."""
    reports: Counter[str] = field(default_factory=Counter)
    sentences: int = 0
    planted: int = 0
    missed: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        by_kind = ", ".join(f"{kind}: {count}" for kind, count in sorted(self.reports.items()))
        yield (
            f"reports: {self.reports.total()} ({by_kind}); {self.sentences} sentences;"
            f" {len(self.findings)} findings; {self.planted} wrong sentences planted,"
            f" {len(self.missed)} not seen"
        )
        for text in (*self.findings, *self.missed):
            yield f"    {text}"


def read_reports(count: int, seed: int) -> Readings:
    """``count`` campaigns of the kinds in turn, each in both languages; those of every kind are
    drawn from ``seed``, ``seed + 1``, …"""
    readings = Readings()
    with suppress(KeyboardInterrupt):  # a long run that is cut short says what it found
        for at in range(count):
            _read_campaign(readings, at, seed + at // len(EVERY))
    return readings


def _read_campaign(readings: Readings, at: int, drawn_from: int) -> None:
    kind = EVERY[at % len(EVERY)]
    drawn = kind(random.Random(drawn_from))
    about = f"{kind.__name__}, seed {drawn_from}"
    if isinstance(drawn, Drawn):
        readings.findings += [f"{about}: {why}" for why in trials_objections(drawn)]
    for language in get_args(Language):
        document = drawn.document(language)
        reader = _tallied(readings, drawn, document, language, about)
        if at % EVERY_PAGE == 0 and isinstance(drawn, Drawn):
            page = read_html(html(view(drawn.analysis, language), "0.1.0"))
            _tallied(readings, drawn, page, language, f"{about}, HTML")
        if at % EVERY_PLANTED == 0 and not reader.objections:
            _plant(readings, drawn, document, language, reader)
    readings.count += 1


def _tallied(
    readings: Readings, drawn: Drawn | Across, document: Document, language: Language, about: str
) -> Reader:
    reader = read_whole(document, drawn, language)
    readings.reports[drawn.kind] += 1
    readings.sentences += reader.read
    readings.findings += [f"{about}, {language}: {why}" for why in reader.objections]
    return reader


def _plant(
    readings: Readings,
    drawn: Drawn | Across,
    document: Document,
    language: Language,
    reader: Reader,
) -> None:
    for wrong in planted(document, language, reader.given):
        readings.planted += 1
        if not read_whole(wrong.document, drawn, language).objections:
            readings.missed.append(f"not seen: {wrong.after} (was: {wrong.before})")
