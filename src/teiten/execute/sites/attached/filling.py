"""Filling a database on an attached server as a template is filled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import psycopg

from teiten.execute.sites.attached.connection import Route, answering
from teiten.execute.postgres.programs import pgbench_initialize, run_program
from teiten.model.installation import Pgbench
from teiten.model.plan import TemplateSpec

NOT_VISIBLE = """
SELECT coalesce(sum(relpages - relallvisible), 0)::bigint FROM pg_class
 WHERE relkind = 'r' AND relname LIKE 'pgbench%' AND relallvisible < relpages
"""


class Database(Protocol):
    """An open database of an attached server."""

    @property
    def route(self) -> Route: ...
    @property
    def pgbench_conninfo(self) -> str: ...
    def pgbench_environment(self, settings: tuple[()]) -> Mapping[str, str]: ...
    def connect(self) -> psycopg.Connection[Any]: ...


@dataclass(frozen=True)
class Filled:
    """How a database was filled, for the ledger."""

    facts: dict[str, Any] = field(default_factory=dict)


def fill(database: Database, spec: TemplateSpec, pgbench: Pgbench) -> Filled:
    """``pgbench -i``, then what every template gets: frozen, analysed, all on the disk.

    Raises ServerError where a step fails. Pages that are not known to be visible afterwards (a
    transaction of others holds them back) are told, not refused: the server is not ours alone.
    """
    run_program(
        pgbench_initialize(pgbench, spec.data, database.pgbench_conninfo),
        what=f"pgbench --initialize with scale {spec.data.scale} on {database.route.name}",
        library_path=pgbench.library_path,
        environment=database.pgbench_environment(()),
        hint="see whether the server has the disk for it, and its log",
    )
    attached = spec.installation.attached
    with database.connect() as connection, answering(database.route):
        prewarm = attached is not None and attached.can_prewarm
        if prewarm:
            connection.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
        connection.execute("VACUUM (FREEZE, ANALYZE)")
        row = connection.execute(NOT_VISIBLE).fetchone()
        if attached is not None and attached.can_checkpoint:
            connection.execute("CHECKPOINT")
    return Filled({"pages_not_visible": int(row[0]) if row else 0})
