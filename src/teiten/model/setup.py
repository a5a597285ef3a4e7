"""A trial while the levels of its cell set their parts of it, and the levels of a factor in a study
and its cells, those of servers' aliases among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from teiten.model.facts import LogicalCpu
from teiten.model.plan import Cell, Conditions, PlannedLoad
from teiten.model.settings import SPARE_CONNECTIONS
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


def level_of(study: Study, cell: Cell, factor: str) -> str | None:
    """The level of a factor in a cell: its own, or the one that belongs to its server's alias."""
    own = cell.level(factor)
    return own if own is not None else dict(of_alias(study, cell)).get(factor)


def of_alias(study: Study, cell: Cell) -> tuple[tuple[str, str], ...]:
    """The levels that belong to the alias of the cell's server."""
    return dict(study.server_levels).get(cell.server, ())


def every_level(study: Study, factor: str) -> tuple[str, ...]:
    """The levels of a factor in all cells, those of servers' aliases among them."""
    of_aliases = (dict(levels).get(factor) for _, levels in study.server_levels)
    return (*study.levels(factor), *(level for level in of_aliases if level))


def varied_factors(study: Study) -> Iterator[str]:
    """All factors of a study, those of servers' aliases among them, each once."""
    names = [factor.name for factor in study.factors]
    of_aliases = (name for _, levels in study.server_levels for name, _ in levels)
    yield from dict.fromkeys((*names, *of_aliases))


def permitted_clients(study: Study) -> int | None:
    """The most clients that the study's max_connections permits; None where it sets none."""
    fixed = study.fixed_settings.get("max_connections")
    return max(1, int(fixed) - SPARE_CONNECTIONS) if fixed and fixed.isdecimal() else None
