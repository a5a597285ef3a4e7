"""Results of queries as the server writes them: names of columns, and values as texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg.pq.abc import PGresult

Texts = tuple[str | None, ...]
"""A row; None is NULL."""


def texts_of(result: PGresult) -> tuple[list[str], list[Texts]]:
    """The names of the columns, and the rows. psycopg's own conversion costs several times this."""
    columns = range(result.nfields)
    names = [(result.fname(column) or b"").decode() for column in columns]
    cells = ([result.get_value(row, column) for column in columns] for row in range(result.ntuples))
    return names, [tuple(None if x is None else x.decode() for x in row) for row in cells]
