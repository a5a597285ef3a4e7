"""SQL of people's own, on the tables of a server."""

from __future__ import annotations

import re
from typing import Any

import psycopg

from teiten.datasets.contract import Fillable
from teiten.errors import WorkloadError
from teiten.model.dump import has_rows, parts_of
from teiten.model.study import Script

_NO_ROLE = re.compile(r'role "(.+)" does not exist')


def run_script(server: Fillable, script: Script, what: str) -> None:
    """All of a script in one transaction, a dump of pg_dump's with its rows. Raises WorkloadError
    where it fails."""
    with server.connect() as connection:
        try:
            if has_rows(script.text):
                _run_dump(connection, script.text)
            else:
                connection.execute(script.text.encode("utf-8"))
        except psycopg.Error as error:
            message = str(error).splitlines()[0]
            raise WorkloadError(
                f"the {what} {script.name} failed on {server.name}: {message}", hint_for(message)
            ) from error


def hint_for(error: str) -> str:
    """The way out of an error of PostgreSQL's in a script that makes tables."""
    role = _NO_ROLE.search(error)
    if role:
        return (
            f"create the role at the top of the script: CREATE ROLE {role[1]}; or leave owners and"
            " rights out: pg_dump --no-owner --no-privileges"
        )
    if 'at or near "\\"' in error:
        return (
            "commands of psql are not run; a dump of pg_dump's is taken as it is (--format=plain),"
            " and of psql's own files the SQL: leave the lines out that begin with \\"
        )
    return (
        "it runs as one transaction of plain SQL, or of a dump of pg_dump's (no commands of psql,"
        " no VACUUM); nothing of it was kept"
    )


def _run_dump(connection: psycopg.Connection[Any], script: str) -> None:
    known = {name for (name,) in connection.execute("SELECT name FROM pg_settings")}
    with connection.transaction(), connection.cursor() as cursor:
        for part in parts_of(script, known):
            if part.rows is None:
                cursor.execute(part.sql.encode("utf-8"))
                continue
            with cursor.copy(part.sql.encode("utf-8")) as copy:
                copy.write(part.rows)
