"""The planner's circumstances as a campaign recorded them: sizes of relations, and limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from teiten.analysis.model.explain_use import WorkerLimits
from teiten.model.relations import RELATIONS, Relation, relations_of
from teiten.model.trial import Event

Relations = Mapping[str, Relation]
"""By the name that plans have for them."""
_LAST_NAME = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<bare>[^".]+))$')


def recorded_relations(events: Iterable[Event]) -> dict[str, Relations]:
    """By the template's fingerprint, and then by the names that plans have for them."""
    return {
        str(event.detail.get("fingerprint")): _by_plain_name(relations_of(event.detail))
        for event in events
        if event.kind == RELATIONS
    }


def _by_plain_name(relations: Iterable[Relation]) -> dict[str, Relation]:
    """By the name without schema and quotes; without those of which two schemas have one."""
    by_name: dict[str, list[Relation]] = {}
    for relation in relations:
        plain = _LAST_NAME.search(relation.name)
        name = plain["quoted"] or plain["bare"] if plain else relation.name
        by_name.setdefault(name.replace('""', '"'), []).append(relation)
    return {name: namesakes[0] for name, namesakes in by_name.items() if len(namesakes) == 1}


def limits_of(parameters: object) -> WorkerLimits | None:
    """The limits among the parameters that a trial recorded; None where one is missing. 9.6 has
    other names, and no limit of parallel workers apart from that of all background workers."""
    if not isinstance(parameters, Mapping):
        return None
    names = (
        ("max_parallel_workers_per_gather",),
        ("max_parallel_workers", "max_worker_processes"),
        ("max_worker_processes",),
        ("min_parallel_table_scan_size", "min_parallel_relation_size"),
        ("min_parallel_index_scan_size", "min_parallel_relation_size"),
    )
    values = [
        next((parameters[name] for name in spellings if name in parameters), "")
        for spellings in names
    ]
    try:
        return WorkerLimits(*(int(str(value)) for value in values))
    except ValueError:
        return None
