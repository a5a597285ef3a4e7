"""Whether the sides of a study's pairs can be loaded in paired transactions. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.errors import WayError
from teiten.kinds.contract import plan_of
from teiten.model.study import CachePolicy, Study

OF_ONE_LOAD = ("cores", "memory", "query_mode")
"""Factors that set, for one side, what one load of both sides has but once."""
CLASSIC_HINT = "leave it out, or have the sides loaded one after the other: --way classic"


def check_way(study: Study) -> None:
    """Raise WayError where a study asks for paired transactions and cannot have them."""
    reason = why_classic(study)
    if study.measure.paired and reason is not None:
        raise WayError(reason, CLASSIC_HINT)
    if study.measure.by_statement:
        for reason in _no_turns(study):
            raise WayError(reason, 'leave it out, or write way = "classic"')


def why_classic(study: Study) -> str | None:
    """What a study asks for that paired transactions cannot give; None where they can be had."""
    return next(_reasons(study), None)


def _reasons(study: Study) -> Iterator[str]:
    measure = study.measure
    contrasted = study.factor(study.contrast)
    if contrasted is None or len(contrasted.levels) != 2:
        yield "they are of two sides"
    if measure.slices > 1:
        yield "slices are turns of one side at a time"
    if measure.restart_every > 1:
        yield "restart_every keeps servers up for several pairs"
    if measure.caches is not CachePolicy.KEEP:
        yield f"caches={measure.caches.value} asks for cold caches"
    if measure.memory is not None:
        yield "a limit of memory is for one side's server with its load"
    varied = {name for name in (study.contrast, *_of_sides(study)) if name in OF_ONE_LOAD}
    fixed = {one.name for one in study.factors} & {"cores", "memory"}
    for name in sorted(varied | fixed):
        yield f"{name} is set for each side's load by itself"
    for workload in study.workloads:
        reason = plan_of(workload.kind).unpaired(workload)
        if reason is not None:
            yield reason


def _no_turns(study: Study) -> Iterator[str]:
    """Why statements cannot take turns between servers that are up."""
    measure = study.measure
    if measure.caches is not CachePolicy.KEEP:
        yield f"caches={measure.caches.value} asks for cold caches"
    if measure.memory is not None or study.factor("memory") is not None:
        yield "a limit of memory is for one side's server with its load"
    for workload in study.workloads:
        if not plan_of(workload.kind).takes_turns:
            yield f"statements can take turns, and {workload.name} {plan_of(workload.kind).does}"
        elif workload.changes_data:
            yield f"the workload {workload.name} changes its data, which are restored each time"


def _of_sides(study: Study) -> set[str]:
    """What belongs to the servers' aliases."""
    return {name for _, levels in study.server_levels for name, _ in levels}
