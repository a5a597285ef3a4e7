"""A table as data, from which both the HTML and the Markdown are made."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass

from teiten.report.numbers import NOTHING, plain
from teiten.report.texts import Texts


@dataclass(frozen=True)
class Column:
    title: str
    numeric: bool = False


@dataclass(frozen=True)
class TableCell:
    """A cell's text, and what it sorts by where that is not the text."""

    text: str
    sort: float | None = None
    kind: str = ""
    """A CSS class: a verdict's kind, an outcome, ``muted``, ``code``."""
    links: tuple[tuple[str, str], ...] = ()
    """Files beside the page: what each is called, and its relative address."""
    says_nothing: bool = False
    """An interval that has the sign which a note explains (``parts.noted``)."""


Row = tuple[TableCell, ...]


@dataclass(frozen=True)
class Table:
    """Rows under columns; ``name`` is unique in a report."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    total: Row | None = None
    """A last row that stays last when the table is sorted."""
    note: str = ""
    sortable: bool = True
    tall: bool = False
    """Scrolls in its own box."""
    prose: bool = False
    """Its cells are sentences: a small screen shows each row as a card."""


def without_unknown(
    columns: Iterable[Column], rows: Iterable[Row]
) -> tuple[tuple[Column, ...], tuple[Row, ...]]:
    """Columns and rows without columns of numbers in which nothing is known."""
    titles, lines = tuple(columns), tuple(rows)
    kept = [
        at
        for at, column in enumerate(titles)
        if not column.numeric or any(line[at].text != NOTHING for line in lines)
    ]
    return with_columns(kept, titles, lines)


def with_columns(
    kept: Sequence[int], columns: Sequence[Column], rows: Iterable[Row]
) -> tuple[tuple[Column, ...], tuple[Row, ...]]:
    """Columns and rows without all columns but those at some places."""
    return (
        tuple(columns[at] for at in kept),
        tuple(tuple(row[at] for at in kept) for row in rows),
    )


def headings(t: Texts, *keys: str, numeric: bool = False) -> tuple[Column, ...]:
    """Columns with these texts above them."""
    return tuple(Column(t(key), numeric) for key in keys)


def columns_of(
    t: Texts, prefix: str, keys: Iterable[str], words: Container[str], **values: object
) -> tuple[Column, ...]:
    """Columns that the texts ``PREFIX.KEY`` name. ``words``: keys of those without numbers."""
    return tuple(Column(t(f"{prefix}.{key}", **values), numeric=key not in words) for key in keys)


def level_value(text: str, otherwise: int) -> float:
    """By what a level sorts: its number, or its place among the others."""
    try:
        return float(text)
    except ValueError:
        return float(otherwise)


def number_cell(value: float | None, written: Callable[[float], str] = plain) -> TableCell:
    """A number by which its column sorts; a dash where it is not known."""
    return TableCell(NOTHING) if value is None else TableCell(written(value), float(value))


def cells(*values: str | TableCell) -> Row:
    return tuple(value if isinstance(value, TableCell) else TableCell(value) for value in values)
