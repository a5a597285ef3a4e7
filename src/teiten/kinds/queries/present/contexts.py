"""The levels of a query's row: a column for each factor that varies beside the contrast."""

from __future__ import annotations

from collections.abc import Iterable

from teiten.kinds.queries.model import QUERY
from teiten.report.names import Context
from teiten.report.tables import Column, Row, TableCell
from teiten.report.view.kit import Kit


def varied_factors(kit: Kit, contexts: Iterable[Context]) -> tuple[str, ...]:
    """Those that tell the rows of a table apart, the query first."""
    found = dict.fromkeys(
        name
        for context in contexts
        for name, _ in kit.names.told.get(context, context)
        if name == QUERY or name not in kit.names.single
    )
    return tuple(sorted(found, key=lambda name: name != QUERY))


def context_columns(kit: Kit, factors: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column(kit.names.factor(name)) for name in factors)


def context_cells(kit: Kit, context: Context, factors: Iterable[str]) -> Row:
    """The levels, as the study orders them."""
    levels = dict(context)
    return tuple(
        TableCell(
            kit.names.level(name, levels.get(name, "")),
            float(kit.names.orders.get(name, {}).get(levels.get(name, ""), 0)),
            kind="left",
        )
        for name in factors
    )
