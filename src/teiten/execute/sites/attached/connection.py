"""Connecting to a server that Teiten did not start.

Whatever libpq knows of holds: URI, PG* variables, ~/.pgpass, service file. Of a connection that
works, its parameters are kept without the password, and the password apart from them: it goes to
pgbench by its environment, and is cut out of every message.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg

from teiten import connections
from teiten.addresses import AddressError, read_address
from teiten.connections import Conninfo
from teiten.errors import ServerError, UsageError, first_line

MAINTENANCE_DATABASE = "postgres"
CONNECT_TIMEOUT = 10
"""Seconds."""
KEEPALIVES: dict[str, str] = {
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
"""So that a host that vanished is noticed within half a minute."""
NOT_PASSED_ON = frozenset(
    {"application_name", "client_encoding", "dbname", "options", "passfile", "password", "service",
     "servicefile", "connect_timeout", "sslpassword", *KEEPALIVES}
)  # fmt: skip
"""Parameters that pgbench gets otherwise, or that are resolved already."""
SEVERAL = ("host", "port", "load_balance_hosts")
"""Parameters of an address of several servers, each of which is an entry."""
DEFAULTS = frozenset({("sslcertmode", "allow")})
"""Told by libpq as if it were set; a pgbench older than 16 does not know it."""
HOW_TO_GIVE = (
    "give it in the address on the command line, by PGPASSWORD, in ~/.pgpass or a service file"
)


@dataclass(frozen=True)
class Route:
    """How to reach an attached server; of ``name`` people are told."""

    name: str
    address: str
    """A connection URI without a password."""
    password: str | None = field(default=None, repr=False)

    def connect(
        self, dbname: str | None = None, *, options: str | None = None
    ) -> psycopg.Connection[Any]:
        """Connect in autocommit mode. Raises UsageError for an address that cannot be read,
        ServerError where the server cannot be reached or does not let us in."""
        try:
            return connections.connect(
                self.conninfo(dbname, options=options), prepare_threshold=None
            )
        except psycopg.OperationalError as error:
            raise refusal(self, error) from error

    def conninfo(self, dbname: str | None = None, *, options: str | None = None) -> Conninfo:
        """For our own connections.

        ``dbname``: None for the address's own. ``options``: in place of the address's.
        """
        known = self._parameters()
        mine = {"connect_timeout": str(CONNECT_TIMEOUT), **KEEPALIVES}
        given = {key: value for key, value in mine.items() if key not in known}
        given |= {"application_name": connections.APPLICATION_NAME, "client_encoding": "UTF8"}
        if dbname is not None:
            given["dbname"] = dbname
        elif not connections.names_database(self.address):
            given["dbname"] = MAINTENANCE_DATABASE
        if options is not None:
            given["options"] = options
        secrets = {} if self.password is None else {"password": self.password}
        return connections.to_address(self.address, secrets, **given)

    def hide(self, text: str) -> str:
        """The text without the password."""
        return text.replace(self.password, "…") if self.password else text

    def _parameters(self) -> dict[str, str]:
        try:
            return read_address(self.address)
        except AddressError as error:
            raise UsageError(
                f"the address of the server {self.name} cannot be read: {self.hide(str(error))}",
                "write it as postgresql://role@host:port/database?sslmode=require"
                " (special characters as %40, %2F …)",
            ) from error


def refusal(route: Route, error: psycopg.OperationalError) -> ServerError:
    """Why the server did not let us in, without the password, and what to do."""
    text = route.hide(
        "; ".join(line.strip() for line in str(error).strip().splitlines()).removeprefix(
            "connection failed: "
        )
    )
    message = f"the server {route.name} ({route.address}) cannot be used: {text}"
    connection = error.pgconn
    if connection is not None and connection.needs_password:
        return ServerError(message, f"it wants a password: {HOW_TO_GIVE}")
    if connection is not None and connection.used_password:
        return ServerError(
            message, f"look at the role, the database and the password: {HOW_TO_GIVE}"
        )
    return ServerError(
        message,
        f"see whether psql reaches it: psql '{route.address}'"
        " (host, port, firewall, pg_hba.conf, sslmode)",
    )


@contextmanager
def answering(route: Route) -> Iterator[None]:
    """Turn what goes wrong in a statement, or with the connection, into a ServerError."""
    try:
        yield
    except psycopg.Error as error:
        raise unanswered(route, error) from error


def unanswered(route: Route, error: psycopg.Error) -> ServerError:
    """Say what went wrong in a statement, or with the connection, without the password."""
    return ServerError(
        f"the server {route.name}: {route.hide(first_line(error))}",
        "see the server's log; teiten resume continues the campaign when it answers again",
    )


def passed_on(connection: psycopg.Connection[Any], route: Route, dbname: str) -> str:
    """A connection string for another program: everything in effect but the password."""
    parameters = connection.info.get_parameters()
    written = read_address(route.address)
    if "host" in parameters and "hostaddr" not in written:
        parameters.pop("hostaddr", None)  # psycopg's own answer to the host's name
    if "," in written.get("host", ""):  # psycopg tells of the one that it has chosen
        parameters |= {name: written[name] for name in SEVERAL if name in written}
    kept = {
        key: value
        for key, value in parameters.items()
        if key not in NOT_PASSED_ON and (key, value) not in DEFAULTS
    }
    return connections.for_program(**{**kept, "dbname": dbname})
