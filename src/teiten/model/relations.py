"""Tables and indexes of a template, as its server counted them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

RELATIONS = "relations"
"""The kind of the event that records them, once for each template of a campaign. Its detail:
``fingerprint`` (of the template), ``server`` (the level), ``layout`` (or None), ``workload`` (the
first that has the template), and ``relations`` (see ``relations_of``)."""

PLANNER = "planner"
"""The key of a trial's facts that holds the parameters of parallelism and partitions in force, name
and value as pg_settings has them (``setting``, in the parameter's own unit)."""


@dataclass(frozen=True)
class Relation:
    """A table, an index, or what partitions them. Pages are of 8 KiB."""

    name: str
    """The name in SQL: with its schema where that is not on the search path."""
    kind: str
    """pg_class.relkind: r table, i index, m materialised view, p partitioned table, I partitioned
    index."""
    pages: int
    """pg_class.relpages, which the planner uses; 0 of what is partitioned."""
    rows: float
    """pg_class.reltuples: an estimate, after VACUUM ANALYZE a close one."""
    table: str | None = None
    """The table of an index."""
    parent: str | None = None
    """The partitioned table or index that a partition is part of."""
    workers: int | None = None
    """The storage parameter parallel_workers, where it is set."""


def relations_as_detail(relations: tuple[Relation, ...]) -> list[dict[str, Any]]:
    """For an event."""
    return [asdict(relation) for relation in relations]


def relations_of(detail: Mapping[str, Any]) -> tuple[Relation, ...]:
    """Those of an event of the kind RELATIONS."""
    return tuple(Relation(**relation) for relation in detail[RELATIONS])
