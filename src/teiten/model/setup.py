"""A trial while the levels of its cell set their parts of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from teiten.model.conditions import Conditions
from teiten.model.facts import LogicalCpu
from teiten.model.plan import Cell, PlannedLoad
from teiten.model.study import DataSet, Study, Workload


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
