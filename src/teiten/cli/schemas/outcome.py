"""Schema of how a campaign ended: ``teiten run --json`` and ``teiten resume --json``."""

from __future__ import annotations

from teiten.cli.schemas.parts import (
    ASKED,
    CONTRAST,
    COUNT,
    TEXT,
    Schema,
    closed,
    document,
    judged,
    listed,
)

VERSION = 2


def outcome_schema() -> Schema:
    contrast = {**CONTRAST, "pairs": COUNT}
    body = closed(
        {
            "campaign": TEXT,
            "complete": ASKED,
            "conclusive": ASKED,
            "contrasts": listed(judged(contrast)),
            "reports": listed(TEXT),
        }
    )
    return document("outcome", VERSION, body, verdicts=True)
