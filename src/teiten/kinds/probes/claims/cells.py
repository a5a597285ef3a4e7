"""What claims about probes are checked on: a number of a probe at a level, block by block."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from teiten.analysis.claims.outcomes import SERVER
from teiten.analysis.model.claims import FIRST, LAST, Claim
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.kinds.probes.model import PROBE
from teiten.model.plan import Plan
from teiten.model.quantities import parse_size
from teiten.model.units import Bytes

MIDDLE = "middle"
"""The level in the middle of an odd number of them, three or more."""
Blocks = Mapping[int, float]


@dataclass(frozen=True)
class ProbeAtLevel:
    """A probe at a level."""

    level: str
    server: str
    """Where the campaign has several; else empty."""
    blocks: Blocks
    buffers: Bytes | None
    """The shared buffers there; None where they are not known."""


def cells_of(
    claim: Claim, ground: Ground, probe: str, factor: str, named: tuple[str, ...]
) -> Iterator[tuple[ProbeAtLevel, ...]]:
    """For each server the cells of the levels named. Raises UnmetError where the campaign lacks
    probe or levels, or varies what the finding does not know."""
    known = _known(ground.plan, claim.workload)
    if probe not in known.get(PROBE, ()):
        raise UnmetError("probe", probe=probe)
    levels = known.get(factor, ())
    if len(levels) < 2:
        raise UnmetError("factor", factor=factor)
    others = [
        name
        for name, found in known.items()
        if len(found) > 1 and name not in (factor, PROBE, SERVER)
    ]
    if others:
        raise UnmetError("factors", factors=", ".join(others))
    resolved = [_level(levels, one, factor) for one in named]
    servers = known.get(SERVER, ())
    for server in servers if len(servers) > 1 else ("",):
        yield tuple(
            _cell(claim, ground, {PROBE: probe, factor: one}, server, one) for one in resolved
        )


def ratios(old: ProbeAtLevel, new: ProbeAtLevel) -> tuple[float, ...]:
    """ln(new / old) of each block that has both; NaN where one is not positive."""
    both = sorted(old.blocks.keys() & new.blocks.keys())
    return tuple(logarithm(new.blocks[one]) - logarithm(old.blocks[one]) for one in both)


def logarithm(value: float) -> float:
    return math.log(value) if 0 < value < math.inf else math.nan


def _cell(
    claim: Claim, ground: Ground, levels: Mapping[str, str], server: str, level: str
) -> ProbeAtLevel:
    wanted = {**levels, **({SERVER: server} if server else {})}
    contrast = ground.plan.study.contrast
    blocks = {}
    for one in ground.observations:
        here = {**dict(one.context), contrast: one.side}
        value = one.metrics.get(claim.metric, math.nan)
        matches = all(here.get(name) == each for name, each in wanted.items())
        if one.workload == claim.workload and matches and not math.isnan(value):
            blocks[one.block] = value
    return ProbeAtLevel(level, server, blocks, _buffers(ground.plan, claim.workload, wanted))


def _buffers(plan: Plan, workload: str, wanted: Mapping[str, str]) -> Bytes | None:
    for one in plan.trials:
        here = dict(one.cell.levels)
        if one.cell.workload == workload and all(
            here.get(name) == each for name, each in wanted.items()
        ):
            try:
                return parse_size(dict(one.settings).get("shared_buffers", ""))
            except ValueError:
                return None
    return None


def _known(plan: Plan, workload: str) -> dict[str, tuple[str, ...]]:
    """The levels of the trials planned for a workload, in the study's order."""
    found: dict[str, set[str]] = {}
    for trial in plan.trials:
        if trial.cell.workload == workload:
            for name, level in trial.cell.levels:
                found.setdefault(name, set()).add(level)
    orders = {one.name: one.levels for one in plan.study.factors}
    return {
        name: tuple(level for level in orders.get(name, sorted(levels)) if level in levels)
        for name, levels in found.items()
    }


def _level(levels: tuple[str, ...], named: str, factor: str) -> str:
    if named == MIDDLE:
        if len(levels) < 3 or len(levels) % 2 == 0:
            raise UnmetError("contrast", factor=factor, levels=named)
        return levels[len(levels) // 2]
    if named in (FIRST, LAST):
        return levels[0 if named == FIRST else -1]
    if named not in levels:
        raise UnmetError("contrast", factor=factor, levels=named)
    return named
