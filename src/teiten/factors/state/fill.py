"""How tables come into a state, and how that is seen."""

from __future__ import annotations

import re
import time
from typing import Any

import psycopg
from psycopg.rows import dict_row

from teiten.datasets.contract import Fillable, Say
from teiten.errors import ServerError, first_line
from teiten.factors.state import numbers_sql, recipes
from teiten.model.installation import Version

VISIBLE_PAGES = "pg_visibility_map_summary"
"""The function that counts them; a server without contrib has none, and they are not told."""
VISIBLE = re.compile(rf"\({VISIBLE_PAGES}\(oid\)\)\.\w+")
COUNTED_WITHIN = 10.0
"""Seconds within which a server has counted what its sessions did."""


def settings(level: str) -> tuple[tuple[str, str], ...]:
    """The parameters that a server needs while the state is made, and to keep it."""
    return recipes()[level].settings


def make(server: Fillable, level: str, say: Say) -> dict[str, float]:
    """Bring tables that are vacuumed and analysed into a state; the numbers by which it is known.

    Raises ServerError where a step fails, or where it is not the state afterwards.
    """
    recipe = recipes()[level]
    if recipe.steps:
        say(f"bringing the tables into the state {level}")
    for text, number in recipe.steps:
        with server.connect() as connection:
            try:
                connection.execute(f"SET teiten.round = {number}".encode())
                connection.execute(text.encode("utf-8"))
            except psycopg.Error as error:
                raise ServerError(
                    f"{server.name}: the state {level} cannot be made: {first_line(error)}",
                    "leave it out of the levels of state, or change the tables",
                ) from error
    end = time.monotonic() + COUNTED_WITHIN
    while True:
        try:
            with server.connect() as connection:
                return confirm(connection, level, server.name)
        except ServerError:
            if time.monotonic() > end:
                raise
        time.sleep(0.5)


def confirm(connection: psycopg.Connection[Any], level: str, name: str) -> dict[str, float]:
    """Count by what a state is known. Raises ServerError where it is not this state."""
    try:
        cursor = connection.cursor(row_factory=dict_row)
        there = cursor.execute(
            f"SELECT to_regproc('{VISIBLE_PAGES}') IS NOT NULL AS there".encode()
        )
        counts_pages = (there.fetchone() or {})["there"]
        text = numbers_sql() if counts_pages else VISIBLE.sub("NULL::bigint", numbers_sql())
        counted = cursor.execute(text.encode("utf-8")).fetchone() or {}
    except psycopg.Error as error:
        raise ServerError(
            f"{name}: the state of the tables cannot be counted: {first_line(error)}",
            "leave the factor state out",
        ) from error
    row = {key: float(value) for key, value in counted.items() if value is not None}
    major = Version(connection.info.server_version).major_number
    for key, (least, most) in recipes()[level].bounds(major).items():
        if key in row and not least <= row[key] <= most:
            raise ServerError(
                f"{name}: the tables are not in the state {level}: {key.replace('_', ' ')}"
                f" is {row[key]:.6g}, and has to be from {least:g} to {most:g}",
                "leave the state out of the levels of state, or give the tables more rows",
            )
    return row
