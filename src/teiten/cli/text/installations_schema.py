"""The JSON schema of installations as ``teiten pg … --json`` prints them: a list of such objects by
``list``, ``install`` and ``remove``, one by ``build``."""

from __future__ import annotations

from typing import Any

from teiten.model.installation import Source

VERSION = 1
_TEXT = {"type": "string"}
_MAYBE = {"type": ["string", "null"]}
_ASKED = {"type": ["boolean", "null"]}


def installation_schema() -> dict[str, Any]:
    properties: dict[str, Any] = {
        "name": {"description": "Unique on this machine.", **_TEXT},
        "version": {"pattern": r"^\d+\.\d+(\.\d+)?$", **_TEXT},
        "version_number": {"description": "server_version_num", "type": "integer"},
        "source": {"enum": [one.value for one in Source]},
        "managed": {"description": "Teiten installed it.", "type": "boolean"},
        "server": {"description": "It is more than client programs.", "type": "boolean"},
        "bin_directory": _TEXT,
        "pgbench": _MAYBE,
        "psql": _MAYBE,
        "contrib": {"type": "array", "items": _TEXT, "uniqueItems": True},
        "fingerprint": {"description": "SHA-256 of the server's program.", **_TEXT},
        "build": {
            "description": "From what and how Teiten built it.",
            "type": ["object", "null"],
            "required": ["key", "source", "digest", "configure", "cflags", "compiler"],
        },
        "built_as": {
            "description": "What its program says of how it was built; null where it says nothing.",
            "type": ["object", "null"],
            "properties": {
                "compiler": _MAYBE,
                "optimisation": _MAYBE,
                "link_time_optimisation": _ASKED,
                "assertions": _ASKED,
                "jit": _ASKED,
                "icu": _ASKED,
                "cflags": _MAYBE,
                "configure": _MAYBE,
            },
            "required": ["compiler", "optimisation", "assertions"],
            "additionalProperties": False,
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:teiten:installation:{VERSION}",
        "title": "Teiten installation",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
