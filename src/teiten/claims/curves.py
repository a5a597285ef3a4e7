"""What claims are checked on: a metric by level, for each side, block by block."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from teiten.analysis.claims.outcomes import SERVER, of_major
from teiten.analysis.model.claims import Claim, PublishedCurves
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.analysis.verdict.verdict import log_ratio
from teiten.claims.forms import Span
from teiten.model.plan import Cell, Plan

BUILD = "build"
"""In a claim's contrast: levels of ``server`` by their names, instead of by major version."""
CLIENTS = "clients"
CORES = "cores"
ANY_BLOCK = 1
"""A published table is a single block, without replicates."""


@dataclass(frozen=True)
class ClaimCurve:
    """A metric of one side, by clients (or cores)."""

    side: str
    points: Mapping[float, Mapping[int, float]]
    """Level to block to value. A planned level without a counted trial has no blocks."""

    @property
    def levels(self) -> tuple[float, ...]:
        return tuple(sorted(self.points))

    def within(self, span: Span, cores: int) -> tuple[float, ...]:
        """The levels of a span."""
        if span.clients is not None:
            return tuple(level for level in self.levels if level == span.clients)
        least = -math.inf if span.least is None else span.least * cores
        most = math.inf if span.most is None else span.most * cores
        return tuple(level for level in self.levels if least <= level <= most)


def log_changes(old: ClaimCurve, at: float, new: ClaimCurve, to: float) -> dict[int, float]:
    """ln(new at ``to`` / old at ``at``) by block; NaN where a value is not positive and finite.

    Such a pair cannot be left out in silence: a server that did nothing at all would win.
    """
    before, after = old.points[at], new.points[to]
    found = {}
    for block in sorted(before.keys() & after.keys()):
        ratio = log_ratio(before[block], after[block])
        found[block] = math.nan if ratio is None else ratio
    return found


def published(curves: PublishedCurves) -> tuple[ClaimCurve, ...]:
    return tuple(
        ClaimCurve(one.label, {level: {ANY_BLOCK: value} for level, value in one.points})
        for one in curves.curves
    )


def measured(
    claim: Claim, ground: Ground, *, metric: str, axis: str = CLIENTS
) -> tuple[ClaimCurve, ...]:
    """The curves of a claim: of a contrast between majors or levels old and new, else one of each
    server. Raises UnmetError where the campaign has none.
    """
    plan = ground.plan
    factor, levels = _sides(claim, plan)
    fixed = _fixed(claim, plan, factor)
    other = [
        one.name
        for one in plan.study.factors
        if len(one.levels) > 1 and one.name not in {factor, axis, *fixed}
    ]
    if other:
        raise UnmetError("factors", factors=", ".join(other))
    return tuple(_curve(claim, ground, {**fixed, factor: level}, axis, metric) for level in levels)


def _sides(claim: Claim, plan: Plan) -> tuple[str, tuple[str, ...]]:
    """The factor whose levels are the curves, and these levels."""
    contrast = claim.contrast
    if contrast is None:
        return SERVER, tuple(level for level, _ in plan.servers)
    if contrast.factor == SERVER:
        found = [of_major(plan, major) for major in (contrast.old, contrast.new)]
    elif contrast.factor == BUILD:
        here = {level for level, _ in plan.servers}
        found = [level if level in here else None for level in (contrast.old, contrast.new)]
    else:
        factor = plan.study.factor(contrast.factor)
        known = factor.levels if factor else ()
        found = [level if level in known else None for level in (contrast.old, contrast.new)]
    if None in found:
        wanted = f"{contrast.old}, {contrast.new}"
        raise UnmetError("contrast", factor=contrast.factor, levels=wanted)
    return _varied(contrast.factor), tuple(level for level in found if level is not None)


def _varied(factor: str) -> str:
    """The factor of the study that a contrast compares levels of."""
    return SERVER if factor == BUILD else factor


def _fixed(claim: Claim, plan: Plan, factor: str) -> dict[str, str]:
    """The levels that the claim names beside, and the server of a contrast that is not one of
    servers. Raises UnmetError for a level that the campaign has not."""
    found = {}
    for name, level in claim.at:
        one = plan.study.factor(name)
        if one is None or level not in one.levels:
            raise UnmetError("contrast", factor=name, levels=level)
        found[name] = level
    if factor != SERVER and claim.needs.servers:
        server = of_major(plan, claim.needs.servers[0])
        found |= {} if server is None else {SERVER: server}
    return found


def _curve(
    claim: Claim, ground: Ground, wanted: Mapping[str, str], axis: str, metric: str
) -> ClaimCurve:
    plan = ground.plan
    points: dict[float, dict[int, float]] = {}
    for trial in plan.trials:
        level = _level(trial.cell, claim.workload, wanted, axis)
        if level is not None:
            points.setdefault(level, {})
    for one in ground.observations:
        cell = Cell(one.workload, (*one.context, (plan.study.contrast, one.side)))
        level = _level(cell, claim.workload, wanted, axis)
        value = one.metrics.get(metric, math.nan)
        if level is not None and not math.isnan(value):
            points[level][one.block] = value
    return ClaimCurve(
        wanted.get(SERVER, "") if claim.contrast is None else _side(claim, wanted), points
    )


def _side(claim: Claim, wanted: Mapping[str, str]) -> str:
    return wanted[_varied(claim.contrast.factor)] if claim.contrast else ""


def _level(cell: Cell, workload: str, wanted: Mapping[str, str], axis: str) -> float | None:
    """Where a cell stands on the axis; None where it is of another workload or side."""
    levels = dict(cell.levels)
    if cell.workload != workload or axis not in levels:
        return None
    # A server that is the only one may not be a factor of the cell.
    if any(levels.get(name, level) != level for name, level in wanted.items()):
        return None
    return float(levels[axis])
