"""The sampler's own connection: cheap statements, and a way to leave a server that hangs."""

from __future__ import annotations

import os
import socket
import sys

import psycopg

from teiten.connections import Conninfo, connect
from teiten.model.installation import Version

APPLICATION_NAME = "teiten-sampler"
STATEMENT_TIMEOUT = 2000
"""Milliseconds."""
CONNECT_TIMEOUT = 5
"""Seconds."""
PLAIN_PLANS = "-c max_parallel_workers_per_gather=0"


class StatementError(Exception):
    """A statement failed, but the connection lives."""


class SamplingConnection:
    """Prepared statements by name. One thread uses it; ``abort`` may be called by another."""

    def __init__(self, conninfo: Conninfo, version: Version) -> None:
        """Raises psycopg.Error where the server cannot be reached."""
        options = f"-c statement_timeout={STATEMENT_TIMEOUT} {PLAIN_PLANS}"
        if version.major_number >= 11:
            options += " -c jit=off"
        self._connection = connect(
            conninfo,
            application_name=APPLICATION_NAME,
            connect_timeout=CONNECT_TIMEOUT,
            options=options,
        )
        self._libpq = self._connection.pgconn

    def prepare(self, name: str, statement: str) -> None:
        """Raises StatementError where the server does not know what the statement reads."""
        self._check(self._libpq.prepare(name.encode(), statement.encode()))

    def run(self, name: str) -> tuple[list[str], list[list[str | None]]]:
        """Column names and rows in text of a prepared statement.

        libpq is called directly: at ten statements a second psycopg's own conversion would be most
        of the sampler's cost. Raises StatementError, psycopg.OperationalError where the connection
        is lost.
        """
        result = self._libpq.exec_prepared(name.encode(), None)
        self._check(result)
        width = range(result.nfields)
        names = [(result.fname(column) or b"").decode() for column in width]
        rows = [
            [None if (value := result.get_value(row, column)) is None else value.decode()
             for column in width]
            for row in range(result.ntuples)
        ]  # fmt: skip
        return names, rows

    def abort(self) -> None:
        """End a statement of another thread that waits for a server which does not answer."""
        if sys.platform == "win32":
            return
        try:
            with socket.socket(fileno=os.dup(self._libpq.socket)) as connection:
                connection.shutdown(socket.SHUT_RDWR)
        except (OSError, psycopg.Error):
            return  # it was closed meanwhile

    def close(self) -> None:
        self._connection.close()

    def _check(self, result: psycopg.pq.abc.PGresult) -> None:
        good = {psycopg.pq.ExecStatus.TUPLES_OK, psycopg.pq.ExecStatus.COMMAND_OK}
        if result.status in good:
            return
        message = result.error_message.decode("utf-8", "replace").strip()
        first_line = message.partition("\n")[0] or "no answer"
        if self._libpq.status != psycopg.pq.ConnStatus.OK:
            raise psycopg.OperationalError(first_line)
        raise StatementError(first_line)
