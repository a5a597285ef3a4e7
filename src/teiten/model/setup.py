"""A trial while the levels of its cell set their parts of it, the conditions of its servers among
them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from teiten.model.distribution import Distribution
from teiten.model.facts import LogicalCpu
from teiten.model.plan import Cell, PlannedLoad
from teiten.model.storage import FilePlacement
from teiten.model.study import DataSet, Study, Workload
from teiten.model.units import Bytes


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Conditions of a trial's servers: set by factors, kept by planned trials, read by sites."""

    server_cpus: tuple[int, ...] = ()
    """The processors that the server is pinned to; empty where it is not."""
    client_cpus: tuple[int, ...] = ()
    """The processors that the load generator is pinned to; empty where it is not."""
    directory: str | None = None
    """Where the cluster's data are; None for Teiten's working folder."""
    placement: FilePlacement | None = None
    """On which storage each part of the cluster lies; None for all of it in one folder."""
    memory_limit: Bytes | None = None
    """The memory that server and load generator together may use, the page cache of their files
    included; None for no limit."""
    distribution: Distribution | None = None
    """How its tables are spread over its servers; None where the first one has all of them."""
    applied: tuple[tuple[str, str], ...] = ()
    """Factors that are applied as a server starts (``factors/NAME/run.py``), with their levels."""

    def conditions(self) -> dict[str, Any]:
        """The fields above, by name: what a planned trial takes over from its setup."""
        return {field.name: getattr(self, field.name) for field in fields(Conditions)}


@dataclass(frozen=True, kw_only=True)
class Setup(Conditions):
    """Everything of a trial that a factor may set."""

    data: DataSet
    """All tables, wherever they are."""
    parts: tuple[DataSet, ...] = ()
    """The tables of each server, where there are several; empty for one that has all."""
    settings: tuple[tuple[str, str], ...] = ()
    """Server parameters, each once."""
    checksums: bool = False
    load: PlannedLoad = field(default_factory=PlannedLoad)

    def with_settings(self, settings: Mapping[str, str]) -> Setup:
        return replace(self, settings=tuple({**dict(self.settings), **settings}.items()))


@dataclass(frozen=True)
class PlannedCell:
    """A cell, and what a factor may look at where it sets its part of the cell's trials."""

    study: Study
    cell: Cell
    cpus: Sequence[LogicalCpu] = ()
    """The processors that servers can be pinned to."""

    @property
    def workload(self) -> Workload:
        return self.study.workload(self.cell.workload)

    def level(self, factor: str) -> str | None:
        """The cell's own level of a factor."""
        return self.cell.level(factor)
