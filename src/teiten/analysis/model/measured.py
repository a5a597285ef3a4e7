"""Input of the analysis of one kind of workload."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.analysis.model.findings import ContrastResult, TrialView
from teiten.model.facts import HostFacts
from teiten.model.plan import Plan
from teiten.model.trial import Event


@dataclass(frozen=True)
class Measured:
    """A campaign's trials, and the verdicts on the workloads of one kind."""

    plan: Plan
    facts: HostFacts
    workloads: tuple[str, ...]
    """Workloads of the kind, in the study's order."""
    views: tuple[TrialView, ...]
    contrasts: tuple[ContrastResult, ...]
    events: tuple[Event, ...]
