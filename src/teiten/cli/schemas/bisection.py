"""Schema of what ``teiten bisect --json`` prints."""

from __future__ import annotations

from teiten.analysis.model.bisection import BisectEnding, BisectStep, CommitComparison
from teiten.cli.schemas.of_values import of_type
from teiten.cli.schemas.parts import (
    MAYBE_TEXT,
    SECONDS,
    TEXT,
    Schema,
    closed,
    document,
    listed,
    said,
)

VERSION = 1


def bisection_schema() -> Schema:
    comparison = of_type(CommitComparison | None)
    body = closed(
        {
            "search": TEXT,
            "ending": {"enum": [one.value for one in BisectEnding]},
            "first_bad": said("The commit that was found.", MAYBE_TEXT),
            "subject": said("The first line of its message.", MAYBE_TEXT),
            "candidates": said("Commits that are left.", listed(TEXT)),
            "effect": comparison,
            "against": {"description": "What the effect compares with.", "enum": _AGAINST},
            "ends": said("Bad against good.", comparison),
            "steps": listed(of_type(BisectStep)),
            "seconds": said("Without builds.", SECONDS),
            "command": said("Continues the search.", TEXT),
        }
    )
    return document("bisection", VERSION, body)


_AGAINST = ["parent", "good", None]
