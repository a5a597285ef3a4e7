"""The JSON schema of what ``teiten site --json`` prints; a change of meaning raises the version."""

from __future__ import annotations

from typing import Any

VERSION = 1
_COUNT = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string"}


def site_schema() -> dict[str, Any]:
    properties = {
        "index": {"description": "The first page's path.", "type": "string"},
        "campaigns": {
            "description": "Newest first; a folder is relative to the site's.",
            "type": "array",
            "items": _closed({"campaign": _TEXT, "folder": _TEXT}),
        },
        "lines": {"description": "Of the history.", **_COUNT},
        "changes": {"description": "Marked on all lines.", **_COUNT},
        "comparisons": {"description": "Between machines.", **_COUNT},
        "left_out": {
            "description": "Ledgers that are not in the site, and why.",
            "type": "array",
            "items": _closed({"ledger": _TEXT, "why": _TEXT}),
        },
        "written": {"description": "Files that were written, as they changed.", **_COUNT},
        "removed": {"description": "Files of what is no longer there.", **_COUNT},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:teiten:site:{VERSION}",
        "title": "Teiten site",
        **_closed(properties),
    }


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
