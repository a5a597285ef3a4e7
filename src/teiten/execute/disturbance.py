"""Whether others disturbed a trial: a rule on the machine's record, blind to the result."""

from __future__ import annotations

from collections.abc import Mapping

from teiten.model.trial import Problem
from teiten.model.units import Share

RULES = (
    ("steal", "cpu_steal_share"),
    ("other-load", "cpu_other_share"),
    ("steal", "client_cpu_steal_share"),
    ("other-load", "client_cpu_other_share"),
)
"""The code of the problem, and the metric that has a share of the CPU."""


def problems(metrics: Mapping[str, float], limit: Share) -> tuple[Problem, ...]:
    """Where others used more than this share (METHOD.md, A trial, 7)."""
    return tuple(
        Problem(code, f"{metrics[metric]:.1%} > {limit:.1%}")
        for code, metric in RULES
        if metrics.get(metric, 0.0) > limit
    )
