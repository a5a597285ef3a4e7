"""The clients of a campaign from a provisional run, as in 2020 §5.3.3; pure.

The report tried 1, 16, 32, 64 and 96 clients, saw that reading was near its limit at 32, and chose
levels up to 48; updating had no limit up to 96, and got levels up to twice that. Here the clients
are doubled, and the rule is written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from teiten.model.facts import HostFacts
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.saturation import PROVISIONAL, Saturation, ShortTrial, doublings
from teiten.model.setup import permitted_clients
from teiten.model.study import Factor, Study
from teiten.model.units import Seconds

WITHOUT_GAIN = 2
"""Doublings in a row that bring nothing, before the search ends: one short trial may be low by
chance."""
MOST_PER_CORE = 16
"""Where TPS still rises there (commits that wait for the disk), the search ends."""
LEAST_MOST = 64
SHORT = Seconds(10.0)
"""Duration of a trial of the provisional run, where the campaign's own are longer."""


def most_clients_of(study: Study, facts: HostFacts) -> int:
    """Where the search ends at the latest: a power of two that the connections permit."""
    most = max(LEAST_MOST, MOST_PER_CORE * facts.cpu.logical)
    return doublings(min(most, permitted_clients(study) or most))[-1]


def next_clients(probes: Sequence[ShortTrial], most: int, delta: float) -> int | None:
    """The clients to try next, or None where the search has ended.

    ``probes``: those that have ended, in the order of the doublings. ``delta``: a gain of no more
    than this is none. The search ends after WITHOUT_GAIN doublings without a gain over the best
    before them, at a trial without a result, and at ``most``.
    """
    steps = doublings(most)
    if len(probes) >= len(steps) or any(probe.tps is None for probe in probes):
        return None
    if _idle_steps([probe.tps or 0.0 for probe in probes], delta) >= WITHOUT_GAIN:
        return None
    return steps[len(probes)]


def found_saturation(
    workload: str, probes: Sequence[ShortTrial], most: int, delta: float
) -> Saturation | None:
    """Sum up a search that has ended; None where not even one client had a result."""
    measured = [(probe.clients, probe.tps) for probe in probes if probe.tps is not None]
    if not measured:
        return None
    values = [tps for _, tps in measured]
    enough = max(values) / (1 + delta)
    clients = next(clients for clients, tps in measured if tps >= enough)
    reached = _idle_steps(values, delta) >= WITHOUT_GAIN
    return Saturation(
        workload, tuple(probes), clients, reached, levels_around(clients, most, reached=reached)
    )


def levels_around(clients: int, most: int, *, reached: bool) -> tuple[int, ...]:
    """The levels of the campaign: from 1 to twice the saturation, with one half beyond it; where
    none was reached, up to the last that was tried."""
    fractions = (0.25, 0.5, 1.0, 1.5, 2.0) if reached else (0.25, 0.5, 0.75, 1.0)
    levels = {1, *(round(clients * share) for share in fractions)}
    return tuple(sorted(level for level in levels if 1 <= level <= most))


def upper_levels(most: int) -> tuple[int, ...]:
    """The most numerous levels, with the greatest clients, that a search can lead to."""
    return levels_around(most // 2, most, reached=True) if most >= 2 else (1,)


def provisional_study(study: Study, most: int) -> Study:
    """The study of the provisional run: old side only, short trials, one block.

    ``study``: sized, so that its data are those of the campaign.
    """
    factors = tuple(
        Factor(factor.name, tuple(map(str, doublings(most))))
        if factor.name == "clients"
        else Factor(factor.name, factor.levels[:1])
        for factor in study.factors
    )
    measure = study.measure
    short = replace(
        measure,
        duration=min(SHORT, measure.duration or SHORT),
        warmup=Seconds(min(2.0, measure.warmup or 0.0)),
        blocks=1,
        repeats=min(1, measure.repeats),
        sequential=None,
    )
    return replace(
        study,
        profile=PROVISIONAL,
        conclusive=False,
        factors=factors,
        workloads=tuple(workload.limited("clients", ()) for workload in study.workloads),
        measure=short,
    )


def in_rising_order(plan: Plan) -> Plan:
    """The plan with each workload's trials from few clients to many: each decides on the next."""
    names = [workload.name for workload in plan.study.workloads]

    def place(trial: PlannedTrial) -> tuple[int, int]:
        return names.index(trial.cell.workload), trial.load.connections

    ordered = sorted(plan.trials, key=place)
    return replace(
        plan,
        trials=tuple(replace(trial, number=at) for at, trial in enumerate(ordered, start=1)),
    )


def _idle_steps(values: Sequence[float], delta: float) -> int:
    """How many of the last values brought no gain over the best before them."""
    best, idle = 0.0, 0
    for value in values:
        if value > best * (1 + delta):
            idle = 0
        else:
            idle += 1
        best = max(best, value)
    return idle
