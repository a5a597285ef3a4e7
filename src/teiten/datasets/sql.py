r"""SQL of people's own, on the tables of a server: statements, and the rows of ``COPY … FROM
stdin``.

The form is that of ``pg_dump --format=plain`` (pg_dump.c, dumpTableData): a COPY command is a line
of its own, its rows follow in text format, and ``\.`` ends them. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg

from teiten.datasets.contract import Fillable
from teiten.errors import WorkloadError, first_line
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
            message = first_line(error)
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
    if "extension " in error and "already exists" in error:
        return "where its version is a level it is there already: CREATE EXTENSION IF NOT EXISTS"
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


END_OF_ROWS = "\\."
_COPY = re.compile(r"COPY\s.*\sFROM\s+stdin\b.*;\s*", re.IGNORECASE)
_GUARD = re.compile(r"\\(?:un)?restrict\s")
"""The lines with which pg_dump keeps psql from running commands of the data."""
_SET = re.compile(r"SET (\w+) = .*;\s*")


@dataclass(frozen=True)
class DumpPart:
    """Statements, or one COPY command with its rows."""

    sql: str
    rows: str | None = None
    """Lines of COPY's text format; None for statements."""


def parts_of(script: str, parameters: Collection[str] | None = None) -> Iterator[DumpPart]:
    """The parts of a script in order; a script without rows is one part, as it stands.

    ``parameters``: those that the server knows: a dump sets some that only newer servers, or older
    ones, have, and psql goes on without these; None to set all.
    """
    if not has_rows(script):
        yield DumpPart(script)
        return
    lines = iter(script.splitlines(keepends=True))
    statements: list[str] = []
    for line in lines:
        if _COPY.fullmatch(line):
            yield from _statements(statements)
            statements = []
            yield DumpPart(line.strip(), "".join(_rows(lines)))
        elif not _GUARD.match(line) and not _is_unknown(line, parameters):
            statements.append(line)
    yield from _statements(statements)


def has_rows(script: str) -> bool:
    """Whether a script is a dump, or written like one."""
    lines = script.splitlines()
    return any(_GUARD.match(line) for line in lines) or (
        END_OF_ROWS in lines and any(_COPY.fullmatch(line) for line in lines)
    )


def _rows(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.rstrip("\r\n") == END_OF_ROWS:
            return
        yield line


def _statements(lines: list[str]) -> Iterator[DumpPart]:
    if any(line.strip() and not line.startswith("--") for line in lines):
        yield DumpPart("".join(lines))


def _is_unknown(line: str, parameters: Collection[str] | None) -> bool:
    setting = _SET.fullmatch(line)
    return setting is not None and parameters is not None and setting[1] not in parameters
