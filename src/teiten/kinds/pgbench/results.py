"""Results of loads of pgbench, beside verdicts: how they scale, and what limits them."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.analysis.model.discussion import Tail
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.scaling import ScalingResult
from teiten.analysis.model.verdict import CarryOver
from teiten.kinds.pgbench.model import NAME
from teiten.kinds.pgbench.placements import PlacementResult
from teiten.kinds.pgbench.scale_out.results import ScaleOutResult
from teiten.model.bottleneck import BottleneckResult


@dataclass(frozen=True)
class PgbenchFound:
    """Results of all loads of pgbench of a campaign, in the study's order."""

    scaling: tuple[ScalingResult, ...] = ()
    """Results for every workload, context and side with four loads or more."""
    bottlenecks: tuple[BottleneckResult, ...] = ()
    """Findings for every entry of ``scaling`` with a knee; none without measured ceilings."""
    placements: tuple[PlacementResult, ...] = ()
    """Results for every workload and context; empty without the factor placement."""
    carry_over: tuple[tuple[str, CarryOver], ...] = ()
    """By workload, of paired transactions: one for each of the two numbers."""
    scale_out: tuple[ScaleOutResult, ...] = ()
    """Results for every workload and context, where numbers of nodes are contrasted."""
    tails: tuple[Tail, ...] = ()
    """Latency's tail for every contrast whose trials have percentiles."""


def pgbench_found(analysis: CampaignAnalysis) -> PgbenchFound:
    """Find a campaign's results of loads of pgbench; empty ones without any."""
    results = analysis.results.get(NAME, PgbenchFound())
    assert isinstance(results, PgbenchFound)
    return results
