"""Sides that a claim compares, as places of a campaign's evidence, wherever it holds them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.claims.outcomes import of_major
from teiten.analysis.model.claims import BUILD, Claim
from teiten.analysis.model.evidence import Blocks, EvidenceTable, LevelOf
from teiten.analysis.model.predicate import UnmetError
from teiten.model.study import SERVER

Named = Sequence[tuple[str, str]]
"""Factors and levels as a claim names them."""
ANY_BLOCK = 1
"""A published table is a single block, without replicates."""


@dataclass(frozen=True)
class ClaimSide:
    """One side of a claim: the place where its numbers stand."""

    label: str
    """The level of the contrasted factor; empty without a contrast."""
    workload: str
    at: LevelOf

    def further(self, factor: str, level: str) -> ClaimSide:
        """Narrow this side to a level of a further factor."""
        return replace(self, at={**self.at, factor: level})

    def blocks(self, evidence: EvidenceTable, metric: str) -> Blocks:
        """A metric (``QUANTITY`` or ``QUANTITY:PART``) there, by block."""
        return evidence.blocks(self.workload, self.at, metric)


@dataclass(frozen=True)
class ClaimPlace:
    """The sides of a claim at one combination of the levels that it leaves open."""

    context: LevelOf
    sides: tuple[ClaimSide, ...]
    """Old and new; a single one without a contrast."""

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(side.label for side in self.sides)

    @property
    def levels(self) -> tuple[str, ...]:
        """Levels of the factors that the claim leaves open."""
        return tuple(self.context.values())

    @property
    def server(self) -> str:
        """Its level, where the campaign has several and the claim names none; else empty."""
        return self.context.get(SERVER, "")


def places_of(
    claim: Claim,
    evidence: EvidenceTable,
    *,
    along: Collection[str] = (),
    free: Collection[str] | None = (SERVER,),
) -> Iterator[ClaimPlace]:
    """Wherever a claim is to be checked: for each combination of the levels that it leaves open.

    ``along``: the factors whose levels its predicate goes through by itself. ``free``: the only
    factors that it leaves open, each of their levels by itself; None for all. Raises UnmetError for
    levels that the campaign does not have, and for factors that the finding does not know.
    """
    sides = _sides(claim, evidence)
    contexts = [evidence.contexts(side.workload, {*side.at, *along}, free=free) for side in sides]
    if any(of_side != contexts[0] for of_side in contexts):
        open_here = {factor for context in contexts for levels in context for factor in levels}
        raise UnmetError("factors", factors=", ".join(sorted(open_here)))
    for context in contexts[0]:
        yield ClaimPlace(context, tuple(replace(side, at={**context, **side.at}) for side in sides))


def places_at(
    claim: Claim,
    evidence: EvidenceTable,
    factor: str,
    named: Sequence[str],
    *,
    free: Collection[str] | None = (SERVER,),
) -> Iterator[ClaimPlace]:
    """Places as in ``places_of``, with a side for each of the named levels of a factor.

    Raises UnmetError as ``places_of`` does, and where two names are the same level: those of a
    factor that is not varied are the study's own setting.
    """
    levels = [evidence.level(claim.workload, factor, name) for name in named]
    if len(set(levels)) < len(levels):
        raise UnmetError("factor", factor=factor)
    for place in places_of(replace(claim, contrast=None), evidence, along=(factor,), free=free):
        (side,) = place.sides
        sides = (replace(side.further(factor, level), label=level) for level in levels)
        yield replace(place, sides=tuple(sides))


def _sides(claim: Claim, evidence: EvidenceTable) -> tuple[ClaimSide, ...]:
    at = (*claim.at, *_needed_server(claim, evidence))
    contrast = claim.contrast
    if contrast is None:
        return (ClaimSide("", claim.workload, evidence.place(claim.workload, at)),)
    old = _side(claim, evidence, at, contrast.old, contrast.old_at)
    new = _side(claim, evidence, at, contrast.new, contrast.new_at)
    if old.label == new.label:
        raise UnmetError("factor", factor=contrast.factor)
    return old, new


def _side(
    claim: Claim, evidence: EvidenceTable, at: Named, named: str, further: Named
) -> ClaimSide:
    """``further``: levels of this side alone, which are part of what is compared: their factors
    must vary."""
    assert claim.contrast is not None
    factor, own = claim.contrast.factor, dict(further)
    if factor in (SERVER, BUILD):
        level = own[SERVER] = _server(evidence, factor, named)
    else:
        level = own[factor] = evidence.level(claim.workload, factor, named)
    varied = {name: evidence.level(claim.workload, name, level) for name, level in own.items()}
    return ClaimSide(level, claim.workload, {**evidence.place(claim.workload, at), **varied})


def _server(evidence: EvidenceTable, factor: str, named: str) -> str:
    plan = evidence.plan
    by_name = named if named in {level for level, _ in plan.servers} else None
    level = by_name if factor == BUILD else of_major(plan, named)
    if level is None:
        raise UnmetError("contrast", factor=factor, levels=named)
    return level


def _needed_server(claim: Claim, evidence: EvidenceTable) -> Iterator[tuple[str, str]]:
    """The server of a finding about one version that compares something else on it."""
    about_servers = claim.contrast is not None and claim.contrast.factor in (SERVER, BUILD)
    if len(claim.needs.servers) == 1 and not about_servers:
        level = of_major(evidence.plan, claim.needs.servers[0])
        if level is not None:
            yield SERVER, level
