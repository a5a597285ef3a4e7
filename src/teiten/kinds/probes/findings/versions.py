"""Verdicts of each server against the one before it, of every probe at every side: of its number,
and of the time of what it executes once, such as a scan. They share α with the comparisons of sides
(``findings.effects``).

Traces of what changed between two servers, as a campaign saw them beside the time: each is one
number of each trial. It is told where the two servers' trials do not overlap in it and their means
are apart (``thresholds.SEEN_APART``); else it says nothing.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import fmean

from teiten.analysis.model.evidence import log_changes, with_logarithm
from teiten.analysis.model.observations import without
from teiten.analysis.verdict.changes import geometric, half_width_of
from teiten.analysis.verdict.sequential import decide_by_design
from teiten.analysis.verdict.verdict import Rule
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.kinds.probes.findings.effects import Sides, Tried, all_known, trials_of
from teiten.kinds.probes.measurement import PageOrigin, ProbeMeasurement, StepIo, share_of
from teiten.kinds.probes.metrics import PROBE_TIME
from teiten.kinds.probes.model import BLOCK, PROBE
from teiten.kinds.probes.results import Changed, Trace, TraceSeen, VersionPair
from teiten.kinds.probes.thresholds import SEEN_APART
from teiten.model.installation import Version
from teiten.model.plan import Level, Plan
from teiten.model.study import SERVER
from teiten.model.text import Bilingual

MECHANISMS = Path(__file__).parent.parent / "mechanisms.toml"
ByBlock = Mapping[int, Tried]


@dataclass(frozen=True)
class _Mechanism:
    since: Version
    probes: tuple[str, ...]
    text: Bilingual
    traces: frozenset[Trace]
    """By which it shows; empty for one that nothing here shows."""
    comparable: bool


def version_pairs(plan: Plan, tried: Mapping[Level, Sides]) -> Iterator[VersionPair]:
    """None where servers are contrasted, or there is one of them alone."""
    servers = plan.study.levels(SERVER)
    if len(servers) < 2 or plan.study.contrast == SERVER:
        return
    by_others: dict[Level, dict[str, Sides]] = {}
    for (workload, context), sides in tried.items():
        key = (workload, without(context, SERVER))
        by_others.setdefault(key, {})[dict(context).get(SERVER, "")] = sides
    for key, of_server in by_others.items():
        for pair in itertools.pairwise(server for server in servers if server in of_server):
            before, after = (of_server[server] for server in pair)
            for side in (level for level in before if level in after):
                trials = (before[side], after[side])
                for executed in ("", *_executed(*trials)):
                    yield _pair(plan, key, pair, side, trials, executed=executed)


def _executed(*trials: ByBlock) -> list[str]:
    """Steps of both."""
    steps = [
        {step.step for trial in some.values() for step in trial.measurement.executed}
        for some in trials
    ]
    return sorted(set.intersection(*steps))


def _pair(
    plan: Plan,
    key: Level,
    servers: tuple[str, str],
    side: str,
    trials: tuple[ByBlock, ByBlock],
    *,
    executed: str,
) -> VersionPair:
    (workload, context), measure = key, plan.study.measure
    probe = dict(context).get(PROBE, "")
    before, after = (_numbers(of_server, executed) for of_server in trials)
    ratios = log_changes(before, after)
    usable = list(with_logarithm(ratios).values())
    rule = Rule(measure.delta, comparison_alpha(plan, workload), PROBE_TIME.better)
    versions = {level: server.version for level, server in plan.servers}
    came = list(_came(probe, *(versions[server] for server in servers)))
    traces = tuple(traces_of(*trials, executed=bool(executed)))
    differ = {trace.trace for trace in traces}
    mean = partial(geometric, alpha=measure.alpha, width=half_width_of(measure))
    return VersionPair(
        workload=workload,
        probe=probe,
        context=context,
        executed=executed,
        side=side,
        old=servers[0],
        new=servers[1],
        old_number=mean(list(before.values())),
        new_number=mean(list(after.values())),
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


def _numbers(trials: ByBlock, executed: str) -> dict[int, float]:
    """The number of each trial that has one, or the time of what it executed once."""
    numbers = {
        block: sum(once.seconds for once in trial.measurement.executed if once.step == executed)
        if executed
        else trial.number
        for block, trial in trials.items()
    }
    return {block: number for block, number in numbers.items() if not math.isnan(number)}


def settings_seen(
    plan: Plan, tried: Mapping[Level, Sides]
) -> dict[str, dict[str, tuple[str, ...]]]:
    """By server, those that any trial told; nothing of a single server."""
    seen: dict[str, dict[str, dict[str, None]]] = {}
    servers = plan.study.levels(SERVER)
    for server in servers if len(servers) > 1 else ():
        for (_, context), sides in tried.items():
            for trial in trials_of(sides) if dict(context).get(SERVER) == server else ():
                for name, value in trial.measurement.settings:
                    seen.setdefault(server, {}).setdefault(name, {})[value] = None
    return {
        server: {name: tuple(values) for name, values in settings.items()}
        for server, settings in seen.items()
    }


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


# Traces


Take = Callable[[ProbeMeasurement], float | None]
"""A trace of a trial; None where it was not measured."""


def traces_of(old: ByBlock, new: ByBlock, *, executed: bool) -> Iterator[TraceSeen]:
    """Those that differ. ``executed``: only those of what is executed once."""
    for trace, take in (OF_EXECUTED if executed else TRACES).items():
        before, after = (
            all_known(take(trial.measurement) for trial in trials.values()) for trials in (old, new)
        )
        if before and after and apart(before, after):
            yield TraceSeen(trace, fmean(before), fmean(after))


def apart(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether the trials of two servers, one number of each, have nothing in common."""
    overlap = max(before) >= min(after) and max(after) >= min(before)
    old, new = fmean(before), fmean(after)
    return not overlap and abs(old - new) >= SEEN_APART * max(old, new)


def _share(origin: PageOrigin) -> Take:
    def take(measurement: ProbeMeasurement) -> float | None:
        statements = measurement.statements
        known = share_of(statements, PageOrigin.OUTSIDE) == 0
        return share_of(statements, origin) if known else None

    return take


def _reading(measurement: ProbeMeasurement) -> float | None:
    """Find the mean time of a statement's reads; None where nothing was read, or not timed."""
    statements = measurement.statements
    if all(statement.read_seconds is None for statement in statements):
        return None
    return fmean(statement.read_seconds or 0.0 for statement in statements)


def _not_reading(measurement: ProbeMeasurement) -> float | None:
    """The rest of it, where it is a part."""
    reading = _reading(measurement)
    if reading is None:
        return None
    return fmean(statement.seconds for statement in measurement.statements) - reading


def _wal(measurement: ProbeMeasurement) -> float | None:
    """The mean bytes of WAL of a statement; None where none writes any, or one does not tell."""
    known = all_known(statement.wal_bytes for statement in measurement.statements)
    return fmean(known) if any(known) else None


def _scans(measurement: ProbeMeasurement) -> list[StepIo]:
    executed = {once.step for once in measurement.executed}
    return [reads for reads in measurement.io if reads.step in executed]


def _read_size(measurement: ProbeMeasurement) -> float | None:
    """Bytes for each read that the kernel was asked for. I/O workers read signals too, and of reads
    by io_uring the kernel tells nothing to a process: there it is what the server counts."""
    calls = total = 0
    for scan in _scans(measurement):
        if scan.calls is None or scan.called_bytes is None:
            return None
        counted = sum(account.read_bytes for account in scan.accounted)
        if scan.worker_calls or scan.called_bytes < counted / 2:  # a look at it reads a little too
            calls, total = calls + sum(account.reads for account in scan.accounted), total + counted
        else:
            calls, total = calls + scan.calls, total + scan.called_bytes
    return total / calls if calls else None


def _by_workers(measurement: ProbeMeasurement) -> float | None:
    """The share of what was read."""
    own = workers = 0
    for scan in _scans(measurement):
        if scan.called_bytes is None or scan.worker_bytes is None:
            return None
        own, workers = own + scan.called_bytes, workers + scan.worker_bytes
    return workers / (own + workers) if own + workers else None


def _kept(measurement: ProbeMeasurement) -> float | None:
    """Bytes of what was scanned that are in the buffers after it, and were not before."""
    executed = {once.step for once in measurement.executed}
    sums = {
        moment: [
            seen.where.in_buffers
            for seen in measurement.seen
            if seen.step in executed and seen.moment == moment
        ]
        for moment in ("before", "after")
    }
    return float((sum(sums["after"]) - sum(sums["before"])) * BLOCK) if sums["after"] else None


OF_STATEMENTS: Mapping[Trace, Take] = {
    Trace.FROM_BUFFERS: _share(PageOrigin.BUFFERS),
    Trace.FROM_DISK: _share(PageOrigin.DISK),
    Trace.READING: _reading,
    Trace.NOT_READING: _not_reading,
    Trace.WAL: _wal,
}
"""Traces of the statements that are timed."""
OF_EXECUTED: Mapping[Trace, Take] = {
    Trace.READ_SIZE: _read_size,
    Trace.BY_WORKERS: _by_workers,
    Trace.KEPT: _kept,
}
"""Traces of what is executed once, such as a scan."""
TRACES: Mapping[Trace, Take] = {**OF_STATEMENTS, **OF_EXECUTED}
