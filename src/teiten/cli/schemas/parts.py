"""Parts of which schemas are made (JSON Schema, draft 2020-12)."""

from __future__ import annotations

from typing import Any

from teiten.ways.registry import rules

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": "string"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
ASKED: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
SECONDS: Schema = {"type": "number", "minimum": 0}
CPU_AGREES: Schema = {
    "description": "Of paired transactions: whether throughput and the servers' processor time per"
    " transaction can both be true; null of another metric, and where it was not counted.",
    "type": ["boolean", "null"],
}
WAY: Schema = {"enum": list(rules())}
BILINGUAL: Schema = {
    "type": "object",
    "properties": {"en": TEXT, "ja": TEXT},
    "required": ["en", "ja"],
    "additionalProperties": False,
}
CONTRAST: dict[str, Schema] = {
    **dict.fromkeys(("workload", "metric", "old", "new"), TEXT),
    "cpu_agrees": CPU_AGREES,
}
"""Keys that ``cli.text.verdict_json.contrast_as_json`` gives beside the verdict."""
VERDICT: Schema = {"$ref": "#/$defs/verdict"}
"""In a document that is made with ``verdicts``."""


def document(name: str, version: int, body: Schema, *, verdicts: bool = False) -> Schema:
    """A schema with its name and version. ``verdicts``: it holds the verdict's, for VERDICT."""
    from teiten.cli.schemas.verdict import verdict_schema

    return {
        "$schema": DRAFT,
        "$id": f"urn:teiten:{name}:{version}",
        "title": f"Teiten {name}",
        **body,
        **({"$defs": {"verdict": verdict_schema()}} if verdicts else {}),
    }


def closed(properties: dict[str, Schema], *, optional: tuple[str, ...] = ()) -> Schema:
    """An object with these keys and no other; all but ``optional`` are always there."""
    return {
        "type": "object",
        "properties": properties,
        "required": [one for one in properties if one not in optional],
        "additionalProperties": False,
    }


def judged(properties: dict[str, Schema]) -> Schema:
    """Make the schema of an object with these keys and those of a verdict, and no other."""
    own = {key: value for key, value in closed(properties).items() if key != "additionalProperties"}
    return {**own, "allOf": [VERDICT], "unevaluatedProperties": False}


def listed(each: Schema) -> Schema:
    return {"type": "array", "items": each}


def named(each: Schema) -> Schema:
    """An object whose keys are names."""
    return {"type": "object", "additionalProperties": each}


def maybe(one: Schema) -> Schema:
    return {"anyOf": [one, {"type": "null"}]}


def said(text: str, one: Schema) -> Schema:
    return {"description": text, **one}
