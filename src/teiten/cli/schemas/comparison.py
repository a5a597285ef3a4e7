"""Schema of what ``teiten compare --json`` prints: ratios are B ÷ A."""

from __future__ import annotations

from teiten.analysis.model.comparison import Weight
from teiten.cli.schemas.claims import OUTCOME
from teiten.cli.schemas.parts import (
    ASKED,
    COUNT,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    TEXT,
    Schema,
    closed,
    document,
    judged,
    listed,
    named,
    said,
)

VERSION = 2


def comparison_schema() -> Schema:
    two = {"type": "array", "items": COUNT, "minItems": 2, "maxItems": 2}
    level = judged(
        {
            "levels": named(TEXT),
            "trials": said("Of A and of B.", two),
            "median_a": MAYBE_NUMBER,
            "median_b": MAYBE_NUMBER,
        }
    )
    result = judged(
        {
            "workload": TEXT,
            "metric": TEXT,
            "level_a": said("Of the contrasted factor.", TEXT),
            "level_b": TEXT,
            "blocks": said("Of A and of B.", two),
            "left_out": said("Levels that one of them lacks.", listed(named(TEXT))),
            "levels": listed(level),
        }
    )
    difference = closed(
        {
            "code": TEXT,
            "weight": {"enum": [one.value for one in Weight]},
            "subject": MAYBE_TEXT,
            "a": TEXT,
            "b": TEXT,
        }
    )
    body = closed(
        {
            "a": TEXT,
            "b": TEXT,
            "comparable": said("Both measured the same.", ASKED),
            "factor": said("What A contrasts.", TEXT),
            "differences": listed(difference),
            "results": listed(result),
            "claims": listed(closed({"id": TEXT, "outcome": OUTCOME, "reason": MAYBE_TEXT})),
            "reports": listed(TEXT),
        }
    )
    return document("comparison", VERSION, body, verdicts=True)
