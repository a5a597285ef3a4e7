"""Facts that a server tells of itself before a trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import psycopg

from teiten.connections import first_value
from teiten.errors import ServerError
from teiten.host.cautions.machine import compiler_of
from teiten.model.plan import TemplateSpec

Connect = Callable[[], psycopg.Connection[Any]]

NON_DEFAULT = """
SELECT name, setting || coalesce(' ' || unit, '') FROM pg_settings
WHERE source NOT IN ('default', 'override', 'client', 'session')
  AND setting IS DISTINCT FROM boot_val
  AND name NOT IN ('unix_socket_directories', 'port', 'application_name', 'client_encoding')
ORDER BY name
"""
CONFIGURATION = "SELECT name, setting FROM pg_config() ORDER BY name"
INTERESTING = frozenset({"CONFIGURE", "CC", "CFLAGS", "LDFLAGS", "VERSION"})
"""The lines of pg_config() that are kept; its others are paths."""


def read_server_facts(connect: Connect) -> dict[str, Any]:
    """Version, compiler, build flags and data checksums, as the server itself tells them."""
    with connect() as connection:
        version = str(first_value(connection, "SELECT version()"))
        return {
            "version": version,
            "version_number": int(first_value(connection, "SHOW server_version_num")),
            "compiler": compiler_of(version),
            "data_checksums": first_value(connection, "SHOW data_checksums"),
            "block_size": int(first_value(connection, "SHOW block_size")),
            "assertions": first_value(connection, "SHOW debug_assertions"),
            **_build(connection),
        }


def require_checksums(facts: Mapping[str, Any], template: TemplateSpec) -> None:
    """Raise ServerError where the server's data checksums are not those of its template."""
    asked = "on" if template.checksums else "off"
    if facts["data_checksums"] != asked:
        raise ServerError(
            f"the server says data_checksums={facts['data_checksums']}, its cluster was made with"
            f" {asked}",
            "remove the template (teiten clean) and run again",
        )


def non_default_settings(connect: Connect) -> dict[str, str]:
    """Every parameter that is not at its default, with its unit."""
    with connect() as connection:
        return dict(connection.execute(NON_DEFAULT).fetchall())


def _build(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    """The flags that it was built with; only superusers may ask an attached server for them."""
    try:
        rows = connection.execute(CONFIGURATION).fetchall()
    except psycopg.errors.InsufficientPrivilege:
        return {}
    return {"build": {name: setting for name, setting in rows if name in INTERESTING}}
