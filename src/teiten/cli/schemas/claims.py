"""Schema of what ``teiten claims --json`` prints: a list of findings."""

from __future__ import annotations

from teiten.analysis.model.claims import ClaimStanding
from teiten.cli.schemas.parts import (
    BILINGUAL,
    COUNT,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    NUMBER,
    TEXT,
    WHOLE,
    Schema,
    closed,
    document,
    listed,
    maybe,
    named,
    said,
)

VERSION = 1
OUTCOME = {"enum": [one.value for one in ClaimStanding]}
_ASSESSED = ("outcome", "reason", "deciding", "checks")
"""Keys that are there with ``--run``."""


def claims_schema() -> Schema:
    check = _check()
    needs = closed(
        {
            "servers": listed(TEXT),
            "factor": MAYBE_TEXT,
            "cores": maybe(WHOLE),
            "levels": named(TEXT),
        }
    )
    printed = closed({"label": TEXT, "value": TEXT, "recomputed": MAYBE_TEXT})
    reason = {"type": "object", "properties": {"code": TEXT}, "required": ["code"]}
    claim = closed(
        {
            "id": TEXT,
            "study": TEXT,
            "promise": said("The major version whose release notes say it.", MAYBE_TEXT),
            "source": closed({"report": TEXT, "section": TEXT, "table": TEXT}),
            "statement": BILINGUAL,
            "workload": TEXT,
            "metric": TEXT,
            "needs": needs,
            "printed": listed(printed),
            "in_print": said("What the printed numbers themselves say.", maybe(check)),
            "outcome": OUTCOME,
            "reason": said("Its code, and the values of its text.", maybe(reason)),
            "deciding": maybe(check),
            "checks": listed(check),
        },
        optional=_ASSESSED,
    )
    return document("claims", VERSION, listed(claim))


def _check() -> Schema:
    ends = {"type": ["array", "null"], "items": MAYBE_NUMBER, "minItems": 2, "maxItems": 2}
    return closed(
        {
            "kind": said("The predicate's.", TEXT),
            "sides": listed(TEXT),
            "at": said("Clients, or cores.", listed(NUMBER)),
            "queries": listed(listed(TEXT)),
            "server": MAYBE_TEXT,
            "ratio": MAYBE_NUMBER,
            "interval": said("Low first.", ends),
            "bounds": said("What the ratio must keep; null is open.", ends),
            "pairs": COUNT,
            "outcome": OUTCOME,
        }
    )
