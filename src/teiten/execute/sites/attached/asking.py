"""Facts of an attached server, and its role's rights there; asked before anything is planned."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import psycopg

from teiten.connections import first_value
from teiten.errors import ServerError
from teiten.execute.probes.backend import postmaster_of
from teiten.execute.sites.attached.connection import Route, answering
from teiten.model.attached import AttachedServer, ServerParameter
from teiten.model.installation import Installation, Source, Version

OLDEST = Version(90600)
LOOPBACK = ("127.", "::1", "localhost", "/", "@")
"""Beginnings of hosts that are this one, sockets among them."""

ROLE = """
SELECT r.rolname, r.rolsuper, r.rolcreatedb, r.rolconnlimit, pg_is_in_recovery(),
       current_setting('data_checksums') = 'on',
       current_setting('max_connections')::int
         - current_setting('superuser_reserved_connections')::int
  FROM pg_roles r WHERE r.rolname = current_user
"""
SESSIONS = """
SELECT count(*), count(*) FILTER (WHERE usename = current_user)
  FROM pg_stat_activity WHERE usename IS NOT NULL AND pid <> pg_backend_pid()
"""
PARAMETERS = """
SELECT name, setting, unit, vartype,
       context IN ('user', 'backend')
         OR (context IN ('superuser', 'superuser-backend')
             AND (SELECT rolsuper FROM pg_roles WHERE rolname = current_user){granted})
  FROM pg_settings WHERE lower(name) = ANY(%s) ORDER BY name
"""
GRANTED = " OR (context = 'superuser' AND has_parameter_privilege(name, 'SET'))"
MAY_CHECKPOINT = "SELECT pg_has_role(current_user, 'pg_checkpoint', 'USAGE')"
AVAILABLE = "SELECT count(*) > 0 FROM pg_available_extensions WHERE name = %s"
TRUSTED = """
SELECT count(*) > 0 FROM pg_available_extension_versions WHERE name = 'pg_prewarm' AND trusted
"""


def ask(route: Route, names: Collection[str]) -> Installation:
    """Ask an attached server; changes nothing there.

    ``names``: the parameters that the study sets or varies. Raises UsageError or ServerError where
    it cannot be reached, is too old, is a standby, or its role may not create databases.
    """
    with route.connect() as connection, answering(route):
        version = Version(connection.info.server_version)
        check_version(version, route.name)
        server = _ask(connection, route, names, version)
    had = {"pg_prewarm": server.can_prewarm, "pg_buffercache": server.sees_buffers}
    identity = f"{route.address} {version}"
    return Installation(
        name=route.name,
        version=version,
        source=Source.ATTACHED,
        bin_directory=Path(),
        fingerprint=hashlib.sha256(identity.encode()).hexdigest(),
        contrib=frozenset(name for name, there in had.items() if there),
        attached=server,
    )


def check_version(version: Version, name: str) -> None:
    """Raise ServerError for a server that is older than Teiten knows."""
    if version < OLDEST:
        raise ServerError(
            f"the server {name} is PostgreSQL {version.major}; Teiten knows {OLDEST.major} and"
            " newer",
            "name a newer server; all versions from 9.6 on can be installed: teiten pg install 9.6",
        )


def _ask(
    connection: psycopg.Connection[Any], route: Route, names: Collection[str], version: Version
) -> AttachedServer:
    row = connection.execute(ROLE).fetchone()
    assert row is not None
    role, superuser, creates, limit, standby, checksums, connections = row
    _refuse(route, role, creates=creates or superuser, standby=standby)
    sessions, own = connection.execute(SESSIONS).fetchone() or (0, 0)
    free = int(connections) - int(sessions)
    if limit >= 0 and not superuser:
        free = min(free, int(limit) - int(own))
    return AttachedServer(
        address=route.address,
        role=role,
        superuser=superuser,
        can_checkpoint=superuser
        or (version.major_number >= 15 and bool(first_value(connection, MAY_CHECKPOINT))),
        can_prewarm=_can_prewarm(connection, superuser, version),
        data_checksums=checksums,
        free_connections=free,
        other_sessions=int(sessions),
        encrypted=bool(connection.pgconn.ssl_in_use),
        local=postmaster_of(connection) is not None,
        loopback=connection.info.host.startswith(LOOPBACK) or not connection.info.host,
        sees_buffers=superuser and _has(connection, "pg_buffercache"),
        parameters=_parameters(connection, names, version),
    )


def _refuse(route: Route, role: str, *, creates: bool, standby: bool) -> None:
    if standby:
        raise ServerError(
            f"the server {route.name} is a standby: it only reads",
            "attach its primary; Teiten makes a database of its own there",
        )
    if not creates:
        raise ServerError(
            f"the role {role} may not create databases on the server {route.name}, and Teiten"
            " writes only into one that it creates",
            f"ALTER ROLE {role} CREATEDB as a superuser, or name another role in the address",
        )


def _can_prewarm(connection: psycopg.Connection[Any], superuser: bool, version: Version) -> bool:
    if superuser:
        return _has(connection, "pg_prewarm")
    return version.major_number >= 13 and bool(first_value(connection, TRUSTED))


def _has(connection: psycopg.Connection[Any], extension: str) -> bool:
    return bool(first_value(connection, AVAILABLE, (extension,)))


def _parameters(
    connection: psycopg.Connection[Any], names: Collection[str], version: Version
) -> tuple[ServerParameter, ...]:
    query = PARAMETERS.format(granted=GRANTED if version.major_number >= 15 else "")
    rows = connection.execute(query, ([name.lower() for name in names],)).fetchall()
    return tuple(ServerParameter(*row) for row in rows)
