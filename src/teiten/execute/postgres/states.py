"""How trials find the tables: in a state that a factor makes (``factors/FACTOR/fill.py``) and
recognises, and with a share of pages that are known to be visible.

An index-only scan is spared the heap only where a page is all-visible. What pg_class says of it is
as old as the last VACUUM or ANALYZE, so that the visibility maps themselves are counted.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import psycopg

from teiten.datasets.contract import Fillable, Say
from teiten.errors import ServerError, first_line
from teiten.model.quantities import exact_share
from teiten.model.study import DataSet, Setting, TableState
from teiten.model.text import Bilingual
from teiten.model.units import Share

REASON = Bilingual("the state of the tables needs it", "テーブルの状態を保つために設定")
VISIBILITY = "pg_visibility"
TOLERANCE = 0.02
"""A layout that leaves a share of the pages visible may miss it by so much: new versions of changed
rows go to pages of their own."""
PAGES = """
SELECT coalesce(sum(v.all_visible), 0)::float8,
       coalesce(sum(pg_relation_size(c.oid) / current_setting('block_size')::int), 0)::float8
FROM pg_class c LEFT JOIN pg_class o ON o.reltoastrelid = c.oid
JOIN pg_namespace n ON n.oid = coalesce(o.relnamespace, c.relnamespace),
LATERAL pg_visibility_map_summary(c.oid) v
WHERE c.relkind IN ('r', 'm', 't') AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
"""
"""Every table that is not the server's own, its partitions and TOAST tables among them."""


def settings(data: DataSet) -> tuple[Setting, ...]:
    """The parameters that a server needs while the state is made."""
    if data.state is None:
        return ()
    needed = _filler(data.state).settings(data.state.level)
    return tuple(Setting(name, value, REASON, "template") for name, value in needed)


def make(server: Fillable, state: TableState, say: Say) -> None:
    """Bring tables that are vacuumed and analysed into a state. Raises ServerError where it cannot
    be made."""
    _filler(state).make(server, state.level, say)


def confirm(connection: psycopg.Connection[Any], state: TableState) -> dict[str, float]:
    """The numbers by which a state is known. Raises ServerError where the tables are in another."""
    numbers = _filler(state).confirm(connection, state.level, "the trial's server")
    return dict(numbers)


def _filler(state: TableState) -> Any:
    """Find the factor's file by name: what is sent to other hosts holds all that this file imports,
    and must not need what reads studies. States are of servers on this machine."""
    registry = import_module("teiten.factors.registry")
    return registry.stage_of(state.factor, registry.FactorStage.FILL)


def visible_of(data: DataSet) -> Share | None:
    """The share of all pages that a layout leaves known to be visible; None where it says none."""
    return None if data.layout is None else data.layout.visible


def confirm_visible(connection: psycopg.Connection[Any], data: DataSet, name: str) -> float:
    """The share of all pages that are known to be visible, of data whose layout says one.

    Raises ServerError where it is not what the layout says, or cannot be counted.
    """
    assert data.layout is not None and data.layout.visible is not None
    try:
        row = connection.execute(PAGES).fetchone()
    except (psycopg.errors.UndefinedFunction, psycopg.errors.InsufficientPrivilege) as error:
        raise ServerError(
            f"{name}: visible pages cannot be counted: {first_line(error)}",
            f"the extension {VISIBILITY} (contrib) counts them, for superusers and members of"
            " pg_stat_scan_tables; or let the layout say all_visible = true or false",
        ) from error
    visible, pages = row or (0.0, 0.0)
    share: float = visible / pages if pages else 1.0
    if abs(share - data.layout.visible) > TOLERANCE:
        raise ServerError(
            f"{name}: {share:.1%} of the pages are known to be visible, and the layout"
            f" {data.layout.name} says {exact_share(data.layout.visible)}",
            "correct the layout's scripts, or its all_visible",
        )
    return share
