"""A verdict as the verbs print it with ``--json``."""

from __future__ import annotations

from typing import Any

from teiten.analysis.model.findings import Verdict


def verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    """Ratio and interval are None where the verdict has no interval; ``reason`` says why. Where
    ``conclusive`` is False, the profile supports no conclusion, and the verdict is none."""
    effect = verdict.effect
    return {
        "verdict": verdict.kind.value,
        "conclusive": verdict.conclusive,
        "at_least_delta": verdict.at_least_delta,
        "ratio": effect.ratio if effect else None,
        "interval": [effect.low, effect.high] if effect else None,
        "confidence": effect.confidence if effect else None,
        "reason": verdict.reason,
    }
