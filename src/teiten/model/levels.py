"""The levels of a factor in a study and its cells, those of servers' aliases among them."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.model.plan import Cell
from teiten.model.study import Study


def level_of(study: Study, cell: Cell, factor: str) -> str | None:
    """The level of a factor in a cell: its own, or the one that belongs to its server's alias."""
    own = cell.level(factor)
    return own if own is not None else dict(of_alias(study, cell)).get(factor)


def of_alias(study: Study, cell: Cell) -> tuple[tuple[str, str], ...]:
    """The levels that belong to the alias of the cell's server."""
    return dict(study.server_levels).get(cell.server, ())


def every_level(study: Study, factor: str) -> tuple[str, ...]:
    """The levels of a factor in all cells, those of servers' aliases among them."""
    varied = study.factor(factor)
    of_aliases = (dict(levels).get(factor) for _, levels in study.server_levels)
    return (*(varied.levels if varied else ()), *(level for level in of_aliases if level))


def varied_factors(study: Study) -> Iterator[str]:
    """All factors of a study, those of servers' aliases among them, each once."""
    names = [factor.name for factor in study.factors]
    of_aliases = (name for _, levels in study.server_levels for name, _ in levels)
    yield from dict.fromkeys((*names, *of_aliases))
