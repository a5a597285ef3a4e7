"""How many pages of a database are all-visible, counted in the visibility maps themselves.

An index-only scan is spared the heap only where a page is. What pg_class says of it is as old as
the last VACUUM or ANALYZE.
"""

from __future__ import annotations

from typing import Any

import psycopg

from teiten.errors import ServerError
from teiten.model.quantities import exact_share
from teiten.model.study import DataSet
from teiten.model.units import Share

EXTENSION = "pg_visibility"
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


def wanted_of(data: DataSet) -> Share | None:
    """The share of all pages that a layout leaves known to be visible; None where it says none."""
    return None if data.layout is None else data.layout.visible


def confirm(connection: psycopg.Connection[Any], data: DataSet, name: str) -> float | None:
    """The share of all pages that are known to be visible; None where nobody asks.

    Raises ServerError where it is not what the layout says, or cannot be counted.
    """
    wanted = wanted_of(data)
    if wanted is None or data.layout is None:
        return None
    share = _share(connection, name)
    if abs(share - wanted) > TOLERANCE:
        raise ServerError(
            f"{name}: {share:.1%} of the pages are known to be visible, and the layout"
            f" {data.layout.name} says {exact_share(wanted)}",
            "correct the layout's scripts, or its all_visible",
        )
    return share


def _share(connection: psycopg.Connection[Any], name: str) -> float:
    try:
        row = connection.execute(PAGES).fetchone()
    except (psycopg.errors.UndefinedFunction, psycopg.errors.InsufficientPrivilege) as error:
        raise ServerError(
            f"{name}: visible pages cannot be counted: {str(error).splitlines()[0]}",
            f"the extension {EXTENSION} (contrib) counts them, for superusers and members of"
            " pg_stat_scan_tables; or let the layout say all_visible = true or false",
        ) from error
    visible, pages = row or (0.0, 0.0)
    return visible / pages if pages else 1.0
