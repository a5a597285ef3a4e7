"""Verdicts of each server against the one before it, of every probe at every side.

All of a workload are K comparisons with intervals at α/K.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from teiten.analysis.claims.outcomes import SERVER
from teiten.analysis.verdict.sequential import decide_sequentially
from teiten.analysis.verdict.verdict import Rule, decide, log_ratio
from teiten.kinds.probes.findings.estimates import geometric
from teiten.kinds.probes.findings.tried import Key, Sides, Tried
from teiten.kinds.probes.metrics import PROBE_TIME
from teiten.kinds.probes.model import PROBE
from teiten.kinds.probes.results import VersionPair
from teiten.model.installation import Version
from teiten.model.plan import Plan
from teiten.model.text import Bilingual
from teiten.model.units import Share

MECHANISMS = Path(__file__).parent.parent / "mechanisms.toml"


@dataclass(frozen=True)
class _Mechanism:
    since: Version
    probes: tuple[str, ...]
    text: Bilingual
    comparable: bool


def version_pairs(plan: Plan, tried: Mapping[Key, Sides]) -> Iterator[VersionPair]:
    """None where servers are contrasted, or there is one of them alone."""
    factor = plan.study.factor(SERVER)
    if factor is None or len(factor.levels) < 2 or plan.study.contrast == SERVER:
        return
    found = list(_cells(tried, factor.levels))
    for workload in dict.fromkeys(key[0] for key, *_ in found):
        mine = [one for one in found if one[0][0] == workload]
        for one in mine:
            yield _pair(plan, one, len(mine))


_Compared = tuple[Key, str, tuple[str, str], Mapping[int, Tried], Mapping[int, Tried]]


def _cells(tried: Mapping[Key, Sides], servers: tuple[str, ...]) -> Iterator[_Compared]:
    """Cells that differ in the server alone: without it, the side, the two, and their trials."""
    by_others: dict[Key, dict[str, Sides]] = {}
    for (workload, context), sides in tried.items():
        others = tuple(pair for pair in context if pair[0] != SERVER)
        by_others.setdefault((workload, others), {})[dict(context).get(SERVER, "")] = sides
    for key, of_server in by_others.items():
        for old, new in itertools.pairwise(one for one in servers if one in of_server):
            for side in (one for one in of_server[old] if one in of_server[new]):
                yield key, side, (old, new), of_server[old][side], of_server[new][side]


def _pair(plan: Plan, compared: _Compared, intervals: int) -> VersionPair:
    key, side, servers, old, new = compared
    measure = plan.study.measure
    before, after = _numbers(old), _numbers(new)
    ratios = [log_ratio(before[one], after[one]) for one in sorted(before.keys() & after.keys())]
    usable = [one for one in ratios if one is not None]
    rule = Rule(measure.delta, Share(measure.alpha / intervals), PROBE_TIME.better)
    decided = decide if measure.sequential is None else decide_sequentially
    versions = {level: one.version for level, one in plan.servers}
    probe = dict(key[1]).get(PROBE, "")
    changed = tuple(_changed(probe, *(versions[one] for one in servers)))
    return VersionPair(
        workload=key[0],
        probe=probe,
        side=side,
        old=servers[0],
        new=servers[1],
        old_number=geometric(list(before.values()), measure.alpha),
        new_number=geometric(list(after.values()), measure.alpha),
        verdict=decided(usable, rule, unusable=len(ratios) - len(usable)),
        changed=tuple(one.text for one in changed),
        comparable=all(one.comparable for one in changed),
    )


def _numbers(trials: Mapping[int, Tried]) -> dict[int, float]:
    found = {block: one.metrics.get(PROBE_TIME.name, math.nan) for block, one in trials.items()}
    return {block: value for block, value in found.items() if not math.isnan(value)}


def _changed(probe: str, one: Version, other: Version) -> Iterator[_Mechanism]:
    """What of a probe's mechanism came between two versions."""
    older, newer = sorted((one, other))
    for mechanism in _mechanisms():
        if older < mechanism.since <= newer and probe in mechanism.probes:
            yield mechanism


@cache
def _mechanisms() -> tuple[_Mechanism, ...]:
    table = tomllib.loads(MECHANISMS.read_text(encoding="utf-8"))
    return tuple(
        _Mechanism(
            Version.parse(one["since"]),
            tuple(one["probes"]),
            Bilingual(one["en"], one["ja"]),
            one.get("comparable", True),
        )
        for one in table["mechanisms"]
    )
