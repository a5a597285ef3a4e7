"""Schema of what ``teiten rm --json`` prints: a list of deleted campaigns."""

from __future__ import annotations

from teiten.cli.schemas.parts import TEXT, Schema, closed, document, listed

VERSION = 1


def removed_schema() -> Schema:
    return document("removed", VERSION, listed(closed({"name": TEXT, "folder": TEXT})))
