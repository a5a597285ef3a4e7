"""The JSON schema of a verdict as ``--json`` prints it; a change of meaning raises the version."""

from __future__ import annotations

from typing import Any

from teiten.analysis.model.verdict import VerdictKind

VERSION = 2
_SHARE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}

_EXTREME = {
    "type": "object",
    "required": ["levels", "verdict", "ratio", "interval", "confidence"],
    "additionalProperties": False,
    "properties": {
        "levels": {"type": "object", "additionalProperties": {"type": "string"}},
        "verdict": {"enum": [one.value for one in VerdictKind]},
        "ratio": {"type": "number", "minimum": 0},
        "interval": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
        "confidence": _SHARE,
    },
}


def verdict_schema() -> dict[str, Any]:
    """Make the schema of ``verdict_as_json``; verbs add keys of their own beside these."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:teiten:verdict:{VERSION}",
        "title": "Teiten verdict",
        "description": "What pairs of trials say of a new side against an old one.",
        "type": "object",
        "required": [
            *("verdict", "conclusive", "at_least_delta", "ratio", "interval", "confidence"),
            *("reason", "extremes"),
        ],
        "properties": {
            "verdict": {
                "description": "METHOD.md, Verdicts: what the interval says; mixed: levels"
                " contradict one another, so that their mean says nothing.",
                "enum": [one.value for one in VerdictKind],
            },
            "conclusive": {
                "description": "False: the profile supports no conclusion, and there is no verdict"
                " whatever stands under 'verdict'.",
                "type": "boolean",
            },
            "at_least_delta": {
                "description": "Slower or faster, and the whole interval lies beyond δ.",
                "type": "boolean",
            },
            "ratio": {
                "description": "new ÷ old of the metric; null where nothing can be said.",
                "type": ["number", "null"],
                "minimum": 0,
            },
            "interval": {
                "description": "Ends of the ratio's interval, low first.",
                "type": ["array", "null"],
                "items": {"type": "number", "minimum": 0},
                "minItems": 2,
                "maxItems": 2,
            },
            "confidence": {
                "description": "Of the interval, as a share.",
                "anyOf": [_SHARE, {"type": "null"}],
            },
            "reason": {
                "description": "Code of why nothing can be said.",
                "type": ["string", "null"],
            },
            "extremes": {
                "description": "Of a mixed verdict the level whose interval ends lowest and the one"
                " whose interval begins highest; empty otherwise.",
                "type": "array",
                "items": _EXTREME,
            },
        },
    }
