"""The 13 queries, and whether a database gives the results that are known at scale factor 1."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from importlib import resources

import psycopg

from teiten.errors import ServerError
from teiten.model.ssb import SsbVariant


@dataclass(frozen=True)
class KnownResult:
    """A query's result at scale factor 1."""

    rows: int
    md5: str
    """Of its lines in the order of their bytes; a line is the fields with | between them."""


def queries() -> dict[str, str]:
    """The 13 queries of the paper by name (q1.1 … q4.3), in order."""
    files = sorted(
        (file for file in _folder().iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    return {file.name.removesuffix(".sql"): file.read_text(encoding="utf-8") for file in files}


def known_results(variant: SsbVariant) -> dict[str, KnownResult]:
    """The results at scale factor 1 by query; empty for the paper's variant."""
    text = (_folder() / "results.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text).get(variant.value, {})
    return {name: KnownResult(**result) for name, result in found.items()}


def result_of(connection: psycopg.Connection, query: str) -> KnownResult:
    """Run a query and condense its result. Raises psycopg.Error."""
    cursor = connection.execute(query.encode())
    lines = sorted("|".join(str(value) for value in row).encode() for row in cursor.fetchall())
    text = b"".join(line + b"\n" for line in lines)
    return KnownResult(len(lines), hashlib.md5(text, usedforsecurity=False).hexdigest())


def check_results(connection: psycopg.Connection, variant: SsbVariant) -> None:
    """Compare the 13 results with the known ones; the data must be of scale factor 1.

    Raises ServerError with the first difference, psycopg.Error.
    """
    known = known_results(variant)
    for name, query in queries().items():
        found = result_of(connection, query)
        if found != known[name]:
            raise ServerError(
                f"{name} gives {found.rows} rows (MD5 {found.md5}), not {known[name].rows}"
                f" ({known[name].md5})",
                "report this with the server's version: data or query are not the reference's",
            )


def _folder() -> resources.abc.Traversable:
    return resources.files("teiten") / "studies" / "sql" / "ssb"
