"""The JSON schema of installations as ``teiten pg … --json`` prints them: a list of such objects by
``list``, ``install`` and ``remove``, one by ``build``."""

from __future__ import annotations

from teiten.cli.schemas.parts import MAYBE_TEXT, TEXT, Schema, closed, document
from teiten.model.installation import Source

VERSION = 1
_ASKED = {"type": ["boolean", "null"]}


def installation_schema() -> Schema:
    properties: dict[str, Schema] = {
        "name": {"description": "Unique on this machine.", **TEXT},
        "version": {"pattern": r"^\d+\.\d+(\.\d+)?$", **TEXT},
        "version_number": {"description": "server_version_num", "type": "integer"},
        "source": {"enum": [one.value for one in Source]},
        "managed": {"description": "Teiten installed it.", "type": "boolean"},
        "server": {"description": "It is more than client programs.", "type": "boolean"},
        "bin_directory": TEXT,
        "pgbench": MAYBE_TEXT,
        "psql": MAYBE_TEXT,
        "contrib": {"type": "array", "items": TEXT, "uniqueItems": True},
        "fingerprint": {"description": "SHA-256 of the server's program.", **TEXT},
        "build": {
            "description": "From what and how Teiten built it.",
            "type": ["object", "null"],
            "required": ["key", "source", "digest", "configure", "cflags", "compiler"],
        },
        "built_as": {
            "description": "What its program says of how it was built; null where it says nothing.",
            "type": ["object", "null"],
            "properties": {
                "compiler": MAYBE_TEXT,
                "optimisation": MAYBE_TEXT,
                "link_time_optimisation": _ASKED,
                "assertions": _ASKED,
                "jit": _ASKED,
                "icu": _ASKED,
                "cflags": MAYBE_TEXT,
                "configure": MAYBE_TEXT,
            },
            "required": ["compiler", "optimisation", "assertions"],
            "additionalProperties": False,
        },
    }
    return document("installation", VERSION, closed(properties))
