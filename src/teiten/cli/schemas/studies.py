"""Schema of what ``teiten studies --json`` prints: the catalogue as a list."""

from __future__ import annotations

from teiten.cli.schemas.parts import BILINGUAL, TEXT, Schema, closed, document, listed

VERSION = 1


def studies_schema() -> Schema:
    one = closed(
        {
            "name": TEXT,
            "title": BILINGUAL,
            "question": BILINGUAL,
            "sources": listed(TEXT),
            "profiles": listed(TEXT),
        }
    )
    return document("studies", VERSION, listed(one))
