"""The order of trials (METHOD.md, The order): randomised blocks with adjacent contrasts.

Every draw comes from ``random.Random(seed).random()`` alone: Python keeps that sequence from one
version to the next, which it does not promise for ``shuffle`` or ``randrange``.

Both servers of a pair whose servers run side by side are started, and one of them is under load at
a time. They stay started for ``restart_every`` pairs, unless the workload changes its data, which
are restored before every trial, or the study is a sweep, in which the next pair is another
level's. Where statements take turns, they stay started for all statements of a block. Contrasted
levels share one server where a session can set all that they differ in; else a start has all of
them, or the base and some of the others.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Generic, TypeVar

from teiten.errors import WayError
from teiten.factors.registry import rule
from teiten.model.facts import HostFacts
from teiten.model.installation import Installation
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.study import Study
from teiten.plan.cells import cell_groups
from teiten.plan.estimate import OTHER_BYTES
from teiten.ways.registry import way_of

T = TypeVar("T")

LARGEST_SEED = 2**31 - 1
"""Every pgbench takes such a number as --random-seed."""


@dataclass(frozen=True)
class Ordered(Generic[T]):
    """A cell at its place in the order."""

    block: int
    """From 1."""
    item: T
    seed: int
    """Seed that all items of a group share within a block; another for each group and block."""


def in_blocks(
    groups: Sequence[Sequence[T]],
    *,
    blocks: int,
    seed: int,
    start: Callable[[T], object] = lambda _: None,
    has: Callable[[int, T], bool] = lambda _block, _item: True,
) -> Iterator[Ordered[T]]:
    """Every item that a block has, once: groups in random order, a group's items adjacent.

    ``start``: what an item's servers are started for; in a block groups of one start are adjacent.
    ``has``: of a block, from 1, and an item; of a group that is left with one item it has none.

    ``groups``: the cells of each context, old and new ones together; their order inside a group is
    drawn anew each time. The same groups, blocks and seed give the same order.
    """
    source = random.Random(seed)  # noqa: S311 - an order that can be repeated, not a secret
    used: set[int] = set()
    for block in range(1, blocks + 1):
        order = shuffled(groups, source)
        starts = [start(group[0]) for group in order]
        for group in sorted(order, key=lambda group: starts.index(start(group[0]))):
            present = [item for item in group if has(block, item)]
            if len(present) < min(2, len(group)):
                continue  # nothing to compare it with
            trial_seed = _fresh_seed(source, used)
            for item in shuffled(present, source):
                yield Ordered(block=block, item=item, seed=trial_seed)


def shuffled(items: Sequence[T], source: random.Random) -> list[T]:
    """A uniformly random permutation (Fisher and Yates)."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        drawn = int(source.random() * (last + 1))
        result[last], result[drawn] = result[drawn], result[last]
    return result


def levels_of_blocks(study: Study, seed: int) -> tuple[frozenset[str], ...]:
    """Which of the contrasted levels each block has: all, or the base and some of the others.

    So many blocks as have all levels between them (``Study.starts_of_all``) have each of the others
    once, in parts that are drawn anew and differ by one level at most.
    """
    parts, (base, *others) = study.starts_of_all, study.contrasted_levels
    source = random.Random(LARGEST_SEED + seed)  # noqa: S311 - other draws than the order's
    blocks: list[frozenset[str]] = []
    while len(blocks) < study.measure.blocks:
        order = shuffled(others, source)
        blocks += (frozenset((base, *order[part::parts])) for part in range(parts))
    return tuple(blocks[: study.measure.blocks])


def turns(members: int, slices: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Draw each member's places, from 1, of its slices among those of all, which take turns.

    Every round holds one slice of each member, in an order that is drawn anew.
    """
    source = random.Random(seed)  # noqa: S311 - an order that can be repeated, not a secret
    places: list[list[int]] = [[] for _ in range(members)]
    for turn in range(slices):
        order = shuffled(range(members), source)
        for place, member in enumerate(order, start=turn * members + 1):
            places[member].append(place)
    return tuple(map(tuple, places))


def _fresh_seed(source: random.Random, used: set[int]) -> int:
    while True:
        seed = 1 + int(source.random() * LARGEST_SEED)
        if seed not in used:
            used.add(seed)
            return seed


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


SHARE_OF_MEMORY = 0.8
"""Servers of a start have this share of the machine's memory, at most."""
LEAST_SIDES = 2
"""The base and another level."""


def with_sides(study: Study) -> Study:
    """The study with as many levels in a start as its way, and what was found of the memory,
    permit; in as few parts as there can be, of one size."""
    measure, way = study.measure, way_of(study.measure)
    limits = [limit for limit in (measure.sides, way.most_sides) if limit is not None]
    others, sides = len(study.contrasted_levels) - 1, None
    if way.in_parts and not measure.by_session and limits and min(limits) - 1 < others:
        parts = math.ceil(others / (min(limits) - 1))
        sides = 1 + math.ceil(others / parts)
    return replace(study, measure=replace(measure, sides=sides))


def sides_in_memory(plan: Plan, facts: HostFacts) -> int | None:
    """How many levels a start can have in the machine's memory; None where as many as are planned,
    or where they cannot be divided."""
    study = plan.study
    way, sides = way_of(study.measure), study.sides_of_a_start
    room = facts.memory.total * SHARE_OF_MEMORY - OTHER_BYTES
    needed = plan.needs.memory - OTHER_BYTES
    if not way.in_parts or study.measure.by_session or sides <= LEAST_SIDES or needed <= room:
        return None
    return max(LEAST_SIDES, int(room * sides / needed))


Changeable = Callable[[Installation], frozenset[str]]
"""Tells which parameters, in lower case, a superuser's session can set on a server."""

READ_AT_CONNECTION = frozenset({"local_preload_libraries", "session_preload_libraries"})
"""A session can set them, and has loaded its libraries by then."""


def on_one_server(
    study: Study, servers: Sequence[tuple[str, Installation]], changeable: Changeable
) -> Study:
    """The study whose contrasted levels share one server, where sessions can set all of their
    parameters on every server, and the way permits it; else as it is, with a server for each."""
    names = contrasted_parameters(study)
    if not way_of(study.measure).one_server or not names:
        return study
    by_session = {name.lower() for name in names} - READ_AT_CONNECTION
    if len(by_session) < len(names) or not all(
        by_session <= changeable(server) for _, server in servers
    ):
        return study
    return replace(study, measure=replace(study.measure, by_session=names))


def contrasted_parameters(study: Study) -> tuple[str, ...]:
    """The server parameters that the levels of the contrast set; none where they set anything
    else."""
    return tuple(dict.fromkeys(rule(study.contrast).set_parameters(study, study.contrast)))
