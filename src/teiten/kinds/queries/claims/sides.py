"""What claims about queries are checked on: a number by query, for each side, block by block."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from teiten.analysis.claims.outcomes import SERVER, of_major
from teiten.analysis.model.claims import FIRST, LAST, WORKLOAD, Claim, PublishedQueries
from teiten.analysis.model.observations import Observation
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.claims.curves import ANY_BLOCK
from teiten.model.plan import Plan

QUERY = "query"
Blocks = Mapping[int, float]
Known = Mapping[str, tuple[str, ...]]
"""The levels that a workload has of each factor, in the study's order."""
Levels = Mapping[str, str]


@dataclass(frozen=True)
class QueryValues:
    """A number of one side."""

    side: str
    """The level of the contrasted factor; empty without a contrast."""
    by_query: Mapping[str, Blocks]
    """A planned query without a counted trial has no blocks."""


@dataclass(frozen=True)
class ClaimSides:
    """The sides of a claim on one server: old and new, or one."""

    server: str
    """Its level, where the campaign has several; else empty."""
    sides: tuple[QueryValues, ...]

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(self.sides[0].by_query)


def published_sides(table: PublishedQueries) -> ClaimSides:
    """A table as one block, without replicates."""
    return ClaimSides(
        "",
        tuple(
            QueryValues(one.label, {query: {ANY_BLOCK: value} for query, value in one.values})
            for one in table.columns
        ),
    )


def measured_sides(claim: Claim, ground: Ground, metric: str) -> Iterator[ClaimSides]:
    """The claim's sides on each server. Raises UnmetError where the campaign has none."""
    plan, observations = ground.plan, ground.observations
    known = known_levels(plan, claim.workload)
    for server, sides in wanted_levels(claim, plan, known):
        cells = [in_cell(plan, observations, claim.workload, levels) for _, levels in sides]
        yield ClaimSides(
            server,
            tuple(
                QueryValues(label, by_query(found, known.get(QUERY, ()), metric))
                for (label, _), found in zip(sides, cells, strict=True)
            ),
        )


def known_levels(plan: Plan, workload: str) -> Known:
    """The levels of the trials planned for a workload."""
    found: dict[str, set[str]] = {}
    for trial in plan.trials:
        if trial.cell.workload == workload:
            for name, level in trial.cell.levels:
                found.setdefault(name, set()).add(level)
    return {
        factor.name: tuple(level for level in factor.levels if level in found[factor.name])
        for factor in plan.study.factors
        if factor.name in found
    }


def wanted_levels(
    claim: Claim, plan: Plan, known: Known, axis: str = ""
) -> Iterator[tuple[str, list[tuple[str, Levels]]]]:
    """Each server with the claim's sides, as a name and the levels that belong to it.

    ``axis``: a factor along which the claim looks. Raises UnmetError for levels that the campaign
    has not, and for factors that the finding does not know.
    """
    at = _settled(known, claim.at)
    contrast = claim.contrast
    sides: list[tuple[str, dict[str, str]]] = [("", at)]
    if contrast is not None:
        ends = ((contrast.old, contrast.old_at), (contrast.new, contrast.new_at))
        levels = [_contrasted(plan, known, contrast.factor, level) for level, _ in ends]
        if levels[0] == levels[1]:
            raise UnmetError("factor", factor=contrast.factor)
        sides = [
            (level, {**at, contrast.factor: level, **_resolved(known, further)})
            for level, (_, further) in zip(levels, ends, strict=True)
        ]
    named = {name for _, side in sides for name in side} | {SERVER, QUERY, axis}
    others = [name for name, found in known.items() if len(found) > 1 and name not in named]
    if others:
        raise UnmetError("factors", factors=", ".join(others))
    servers = known.get(SERVER, ())
    if len(servers) < 2 or any(SERVER in side for _, side in sides):
        yield "", list(sides)
        return
    for server in servers:
        yield server, [(label, {**side, SERVER: server}) for label, side in sides]


def in_cell(
    plan: Plan, observations: Sequence[Observation], workload: str, levels: Levels
) -> list[Observation]:
    """The observations of a workload at some levels."""
    wanted = {WORKLOAD: workload, **levels}
    found = []
    for one in observations:
        cell = {**dict(one.context), plan.study.contrast: one.side}
        # A server that is the only one may not be a factor of the cell.
        cell[WORKLOAD] = one.workload
        if all(cell.get(name, level) == level for name, level in wanted.items()):
            found.append(one)
    return found


def by_query(
    found: Sequence[Observation], queries: Sequence[str], metric: str
) -> dict[str, dict[int, float]]:
    """A metric by query and block; NaN is a missing value."""
    values: dict[str, dict[int, float]] = {query: {} for query in queries}
    for one in found:
        query = dict(one.context).get(QUERY, "")
        value = one.metrics.get(metric, math.nan)
        if query in values and not math.isnan(value):
            values[query][one.block] = value
    return values


def _contrasted(plan: Plan, known: Known, factor: str, level: str) -> str:
    if factor == WORKLOAD:
        if not known_levels(plan, level):
            raise UnmetError("workload", workload=level)
        return level
    if factor != SERVER:
        return _level(known, factor, level)
    found = of_major(plan, level)
    if found is None:
        raise _missing(factor, (level,))
    return found


def _resolved(known: Known, levels: Sequence[tuple[str, str]]) -> dict[str, str]:
    return {factor: _level(known, factor, level) for factor, level in levels}


def _settled(known: Known, levels: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The same; a first or last level of a factor that is not varied is the study's setting."""
    varied = [one for one in levels if one[1] not in (FIRST, LAST) or one[0] in known]
    return _resolved(known, varied)


def _level(known: Known, factor: str, level: str) -> str:
    """A level of the campaign. Raises UnmetError where it has not got it."""
    found = known.get(factor, ())
    if level in (FIRST, LAST):
        if not found:
            raise UnmetError("factor", factor=factor)
        return found[0 if level == FIRST else -1]
    if level not in found:
        raise _missing(factor, (level,))
    return level


def _missing(factor: str, levels: Sequence[str]) -> UnmetError:
    return UnmetError("contrast", factor=factor, levels=", ".join(levels))
