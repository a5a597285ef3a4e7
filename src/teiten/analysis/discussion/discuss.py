"""All that a campaign's discussion says of verdicts and of the machine."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.analysis.discussion.parting import means_apart, partings, tallies
from teiten.analysis.discussion.processors import processors
from teiten.analysis.model.discussion import Discussion
from teiten.analysis.model.findings import ContrastResult, TrialView
from teiten.model.plan import Plan


def discuss(
    plan: Plan, contrasts: Sequence[ContrastResult], views: Sequence[TrialView]
) -> Discussion:
    """Empty where the study's profile supports no conclusion."""
    if not plan.study.conclusive:
        return Discussion()
    return Discussion(
        tuple(partings(plan.study, contrasts)),
        tuple(tallies(plan.study, contrasts)),
        tuple(means_apart(contrasts)),
        tuple(processors(plan, views)),
    )
