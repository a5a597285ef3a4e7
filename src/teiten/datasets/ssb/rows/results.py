"""Whether a server holds the rows that were sent, and gives the results of the 13 queries that are
known for its data."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from teiten.datasets.ssb.rows.blocks import Watch
from teiten.datasets.ssb.rows.native import SsbColumn
from teiten.errors import ServerError
from teiten.model.ssb import SsbData, SsbTable, SsbVariant, Written

FOLDER = Path(__file__).resolve().parents[3] / "studies" / "sql" / "ssb"


@dataclass(frozen=True)
class KnownResult:
    """A query's result on all rows of a variant at a scale factor."""

    rows: int
    md5: str
    """MD5 of its lines in the order of their bytes; a line is the fields with | between them."""


def queries() -> dict[str, str]:
    """The 13 queries of the paper by name (q1.1 … q4.3), in order."""
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.sql"))}


def known_results(variant: SsbVariant, scale: float) -> dict[str, KnownResult]:
    """The results by query; empty for a scale factor whose results are not known."""
    text = (FOLDER / "results.toml").read_text(encoding="utf-8")
    results = tomllib.loads(text)[variant].get(f"{scale:g}", {})
    return {name: KnownResult(**result) for name, result in results.items()}


def has_known_results(data: SsbData) -> bool:
    """Whether the 13 queries can be held against known results: on all tables, whole."""
    complete = data.chunk.whole and set(data.tables) == set(SsbTable)
    return complete and bool(known_results(data.variant, data.scale))


def condensed(rows: Iterable[Sequence[object]]) -> KnownResult:
    """The number of a result's rows, and the MD5 of its lines in the order of their bytes."""
    lines = sorted("|".join(str(value) for value in row).encode() for row in rows)
    text = b"".join(line + b"\n" for line in lines)
    return KnownResult(len(lines), hashlib.md5(text, usedforsecurity=False).hexdigest())


def check_results(
    connection: psycopg.Connection, variant: SsbVariant, scale: float, watch: Watch
) -> None:
    """Compare the 13 results with the known ones, those of ``scale``.

    Tables that were just loaded have no statistics yet, and for so few rows as the server then
    expects it would join in nested loops: these are left out.

    Raises ServerError with the first difference, ValueError where none are known, psycopg.Error.
    """
    known = known_results(variant, scale)
    if not known:
        raise ValueError(f"no results are known at scale factor {scale:g}")
    with connection.transaction():
        connection.execute("SET LOCAL enable_nestloop = off")
        for name, query in queries().items():
            watch.step(f"checking the result of {name}")
            result = condensed(connection.execute(query.encode()).fetchall())
            if result != known[name]:
                raise ServerError(
                    f"{name} gives {result.rows} rows (MD5 {result.md5}), not {known[name].rows}"
                    f" ({known[name].md5})",
                    "report this with the server's version: data or query are not the reference's",
                )


def verify_sums(
    connection: psycopg.Connection, name: str, columns: Sequence[SsbColumn], written: Written
) -> None:
    """Compare a table's row count and column sums with the generator's.

    Raises ServerError with the first difference.
    """
    expressions = sql.SQL(", ").join(
        sql.SQL("sum(octet_length({}))" if column.type == "text" else "sum({})").format(
            sql.Identifier(column.name)
        )
        for column in columns
    )
    statement = sql.SQL("SELECT count(*), {} FROM {}").format(expressions, sql.Identifier(name))
    row: tuple[Any, ...] | None = connection.execute(statement).fetchone()
    assert row is not None
    labels = ["the number of rows", *(f"the sum of {column.name}" for column in columns)]
    for label, value, expected in zip(labels, row, (written.rows, *written.sums), strict=True):
        if int(value or 0) != expected:
            raise ServerError(
                f"{written.table} is not what was sent: {label} is {value or 0}, not {expected}",
                "report this with the server's version; the tables have been dropped",
            )
