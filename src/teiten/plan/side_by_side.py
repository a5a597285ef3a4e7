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

from teiten.kinds.contract import plan_of
from teiten.model.plan import PlannedTrial
from teiten.model.study import Study
from teiten.plan.cells import cell_groups
from teiten.plan.ordering import turns


def with_turns(study: Study, trials: Iterable[PlannedTrial]) -> Iterator[PlannedTrial]:
    """The trials of a study whose servers run side by side, each with its turns and its start.

    ``trials``: in the order of execution, the sides of a pair adjacent.
    """
    shared = pairs_of_a_start(study)
    pairs = groupby(trials, key=lambda trial: (trial.block, trial.cell.workload, trial.seed))
    start, last = 0, None
    for number, (_, pair) in enumerate(pairs):
        members = list(pair)
        of_start = _of_start(study, members[0]) if study.measure.by_statement else number // shared
        start, last = start + (of_start != last), of_start
        places = turns(len(members), study.measure.slices, members[0].seed)
        for trial, own in zip(members, places, strict=True):
            yield replace(trial, turns=own, restart=start)


def _of_start(study: Study, trial: PlannedTrial) -> object:
    """What statements have in common that share a start: all but the statement."""
    brought = plan_of(study.workload(trial.cell.workload).kind).brings
    levels = [one for one in trial.cell.context(study.contrast) if one[0] not in brought]
    return trial.block, trial.cell.workload, levels


def pairs_of_a_start(study: Study) -> int:
    """How many pairs share a start of their servers."""
    if len(cell_groups(study)) > 1 or any(one.changes_data for one in study.workloads):
        return 1
    return study.measure.restart_every
