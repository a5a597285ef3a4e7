"""The user's own SQL, in one transaction."""

from __future__ import annotations

import psycopg

from teiten.datasets.contract import Fillable, Say
from teiten.errors import WorkloadError
from teiten.model.study import DataSet, Script


def fill(server: Fillable, data: DataSet, _say: Say) -> None:
    """Run the data set's script. Raises WorkloadError where it fails."""
    if data.script is None:
        raise ValueError("a data set of the kind script has a script")
    run_script(server, data.script, "data script")


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
