"""Connections by libpq: the one room that makes connection strings, and that connects.

libpq fills in what a connection string leaves out: from PG* variables, a service file, a password
file and the home folder. For a server of somebody else's, which an address names, that is wanted.
A server of Teiten's own gets none of it: whoever runs a study's script can put a server of his own
in the place of the socket, and ask for a password.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NewType

from teiten.addresses import read_address

if TYPE_CHECKING:
    import psycopg  # takes a moment, which most verbs need not wait
    from psycopg import sql
    from psycopg.abc import Params

Conninfo = NewType("Conninfo", str)
"""A connection string for a connection of ours. It may hold a password: it is never shown."""

NOWHERE = os.fspath(Path(os.devnull) / "nothing")
"""A file that cannot be: the null device is no folder. libpq passes over a password file that is
not there, and warns of one that is no plain file."""
APPLICATION_NAME = "teiten"
SERVICE, HOST_ADDRESS = "PGSERVICE", "PGHOSTADDR"
_SESSION = ("PGDATESTYLE", "PGTZ", "PGGEQO")
"""Variables that libpq sends to every server, without a parameter to prevent it."""
_OWN = {
    "application_name": APPLICATION_NAME,
    "client_encoding": "UTF8",
    "connect_timeout": "0",
    "gssencmode": "disable",
    "max_protocol_version": "3.0",
    "min_protocol_version": "3.0",
    "passfile": NOWHERE,
    "require_auth": "none",
    "sslcertmode": "disable",
    "sslmode": "disable",
}
"""Parameters of connections to servers of ours that neither are empty nor have libpq's default."""
_taken: dict[str, str] = {}


def take_variables() -> None:
    """Take those PG* variables out of the environment that no connection string overrides; a
    program calls it once, before it connects. ``to_address`` still gives the service."""
    for name in (SERVICE, *_SESSION):
        if name in os.environ:
            _taken[name] = os.environ.pop(name)


def connect(
    conninfo: Conninfo, *, autocommit: bool = True, **parameters: Any
) -> psycopg.Connection[Any]:
    """Connect, with further ``parameters`` of libpq or psycopg. Raises psycopg.OperationalError
    where the server does not answer, or does not let us in."""
    import psycopg  # noqa: PLC0415 - as above

    return psycopg.connect(conninfo, autocommit=autocommit, **parameters)


def first_value(
    connection: psycopg.Connection[Any],
    query: str | bytes | sql.SQL | sql.Composed,
    values: Params | None = None,
) -> Any:
    """The first value of the first row that a query gives; None where it gives none."""
    row = connection.execute(query, values).fetchone()
    return row[0] if row else None


def to_own_server(
    folder: Path, port: int, user: str, dbname: str, *, peer: str | None = None, timeout: int = 0
) -> Conninfo:
    """To a server that Teiten started, by the socket in a folder, with nothing of the environment.

    ``peer``: the system's user who must own the server, where that is another: the socket may have
    been replaced by a link to somebody else's. ``timeout``: of connecting, in seconds; 0 for none.
    """
    from psycopg import pq  # noqa: PLC0415 - as above

    known = {
        option.keyword.decode(): (option.compiled or b"").decode()
        for option in pq.Conninfo.get_defaults()
        if option.envvar is not None and option.envvar.decode() not in {SERVICE, "PGSERVICEFILE"}
    }
    own = {name: value for name, value in _OWN.items() if name in known}
    own |= {"host": str(folder), "port": str(port), "user": user, "dbname": dbname}
    own |= {"connect_timeout": str(timeout), "requirepeer": peer or ""}
    return Conninfo(for_program(**{**known, **own}))


def own_environment(peer: str | None = None) -> dict[str, str]:
    """Make the variables of libpq for programs that connect to a server of ours by its socket.
    libpq passes over those that its version does not know."""
    variables = {
        "PGGSSENCMODE": "disable",
        "PGPASSFILE": NOWHERE,
        "PGREQUIREAUTH": "none",
        "PGSSLMODE": "disable",
    }
    return variables if peer is None else {**variables, "PGREQUIREPEER": peer}


def to_address(address: str, secrets: Mapping[str, str], **given: str) -> Conninfo:
    """To the server that an address names, with what libpq's variables, files and services say of
    it. ``secrets``: what was taken out of the address; ``given``: parameters in place of the
    address's. Raises AddressError."""
    known = {**_with_service(read_address(address)), **secrets}
    if HOST_ADDRESS in os.environ and "host" in known:
        known.setdefault("hostaddr", "")  # that variable's is another host's
    return Conninfo(for_program(**{**known, **given}))


def names_database(address: str) -> bool:
    """Whether an address, a service or PGDATABASE say to which database. Raises AddressError."""
    known = _with_service(read_address(address))
    return bool(known.keys() & {"dbname", "service"}) or "PGDATABASE" in os.environ


def for_program(**parameters: str) -> str:
    """A connection string for another program's command line: it holds no secret."""
    from psycopg.conninfo import make_conninfo  # noqa: PLC0415 - as above

    return make_conninfo(**parameters)


def _with_service(known: Mapping[str, str]) -> dict[str, str]:
    service = _taken.get(SERVICE)
    return {**({} if service is None else {"service": service}), **known}
