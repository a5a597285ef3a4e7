"""Schema of what ``teiten export --json`` prints."""

from __future__ import annotations

from teiten.cli.schemas.parts import TEXT, Schema, closed, document, listed

VERSION = 1


def export_schema() -> Schema:
    return document("export", VERSION, closed({"campaign": TEXT, "files": listed(TEXT)}))
