"""The rows of filled tables several times over, with the integers shifted that keys are made of.

Columns that foreign keys join form a group, and a column that none joins is a group by itself.
Groups of integers are shifted: those that foreign keys join, and the first one of every other
primary key or unique index. In copy j each value is larger by j times the group's span, so that
keys stay unique, and a reference finds the row of its own copy. All other columns repeat. A unique
index without an integer cannot be repeated, and is refused. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

INTEGERS = {"smallint": 2**15, "integer": 2**31, "bigint": 2**63}
"""The types that are shifted, and the first number that each cannot hold."""

Column = tuple[int, int]
"""A table's oid, and the column's number."""
Group = frozenset[Column]


class UncopiedError(ValueError):
    """The rows cannot be repeated; its text says why."""


@dataclass(frozen=True)
class TableColumns:
    """A table with the columns that can be inserted: by number, name and type. Names are quoted
    where that is needed."""

    oid: int
    name: str
    partitioned: bool
    columns: Mapping[int, tuple[str, str]]


@dataclass(frozen=True)
class UniqueKey:
    """A primary key or unique index; the number 0 is an expression."""

    name: str
    table: int
    columns: tuple[int, ...]


@dataclass(frozen=True)
class ForeignKey:
    table: int
    columns: tuple[int, ...]
    references: int
    referenced: tuple[int, ...]


@dataclass(frozen=True)
class TableRelations:
    """The tables of a database, and what their keys are."""

    tables: Mapping[int, TableColumns]
    unique: Sequence[UniqueKey]
    foreign: Sequence[ForeignKey]

    def column(self, column: Column) -> tuple[str, str]:
        """The name and the type of a column; both empty of an expression."""
        return self.tables[column[0]].columns.get(column[1], ("", ""))

    def shifts(self, group: Group) -> bool:
        return all(self.column(column)[1] in INTEGERS for column in group)


def shifted_groups(relations: TableRelations) -> tuple[Group, ...]:
    """The groups of columns that are shifted. Raises UncopiedError for a key without any."""
    groups = _joined(relations.foreign)
    shifted = [group for group in dict.fromkeys(groups.values()) if relations.shifts(group)]
    for key in sorted(relations.unique, key=lambda key: len(key.columns)):
        columns = [(key.table, number) for number in key.columns]
        if any(column in group for column in columns for group in shifted):
            continue
        own = (groups.get(column, frozenset({column})) for column in columns)
        first = next(filter(relations.shifts, own), None)
        if first is None:
            raise UncopiedError(
                f"the unique index {key.name} of {relations.tables[key.table].name} has no integer"
                " that could be shifted"
            )
        shifted.append(first)
    return tuple(shifted)


def _joined(foreign: Iterable[ForeignKey]) -> dict[Column, Group]:
    """Each column of a foreign key with all that such keys join it with."""
    groups: dict[Column, Group] = {}
    for key in foreign:
        for number, referenced in zip(key.columns, key.referenced, strict=True):
            ends = ((key.table, number), (key.references, referenced))
            joined = frozenset[Column]().union(*(groups.get(end, {end}) for end in ends))
            groups |= dict.fromkeys(joined, joined)
    return groups


def spans(
    relations: TableRelations,
    groups: Iterable[Group],
    extremes: Mapping[Column, tuple[int, int] | None],
    times: int,
) -> dict[Column, int]:
    """By how much each column's values in a copy are larger than those in the copy before it.

    ``extremes``: its least and largest value; None where it has none. Raises UncopiedError where a
    column cannot hold the values of the last copy.
    """
    by_column: dict[Column, int] = {}
    for group in groups:
        known = [ends for column in group if (ends := extremes[column]) is not None]
        span = max(high for _, high in known) - min(low for low, _ in known) + 1 if known else 0
        for column in group:
            ends = extremes[column]
            name, kind = relations.column(column)
            if ends is not None and ends[1] + span * (times - 1) >= INTEGERS[kind]:
                raise UncopiedError(
                    f"{relations.tables[column[0]].name}.{name} is {kind}, and cannot hold {times}"
                    f" times its values ({ends[0]} to {ends[1]})"
                )
            by_column[column] = span
    return by_column


def copying(
    relations: TableRelations, by_column: Mapping[Column, int], times: int, *, identities: bool
) -> Iterator[tuple[str, str]]:
    """Each table's name, and the statement that adds its copies. ``identities``: the server has
    identity columns (10 and later)."""
    overriding = " OVERRIDING SYSTEM VALUE" if identities else ""
    for table in relations.tables.values():
        if not table.columns:
            continue
        names = ", ".join(name for name, _ in table.columns.values())
        values = ", ".join(
            f"(t.{name} + copies.number * {by_column[table.oid, number]}::bigint)::{kind}"
            if (table.oid, number) in by_column
            else f"t.{name}"
            for number, (name, kind) in table.columns.items()
        )
        source = table.name if table.partitioned else f"ONLY {table.name}"
        yield (
            table.name,
            f"INSERT INTO {table.name} ({names}){overriding} SELECT {values}"  # noqa: S608 - its own
            f" FROM {source} AS t, generate_series(1, {times - 1}) AS copies (number)",
        )
