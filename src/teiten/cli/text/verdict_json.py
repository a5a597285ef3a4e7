"""A verdict as the verbs print it with ``--json``."""

from __future__ import annotations

from typing import Any

from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, Verdict


def verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    """Ratio and interval are None where the verdict has no interval; ``reason`` says why, and
    ``extremes`` between which levels a mixed one lies. Where ``conclusive`` is False, the profile
    supports no conclusion, and the verdict is none."""
    effect = verdict.effect
    return {
        "verdict": verdict.kind.value,
        "conclusive": verdict.conclusive,
        "at_least_delta": verdict.at_least_delta,
        "ratio": effect.ratio if effect else None,
        "interval": [effect.low, effect.high] if effect else None,
        "confidence": effect.confidence if effect else None,
        "reason": verdict.reason,
        "extremes": [
            {
                "levels": dict(extreme.context),
                "verdict": extreme.kind.value,
                "ratio": extreme.effect.ratio,
                "interval": [extreme.effect.low, extreme.effect.high],
                "confidence": extreme.effect.confidence,
            }
            for extreme in verdict.extremes
        ],
    }


def contrast_as_json(analysis: CampaignAnalysis, contrast: ContrastResult) -> dict[str, Any]:
    """Describe what is compared, and its verdict."""
    return {
        "workload": contrast.workload,
        "metric": contrast.metric.name,
        "old": contrast.old,
        "new": contrast.new,
        **verdict_as_json(contrast.overall),
        "cpu_agrees": cpu_agrees(analysis, contrast),
    }


def cpu_agrees(analysis: CampaignAnalysis, contrast: ContrastResult) -> bool | None:
    """Whether throughput and the servers' processor time per transaction can both be true, over all
    levels and at each; None of another metric, and where processor time was not counted."""
    witness = analysis.cpu_witness(contrast) if contrast.metric.judged else None
    return None if witness is None else witness.agrees and not witness.parting
