"""The answer of a gate: its workloads with their outcomes, and what they were found from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from teiten.analysis.model.findings import CampaignAnalysis, TrialView
from teiten.analysis.verdict.gate import GateLine, GateOutcome, gate_lines, gate_outcome
from teiten.factors.registry import rule
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.model.study import GUC_PREFIX
from teiten.model.units import Seconds, Share
from teiten.study.sides import AGAIN, BASE, HEAD


@dataclass(frozen=True)
class GateAnswer:
    """A gate whose campaign has ended."""

    campaign: str
    plan: Plan
    lines: tuple[GateLine, ...]
    attempts: tuple[TrialView, ...]
    seconds: Seconds
    """The time that the campaign took."""

    @property
    def outcome(self) -> GateOutcome:
        return gate_outcome(self.lines)

    @property
    def delta(self) -> Share:
        return self.plan.study.measure.delta

    @property
    def servers(self) -> Mapping[str, str]:
        """The server of each side, for people."""
        known, own = dict(self.plan.servers), dict(self.plan.study.server_levels)
        return {side: _named(known[side], own.get(side, ())) for side in (BASE, HEAD)}


def _named(server: Installation, levels: Iterable[tuple[str, str]]) -> str:
    """``18.4``, ``commit-1a2b3c4d5e (19devel)``, ``old on 18.4``, ``work_mem = 4MB on 18.4``"""
    version = str(server.version)
    name = server.name if version in server.name else f"{server.name} ({version})"
    own = [
        level if rule(factor).of_workloads else f"{factor.removeprefix(GUC_PREFIX)} = {level}"
        for factor, level in levels
    ]
    return f"{', '.join(dict.fromkeys(own))} on {name}" if own else name


def answer_of(analysis: CampaignAnalysis) -> GateAnswer:
    """The answer of the campaign of a gate."""
    return GateAnswer(
        analysis.name,
        analysis.plan,
        gate_lines(analysis.contrasts, head=HEAD, again=AGAIN),
        analysis.trials,
        analysis.wall,
    )
