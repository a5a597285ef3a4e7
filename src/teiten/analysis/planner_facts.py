"""What a campaign recorded of the planner's circumstances: sizes of relations, and limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from teiten.model.query_results import WorkerLimits
from teiten.model.relations import RELATIONS, Relation, relations_of
from teiten.model.trial import Event

Relations = Mapping[str, Relation]
"""By name."""


def recorded_relations(events: Iterable[Event]) -> dict[str, Relations]:
    """By the template's fingerprint."""
    return {
        str(event.detail.get("fingerprint")): {one.name: one for one in relations_of(event.detail)}
        for event in events
        if event.kind == RELATIONS
    }


def limits_of(parameters: object) -> WorkerLimits | None:
    """The limits among the parameters that a trial recorded; None where one is missing."""
    if not isinstance(parameters, Mapping):
        return None
    names = (
        "max_parallel_workers_per_gather",
        "max_parallel_workers",
        "max_worker_processes",
        "min_parallel_table_scan_size",
        "min_parallel_index_scan_size",
    )
    try:
        values = [int(str(parameters[name])) for name in names]
    except (KeyError, ValueError):
        return None
    return WorkerLimits(*values)
