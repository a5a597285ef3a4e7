"""Schema of what ``teiten data ssb --json`` prints: a list of tables that were made."""

from __future__ import annotations

from teiten.cli.schemas.parts import COUNT, TEXT, Schema, closed, document, listed, said

VERSION = 1


def tables_schema() -> Schema:
    one = closed(
        {"table": TEXT, "rows": COUNT, "file": said("Not of a server's.", TEXT)},
        optional=("file",),
    )
    return document("tables", VERSION, listed(one))
