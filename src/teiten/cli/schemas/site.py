"""The JSON schema of what ``teiten site --json`` prints; a change of meaning raises the version."""

from __future__ import annotations

from teiten.cli.schemas.parts import COUNT, TEXT, Schema, closed, document

VERSION = 1


def site_schema() -> Schema:
    properties: dict[str, Schema] = {
        "index": {"description": "The first page's path.", **TEXT},
        "campaigns": {
            "description": "Newest first; a folder is relative to the site's.",
            "type": "array",
            "items": closed({"campaign": TEXT, "folder": TEXT}),
        },
        "lines": {"description": "Of the history.", **COUNT},
        "changes": {"description": "Marked on all lines.", **COUNT},
        "comparisons": {"description": "Between machines.", **COUNT},
        "left_out": {
            "description": "Ledgers that are not in the site, and why.",
            "type": "array",
            "items": closed({"ledger": TEXT, "why": TEXT}),
        },
        "written": {"description": "Files that were written, as they changed.", **COUNT},
        "removed": {"description": "Files of what is no longer there.", **COUNT},
    }
    return document("site", VERSION, closed(properties))
