"""How long the parts of a study take here, before it has a plan, and how many blocks its budget
permits."""

from __future__ import annotations

import math
from dataclasses import replace

from teiten.datasets.plan import build_seconds, data_bytes
from teiten.errors import UsageError
from teiten.model.starts import FIRST_STARTS, LEAST_SECONDS, of_sides
from teiten.model.study import SERVER, Measure, Study, Workload
from teiten.model.units import Seconds
from teiten.plan.cells import cell_groups, data_sets, levels_of, trials_of
from teiten.plan.estimate import trial_seconds
from teiten.plan.ordering import pairs_of_a_start
from teiten.ways.registry import concurrent_trials, is_preferred, way_of

DEFAULT_TARGET = Seconds(3600.0)


def target(study: Study) -> Seconds:
    """Find how long the campaign should take, or may at most."""
    sequential = study.measure.sequential
    budget = sequential.budget if sequential is not None else None
    return budget or study.target_seconds or DEFAULT_TARGET


def overhead(study: Study) -> float:
    """The seconds of a campaign without its load: building, restoring, starting, prewarming."""
    open_measure = replace(
        study.measure, duration=Seconds(0.0), warmup=Seconds(0.0), settle=Seconds(0.0)
    )
    unloaded = replace(study, measure=open_measure)
    return preparing_seconds(study) + study.measure.blocks * block_seconds(unloaded)


def preparing_seconds(study: Study) -> float:
    """Building the templates."""
    sets = {data for workload in study.workloads for data in data_sets(study, workload)}
    return installations(study) * sum(build_seconds(data) for data in sets)


def block_seconds(study: Study) -> float:
    """Estimate one block, or those that have all levels between them: every cell once, the base in
    each; the mean of those whose servers several blocks share."""
    way, groups, shared = way_of(study.measure), cell_groups(study), pairs_of_a_start(study)
    by_workload = {workload.name: _trial_seconds(study, workload) for workload in study.workloads}
    started: list[object] = []
    seconds = 0.0
    for group in groups:
        of_block = way.start_of(study, group[0])
        trials = trials_of(study, group)
        servers = 1 if study.measure.by_session else trials
        begins = servers / shared if of_block is None else servers * (of_block not in started)
        started.append(of_block)
        anew, further = by_workload[group[0].workload]
        seconds += begins * anew + (trials - begins) * further
    return seconds


def _trial_seconds(study: Study, workload: Workload) -> tuple[float, float]:
    """Estimate a trial whose server is started for it, and one whose server is up."""
    size = max(map(data_bytes, data_sets(study, workload)))
    anew = trial_seconds(study, workload, size, restores=study.restores(workload))
    return anew, trial_seconds(study, workload, size, starts=False)


def trials_of_all_levels(study: Study) -> int:
    """How many trials the blocks have that have all levels between them."""
    return sum(trials_of(study, group) for group in cell_groups(study))


def installations(study: Study) -> int:
    """Templates of each data set: one for every server, with and without checksums."""
    workload = study.workloads[0]
    servers = len(levels_of(study, workload, SERVER))
    return servers * max(1, len(levels_of(study, workload, "checksums")))


EXPECTED_PAIRS = 30
"""For which the duration of a trial is derived from the budget: enough for 2 % at a deviation of
2 % and some more (METHOD.md, When to stop)."""
EXPECTED_STARTS = 10
"""As many starts are expected in the way that a study prefers: paired transactions scatter less."""
LEAST_BLOCKS = 6
"""With which a verdict can come: from ``analysis.verdict.sequential.LEAST_PAIRS`` on an interval is
finite, at any share of α that studies have (a test compares)."""
ROOM_FOR_FASTER = 2
"""Times the blocks that are expected in a budget are planned: estimates are on the safe side, and
what ends a campaign is its budget."""
MOST_TRIALS = 5_000
"""The most trials that the blocks of a sequential study may come to."""


def begun(study: Study) -> Study:
    """The study from which a duration is derived: with as many blocks as it may well need."""
    sequential = study.measure.sequential
    if sequential is None:
        return study
    expected = EXPECTED_STARTS if is_preferred(study.measure) else EXPECTED_PAIRS
    blocks = min(sequential.most_blocks or expected, expected)
    return replace(study, measure=replace(study.measure, blocks=blocks))


def bounded(study: Study) -> Measure:
    """The measure with the budget and the blocks that it permits; that of a fixed design as it is.

    Raises UsageError where the budget is too short for one block.
    """
    measure = study.measure
    if measure.sequential is None:
        return measure
    budget, permitted = target(study), blocks_in_budget(study)
    if permitted < 1:
        raise _too_short(study, budget, block_seconds(study), preparing_seconds(study))
    room = permitted * (1 if measure.lengthens else ROOM_FOR_FASTER)
    blocks = min(
        room, measure.sequential.most_blocks or room, MOST_TRIALS // trials_of_all_levels(study)
    )
    shared = pairs_of_a_start(study)
    blocks = blocks // shared * shared or blocks  # a start counts once all of its pairs have run
    return replace(
        measure, blocks=max(1, blocks), sequential=replace(measure.sequential, budget=budget)
    )


def least_budget(study: Study) -> Seconds:
    """Estimate the seconds, in whole minutes, until a sequential study can come to a verdict, with
    preparing."""
    block, starts = block_seconds(study), LEAST_BLOCKS * pairs_of_a_start(study)
    further = max(0, starts - FIRST_STARTS) if study.measure.lengthens else 0
    seconds = (starts - further) * block + further * _shortest_block(study)
    return Seconds(60.0 * math.ceil((preparing_seconds(study) + seconds) / 60))


def blocks_in_budget(study: Study) -> int:
    """Estimate how many blocks end within the budget. Of starts whose length follows from what they
    have shown, the first ones have the planned length, and the others may be the shortest."""
    seconds, block = target(study) - preparing_seconds(study), block_seconds(study)
    permitted = math.floor(seconds / block + 1e-9)
    if not study.measure.lengthens or permitted <= FIRST_STARTS:
        return permitted
    further = (seconds - FIRST_STARTS * block) / _shortest_block(study)
    return FIRST_STARTS + math.floor(further + 1e-9)


def _shortest_block(study: Study) -> float:
    duration = of_sides(LEAST_SECONDS, concurrent_trials(study))
    measure = replace(study.measure, duration=duration)
    return block_seconds(replace(study, measure=measure))


def _too_short(study: Study, budget: Seconds, block: float, preparing: float) -> UsageError:
    pairs = sum(len(group) - 1 for group in cell_groups(study))
    what = "one pair takes" if pairs == 1 else f"one block of {pairs} pairs takes"
    return UsageError(
        f"the budget of {budget:g} s is too short: {what} about {math.ceil(block)} s here, and"
        f" preparing up to {math.ceil(preparing)} s before the first",
        f"give --budget {least_budget(study) / 60:.0f}m or more, with which a verdict can come, or"
        " make trials shorter (a shorter duration, fewer clients, a smaller scale)",
    )
