"""Pairs whose servers run side by side: who has which turn, and which pairs share a start.

Both servers of such a pair are started, and one of them is under load at a time. They stay started
for ``restart_every`` pairs, unless the workload changes its data, which are restored before every
trial, or the study is a sweep, in which the next pair is another level's. Where statements take
turns, they stay started for all statements of a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from teiten.errors import WayError
from teiten.model.plan import PlannedTrial
from teiten.model.study import Study
from teiten.plan.cells import cell_groups
from teiten.plan.ordering import turns
from teiten.ways.registry import way_of


def with_turns(study: Study, trials: Iterable[PlannedTrial]) -> Iterator[PlannedTrial]:
    """The trials of a study whose servers run side by side, each with its turns and its start.

    ``trials``: in the order of execution, the sides of a pair adjacent.
    """
    shared, way = pairs_of_a_start(study), way_of(study.measure)
    pairs = groupby(trials, key=lambda trial: (trial.block, trial.cell.workload, trial.seed))
    start = 0
    last: object = None
    for number, (_, pair) in enumerate(pairs):
        members = list(pair)
        of_block = way.start_of(study, members[0].cell)
        of_start = number // shared if of_block is None else (members[0].block, of_block)
        start, last = start + (of_start != last), of_start
        places = turns(len(members), study.measure.slices, members[0].seed)
        for trial, own in zip(members, places, strict=True):
            yield replace(trial, turns=own, restart=start)


def pairs_of_a_start(study: Study) -> int:
    """How many pairs share a start of their servers."""
    if len(cell_groups(study)) > 1 or any(map(study.restores, study.workloads)):
        return 1
    return way_of(study.measure).pairs_of_a_start(study.measure)


def check_way(study: Study) -> None:
    """Raise WayError where a study cannot be measured in the way that it asks for."""
    way = way_of(study.measure)
    for reason in way.obstacles(study):
        raise WayError(reason, way.hint)
