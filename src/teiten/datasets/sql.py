"""SQL of people's own, on the tables of a server."""

from __future__ import annotations

import psycopg

from teiten.datasets.contract import Fillable
from teiten.errors import WorkloadError
from teiten.model.study import Script


def run_script(server: Fillable, script: Script, what: str) -> None:
    """All of a script in one transaction. Raises WorkloadError where it fails."""
    with server.connect() as connection:
        try:
            connection.execute(script.text.encode("utf-8"))
        except psycopg.Error as error:
            raise WorkloadError(
                f"the {what} {script.name} failed on {server.name}: {str(error).splitlines()[0]}",
                "it runs as one transaction of plain SQL (no commands of psql, no VACUUM, no COPY"
                " from standard input); nothing of it was kept",
            ) from error
