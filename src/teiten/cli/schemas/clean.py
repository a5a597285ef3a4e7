"""Schema of what ``teiten clean --json`` prints."""

from __future__ import annotations

from teiten.cli.schemas.parts import COUNT, SECONDS, TEXT, Schema, closed, document, listed, said
from teiten.execute.sites.belongings import BelongingKind

VERSION = 1


def clean_schema() -> Schema:
    one = closed(
        {
            "kind": {"enum": [each.value for each in BelongingKind]},
            "name": TEXT,
            "path": TEXT,
            "bytes": COUNT,
            "last_used": said("Seconds since the epoch.", SECONDS),
        }
    )
    body = closed(
        {
            "deleted": listed(one),
            "would_delete": said("With --dry-run.", listed(one)),
            "bytes": said("Of what was deleted.", COUNT),
        }
    )
    return document("clean", VERSION, body)
