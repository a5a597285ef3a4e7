"""Reports of drawn campaigns, read by ``tests/reader``: which of their sentences are not so.

Of the kinds whose sentences are not all known, tables, answers and JSON are read.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import get_args

from tests.reader.agreement import disagreements
from tests.reader.contrasts import contrast_objections, contrasts_of
from tests.reader.document import Document, read_html, read_markdown
from tests.reader.drawn import KINDS, Drawn
from tests.reader.drawn_kinds import BY_NUMBERS
from tests.reader.planted import planted
from tests.reader.read import read, read_numbers
from tests.reader.reader import Reader

from teiten.model.text import Language
from teiten.report.render.html import html
from teiten.report.render.markdown import markdown_text
from teiten.report.view.report import view

EVERY = (*KINDS, *BY_NUMBERS)
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
    found: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        by_kind = ", ".join(f"{kind}: {count}" for kind, count in sorted(self.reports.items()))
        yield (
            f"reports: {self.reports.total()} ({by_kind}); {self.sentences} sentences;"
            f" {len(self.found)} findings; {self.planted} wrong sentences planted,"
            f" {len(self.missed)} not seen"
        )
        for one in (*self.found, *self.missed):
            yield f"    {one}"


def read_reports(count: int, seed: int) -> Readings:
    """``count`` campaigns of the kinds in turn, each in both languages; those of every kind are
    drawn from ``seed``, ``seed + 1``, …"""
    readings = Readings()
    for at in range(count):
        readings.count += 1
        kind, drawn_from = EVERY[at % len(EVERY)], seed + at // len(EVERY)
        one = kind(random.Random(drawn_from))
        unread = kind in BY_NUMBERS
        for language in get_args(Language):
            page = view(one.analysis, language)
            document = read_markdown(markdown_text(page, "0.1.0"))
            reader = _tallied(readings, one, document, language, drawn_from, unread=unread)
            if at % EVERY_PAGE == 0:
                _tallied(
                    readings,
                    one,
                    read_html(html(page, "0.1.0")),
                    language,
                    drawn_from,
                    unread=unread,
                )
            if at % EVERY_PLANTED == 0 and not unread and not reader.objections:
                _plant(readings, one, document, language, reader)
    return readings


def _tallied(
    readings: Readings,
    one: Drawn,
    document: Document,
    language: Language,
    seed: int,
    *,
    unread: bool,
) -> Reader:
    reader = (read_numbers if unread else read)(document, one.campaign, language)
    readings.reports[one.kind] += 1
    readings.sentences += reader.read
    study, analysis = one.analysis.plan.study, one.analysis
    titles = {workload.name: getattr(workload.title, language) for workload in study.workloads}
    contrasts = contrasts_of(analysis)
    objections = (
        *reader.objections,
        *disagreements(document, titles, contrasts),
        *(contrast_objections(one.campaign, contrasts) if language == "en" else ()),
    )
    readings.found += [f"{one.kind}, seed {seed}, {language}: {why}" for why in objections]
    return reader


def _plant(
    readings: Readings, one: Drawn, document: Document, language: Language, reader: Reader
) -> None:
    for wrong in planted(document, language, reader.given):
        readings.planted += 1
        if not read(wrong.document, one.campaign, language).objections:
            readings.missed.append(f"not seen: {wrong.after} (was: {wrong.before})")
