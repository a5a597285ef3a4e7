"""How contrasted levels share servers and starts: one server for all where a session can set all
that they differ in, and starts with all of them, or with the base and some of the others. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from teiten.factors.registry import rule
from teiten.model.facts import HostFacts
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.model.study import Study
from teiten.plan.estimate import OTHER_BYTES
from teiten.ways.registry import way_of

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
