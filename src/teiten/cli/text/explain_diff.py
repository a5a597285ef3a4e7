"""A comparison of two plans for a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.analysis.model.explain import PlanDifference
from teiten.cli.text.layout import bullets, columns, paragraph
from teiten.model.text import Language, shortened
from teiten.report.plans import page
from teiten.report.plans.tables import difference_tables
from teiten.report.tables import Table
from teiten.report.texts import texts

WIDEST_CELL = 56


def as_lines(
    difference: PlanDifference, sides: tuple[str, str], language: Language
) -> Iterator[str]:
    """The headline, statements, differences, notes, and the tables."""
    t = texts(language)
    yield from paragraph(page.headline(t, difference, sides))
    for statement in page.statements(t, difference):
        yield from paragraph(statement)
    yield ""
    yield from bullets(page.changes(t, difference))
    for table in difference_tables(t, "plans", difference, sides):
        yield ""
        yield table.caption
        yield from _table(table)
        if table.note:
            yield from paragraph(table.note, indent="  ")
    yield ""
    for note in page.notes(t, difference, sides):
        yield from paragraph(note)


def _table(table: Table) -> list[str]:
    head = [_short(column.title) for column in table.columns]
    rows = [[_short(cell.text) for cell in row] for row in table.rows]
    right = [index for index, column in enumerate(table.columns) if column.numeric]
    return [f"  {line}" for line in columns([head, *rows], right=right)]


def _short(text: str) -> str:
    flat = " ".join(
        "".join(character if character.isprintable() else " " for character in text).split()
    )
    return shortened(flat, WIDEST_CELL)
