"""Schema of what ``teiten runs --json`` prints: a list of campaigns."""

from __future__ import annotations

from teiten.cli.schemas.parts import (
    COUNT,
    MAYBE_TEXT,
    SECONDS,
    TEXT,
    Schema,
    closed,
    document,
    listed,
    maybe,
    said,
)
from teiten.ledger.campaigns import CampaignState

VERSION = 1


def campaigns_schema() -> Schema:
    one = closed(
        {
            "name": TEXT,
            "folder": TEXT,
            "state": {"enum": [each.value for each in CampaignState]},
            "study": MAYBE_TEXT,
            "profile": MAYBE_TEXT,
            "created_at": said("Seconds since the epoch.", maybe(SECONDS)),
            "done": said("Planned trials that have ended.", COUNT),
            "planned": COUNT,
            "failed": said("Planned trials that ended without one that counts.", COUNT),
            "bytes": said("Of its folder.", COUNT),
            "problem": said("Why it cannot be read.", MAYBE_TEXT),
        }
    )
    return document("campaigns", VERSION, listed(one))
