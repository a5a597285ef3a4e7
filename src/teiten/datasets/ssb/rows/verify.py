"""Whether a server holds the rows that were sent, and gives the results that are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

from teiten.datasets.ssb.rows.native import SsbColumn
from teiten.errors import ServerError
from teiten.model.ssb import Written


def verify_sums(
    connection: psycopg.Connection, name: str, found: Sequence[SsbColumn], written: Written
) -> None:
    """Compare a table's row count and column sums with the generator's.

    Raises ServerError with the first difference.
    """
    expressions = sql.SQL(", ").join(
        sql.SQL("sum(octet_length({}))" if one.type == "text" else "sum({})").format(
            sql.Identifier(one.name)
        )
        for one in found
    )
    statement = sql.SQL("SELECT count(*), {} FROM {}").format(expressions, sql.Identifier(name))
    row: tuple[Any, ...] | None = connection.execute(statement).fetchone()
    assert row is not None
    labels = ["the number of rows", *(f"the sum of {one.name}" for one in found)]
    for label, value, expected in zip(labels, row, (written.rows, *written.sums), strict=True):
        if int(value or 0) != expected:
            raise ServerError(
                f"{written.table} is not what was sent: {label} is {value or 0}, not {expected}",
                "report this with the server's version; the tables have been dropped",
            )
