"""The meaning of an error of a connection."""

from __future__ import annotations

import psycopg

from teiten.errors import MachineError, ServerError

HINT = "see the server's log of this trial"


class HostLostError(MachineError):
    """The connection to a host is gone, and with it what ran there."""


def failure(
    name: str, error: psycopg.Error, hint: str = HINT, said: str | None = None
) -> ServerError:
    """The error of a server by ``name``; ``said``: its words, where they have to be changed."""
    words = (str(error) if said is None else said).strip() or type(error).__name__
    # without a code it is libpq that speaks: the server is not there, or not any more
    told = "" if error.sqlstate is not None or not _is_lost(error) else " does not answer"
    return ServerError(f"{name}{told}: {words}", hint)


def _is_lost(error: psycopg.Error) -> bool:
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
