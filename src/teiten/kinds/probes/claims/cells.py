"""Data that claims about probes are checked on: a number of a probe at a level, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from teiten.analysis.model.claims import Claim
from teiten.analysis.model.evidence import Blocks, log_changes
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.claims.sides import ClaimSide, places_of
from teiten.kinds.probes.model import PROBE
from teiten.model.plan import Plan
from teiten.model.quantities import parse_size
from teiten.model.units import Bytes


@dataclass(frozen=True)
class ProbeAtLevel:
    """A probe at a level."""

    level: str
    server: str
    """Where the campaign has several; else empty."""
    blocks: Blocks
    buffers: Bytes | None
    """The shared buffers there; None where they are not known."""
    side: ClaimSide
    """The place of its numbers."""


def cells_of(
    claim: Claim, ground: Ground, probe: str, factor: str, named: tuple[str, ...]
) -> Iterator[tuple[ProbeAtLevel, ...]]:
    """For each server the cells of the levels named. Raises UnmetError where the campaign lacks
    probe or levels, or varies what the finding does not know."""
    evidence = ground.evidence
    known = evidence.levels(claim.workload)
    if probe not in known.get(PROBE, ()):
        raise UnmetError("probe", probe=probe)
    levels = [evidence.level(claim.workload, factor, one) for one in named]
    if len(set(levels)) < len(levels):  # of a factor that is not varied, the study's own setting
        raise UnmetError("factor", factor=factor)
    of_probe = replace(claim, contrast=None, at=((PROBE, probe),))
    for place in places_of(of_probe, evidence, along=(factor,)):
        sides = [place.sides[0].further(factor, level) for level in levels]
        yield tuple(
            ProbeAtLevel(
                level,
                place.server,
                side.blocks(evidence, claim.metric),
                _buffers(ground.plan, side),
                side,
            )
            for level, side in zip(levels, sides, strict=True)
        )


def contrasted_cells(
    claim: Claim, ground: Ground, probe: str
) -> Iterator[tuple[ProbeAtLevel, ...]]:
    """For each server the cells of the old and of the new level of a claim that has a contrast.
    Raises UnmetError as ``cells_of`` does."""
    contrast = claim.contrast
    assert contrast is not None
    return cells_of(claim, ground, probe, contrast.factor, (contrast.old, contrast.new))


def ratios(old: ProbeAtLevel, new: ProbeAtLevel) -> Blocks:
    """ln(new / old) of each block that has both."""
    return log_changes(old.blocks, new.blocks)


def _buffers(plan: Plan, side: ClaimSide) -> Bytes | None:
    for trial in plan.trials:
        here = dict(trial.cell.levels)
        if trial.cell.workload == side.workload and side.at.items() <= here.items():
            try:
                return parse_size(dict(trial.settings).get("shared_buffers", ""))
            except ValueError:
                return None
    return None
