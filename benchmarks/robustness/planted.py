"""Reports of every kind with one wrong number each: which of them the separate reader sees.

A report is drawn, read (an objection to it is a finding), and read again with one of its numbers
changed: by turns one of a sentence and one of a table, drawn first by the part or the table.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from tests.fixtures.drawn import Drawn
from tests.reader.document import Document
from tests.reader.planted import NUMBER, SPOKEN, other
from tests.reader.whole import read_whole, trials_objections

from benchmarks.robustness.reports import EVERY
from teiten.model.text import Language

PLACES = ("sentence", "table")


@dataclass
class Plantings:
    """Counts of a run, by kind and place, and what was found."""

    reports: Counter[str] = field(default_factory=Counter)
    planted: Counter[tuple[str, str]] = field(default_factory=Counter)
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Of the reports that were read."""
        return self.reports.total()

    def lines(self) -> Iterator[str]:
        yield (
            f"reports: {self.reports.total()}; {len(self.findings)} findings;"
            f" {self.planted.total()} wrong numbers planted, {self.seen.total()} seen"
        )
        for kind in self.reports:
            by_place = ", ".join(
                f"{place}s {self.seen[kind, place]}/{self.planted[kind, place]}" for place in PLACES
            )
            yield f"    {kind}: {self.reports[kind]} reports; {by_place}"
        for text in (*self.findings, *self.missed):
            yield f"    {text}"


def plant_numbers(count: int, seed: int) -> Plantings:
    """Read ``count`` reports of the kinds in turn, in both languages by turns, each with a wrong
    number. They are numbered from ``seed`` on: the report of a number is the same, wherever a run
    began or was cut short."""
    result = Plantings()
    with suppress(KeyboardInterrupt):  # a long run that is cut short says what it found
        for number in range(seed, seed + count):
            _plant_one(result, number)
    return result


def _plant_one(result: Plantings, number: int) -> None:
    round_, at = divmod(number, len(EVERY))
    language: Language = "ja" if round_ // 2 % 2 else "en"  # places change every round
    place, kind, chance = PLACES[round_ % 2], EVERY[at], random.Random(number)
    name = kind.__name__
    about = f"{name}, seed {number}, {language}"
    drawn = kind(chance)
    document = drawn.document(language)
    reader = read_whole(document, drawn, language)
    objections = [*reader.objections]
    if isinstance(drawn, Drawn):
        objections += trials_objections(drawn)
    wrong = (
        wrong_sentence(document, reader.given, chance)
        if place == "sentence"
        else wrong_cell(document, chance)
    )
    seen = False
    if wrong is not None:
        again = read_whole(wrong[0], drawn, language)
        seen = bool(set(again.objections) - set(reader.objections))
    result.reports[name] += 1
    result.findings += [f"{about}: {why}" for why in objections]
    result.planted[name, place] += wrong is not None
    result.seen[name, place] += seen
    if wrong is not None and not seen:
        result.missed.append(f"not seen: {about}, {wrong[1]}")


def wrong_sentence(
    document: Document, given: set[str], chance: random.Random
) -> tuple[Document, str] | None:
    """A report with another number in one sentence."""
    places = [
        at
        for at, part in enumerate(document.parts)
        if part.kind in SPOKEN and part.text not in given and NUMBER.search(part.text)
    ]
    if not places:
        return None
    at = chance.choice(places)
    part = document.parts[at]
    number = chance.choice(list(NUMBER.finditer(part.text)))
    text = part.text[: number.start()] + other(number[0]) + part.text[number.end() :]
    parts = [*document.parts]
    parts[at] = replace(part, text=text)
    return Document(parts, document.tables), f"{text} (was: {number[0]})"


def wrong_cell(document: Document, chance: random.Random) -> tuple[Document, str] | None:
    """A report with another number in one cell of a table."""
    tables = [
        (at, cells)
        for at, table in enumerate(document.tables)
        if (cells := list(_cells(table.rows)))
    ]
    if not tables:
        return None
    at, cells = chance.choice(tables)
    table = document.tables[at]
    place, column = chance.choice(cells)
    row = table.rows[place]
    number = chance.choice(list(NUMBER.finditer(row[column])))
    cell = row[column][: number.start()] + other(number[0]) + row[column][number.end() :]
    rows = [*table.rows]
    rows[place] = (*row[:column], cell, *row[column + 1 :])
    changed = replace(table, rows=rows)
    parts = [
        replace(part, table=changed) if part.table is table else part for part in document.parts
    ]
    old, new = " | ".join(row), " | ".join(rows[place])
    parts = [
        replace(part, text=new) if part.table is changed and part.text == old else part
        for part in parts
    ]
    tables_now = [*document.tables]
    tables_now[at] = changed
    return Document(
        parts, tables_now
    ), f"{table.caption}, {table.columns[column]}: {new} (was: {number[0]})"


def _cells(rows: list[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            if NUMBER.search(cell):
                yield place, column
