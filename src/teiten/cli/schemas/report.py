"""Schema of what ``teiten report --json`` prints."""

from __future__ import annotations

from teiten.cli.schemas.parts import ASKED, CONTRAST, TEXT, Schema, closed, document, judged, listed

VERSION = 2


def report_schema() -> Schema:
    verdict = {**CONTRAST, "sentence": TEXT}
    body = closed(
        {
            "campaign": TEXT,
            "path": TEXT,
            "complete": ASKED,
            "conclusive": ASKED,
            "verdicts": listed(judged(verdict)),
        }
    )
    return document("report", VERSION, body, verdicts=True)
