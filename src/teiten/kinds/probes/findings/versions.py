"""Verdicts of each server against the one before it, of every probe at every side: of its number,
and of the time of what it executes once, such as a scan. They share α with the comparisons of sides
(``findings.effects``).
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from teiten.analysis.model.evidence import log_changes, with_logarithm
from teiten.analysis.model.observations import Context
from teiten.analysis.verdict.changes import geometric, half_width_of
from teiten.analysis.verdict.sequential import decide_by_design
from teiten.analysis.verdict.verdict import Rule
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.kinds.probes.findings.traces import traces_of
from teiten.kinds.probes.findings.tried import Key, Sides, Tried
from teiten.kinds.probes.metrics import PROBE_TIME
from teiten.kinds.probes.model import PROBE
from teiten.kinds.probes.results import Changed, ServerSettings, Trace, VersionPair
from teiten.model.installation import Version
from teiten.model.plan import Plan
from teiten.model.study import SERVER
from teiten.model.text import Bilingual
from teiten.model.units import Share

MECHANISMS = Path(__file__).parent.parent / "mechanisms.toml"


@dataclass(frozen=True)
class _Mechanism:
    since: Version
    probes: tuple[str, ...]
    text: Bilingual
    traces: frozenset[Trace]
    """By which it shows; empty for one that nothing here shows."""
    comparable: bool


def version_pairs(plan: Plan, tried: Mapping[Key, Sides]) -> Iterator[VersionPair]:
    """None where servers are contrasted, or there is one of them alone."""
    for cells in servers_compared(plan, tried):
        yield _pair(plan, cells, comparison_alpha(plan, cells.workload))


@dataclass(frozen=True)
class ServersCompared:
    """Cells that differ in the server alone."""

    workload: str
    probe: str
    context: Context
    executed: str
    side: str
    servers: tuple[str, str]
    old: Mapping[int, Tried]
    new: Mapping[int, Tried]


def servers_compared(plan: Plan, tried: Mapping[Key, Sides]) -> Iterator[ServersCompared]:
    """Every comparison of two servers."""
    servers = plan.study.levels(SERVER)
    if len(servers) < 2 or plan.study.contrast == SERVER:
        return
    by_others: dict[Key, dict[str, Sides]] = {}
    for (workload, context), sides in tried.items():
        others = tuple(pair for pair in context if pair[0] != SERVER)
        by_others.setdefault((workload, others), {})[dict(context).get(SERVER, "")] = sides
    for (workload, others), of_server in by_others.items():
        probe = dict(others).get(PROBE, "")
        for old, new in itertools.pairwise(server for server in servers if server in of_server):
            for side in (level for level in of_server[old] if level in of_server[new]):
                trials = of_server[old][side], of_server[new][side]
                for executed in ("", *_executed(*trials)):
                    yield ServersCompared(
                        workload, probe, others, executed, side, (old, new), *trials
                    )


def _executed(*trials: Mapping[int, Tried]) -> list[str]:
    """Steps of both."""
    steps = [
        {step.step for trial in some.values() for step in trial.measurement.executed}
        for some in trials
    ]
    return sorted(set.intersection(*steps))


def _pair(plan: Plan, compared: ServersCompared, alpha: Share) -> VersionPair:
    measure, executed = plan.study.measure, compared.executed
    before, after = (_numbers(trials, executed) for trials in (compared.old, compared.new))
    ratios = log_changes(before, after)
    usable = list(with_logarithm(ratios).values())
    rule = Rule(measure.delta, alpha, PROBE_TIME.better)
    versions = {level: server.version for level, server in plan.servers}
    came = list(_came(compared.probe, *(versions[server] for server in compared.servers)))
    traces = tuple(traces_of(compared.old, compared.new, executed=bool(executed)))
    differ = {trace.trace for trace in traces}
    return VersionPair(
        workload=compared.workload,
        probe=compared.probe,
        context=compared.context,
        executed=executed,
        side=compared.side,
        old=compared.servers[0],
        new=compared.servers[1],
        old_number=geometric(list(before.values()), measure.alpha, half_width_of(measure)),
        new_number=geometric(list(after.values()), measure.alpha, half_width_of(measure)),
        verdict=decide_by_design(measure, usable, rule, unusable=len(ratios) - len(usable)),
        changed=tuple(
            Changed(
                mechanism.text,
                tuple(trace for trace in Trace if trace in mechanism.traces & differ),
            )
            for mechanism in came
        ),
        traces=traces,
        comparable=all(mechanism.comparable for mechanism in came),
    )


def _numbers(trials: Mapping[int, Tried], executed: str) -> dict[int, float]:
    numbers = {block: _number(trial, executed) for block, trial in trials.items()}
    return {block: number for block, number in numbers.items() if not math.isnan(number)}


def _number(tried: Tried, executed: str) -> float:
    if not executed:
        return tried.metrics.get(PROBE_TIME.name, math.nan)
    return sum(once.seconds for once in tried.measurement.executed if once.step == executed)


def settings_seen(plan: Plan, tried: Mapping[Key, Sides]) -> Iterator[ServerSettings]:
    """By server, those that any trial told."""
    servers = plan.study.levels(SERVER)
    for level in servers if len(servers) > 1 else ():
        values: dict[str, dict[str, None]] = {}
        for (_, context), sides in tried.items():
            if dict(context).get(SERVER) != level:
                continue
            for trial in (trial for side in sides.values() for trial in side.values()):
                for name, value in trial.measurement.settings:
                    values.setdefault(name, {})[value] = None
        if values:
            yield ServerSettings(level, tuple((name, tuple(seen)) for name, seen in values.items()))


def _came(probe: str, first: Version, second: Version) -> Iterator[_Mechanism]:
    """List the changes to a probe's mechanism that came between two versions."""
    older, newer = sorted((first, second))
    for mechanism in _mechanisms():
        if older < mechanism.since <= newer and probe in mechanism.probes:
            yield mechanism


@cache
def _mechanisms() -> tuple[_Mechanism, ...]:
    table = tomllib.loads(MECHANISMS.read_text(encoding="utf-8"))
    return tuple(
        _Mechanism(
            Version.parse(mechanism["since"]),
            tuple(mechanism["probes"]),
            Bilingual(mechanism["en"], mechanism["ja"]),
            frozenset(map(Trace, mechanism.get("seen_by", ()))),
            mechanism.get("comparable", True),
        )
        for mechanism in table["mechanisms"]
    )
