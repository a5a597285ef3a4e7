"""Does the steps of a method on one connection, each timed by itself.

What a step needs beforehand, its rows, is fetched by the same backend and not timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from teiten.errors import WorkloadError
from teiten.execute.probes.backend import NOTHING, Usage, backend_of, usage_of
from teiten.kinds.procedure.model import Method, ProcedureStep, StepDo
from teiten.model.units import Seconds

WAL_SINCE = 100_000
WAL_NOW = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"
WAL_BEFORE = "SELECT (pg_current_xlog_insert_location() - '0/0')::bigint"
Texts = tuple[str | None, ...]
"""A row, its values as texts."""


@dataclass(frozen=True)
class StepTaken:
    """What a step took."""

    name: str
    seconds: Seconds
    usage: Usage
    wal: int
    """Bytes of all WAL that the server wrote meanwhile."""


class Stepping:
    """A connection on which steps are done."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        looking: psycopg.Connection[Any],
        method: Method,
        check: Callable[[], None],
    ) -> None:
        """``looking``: another one, which reads the WAL's position. ``check``: raises where someone
        asked for the end."""
        self._connection, self._looking, self._method = connection, looking, method
        self._check, self._pid = check, backend_of(connection)
        new = connection.info.server_version >= WAL_SINCE
        self._wal = WAL_NOW if new else WAL_BEFORE

    def do(self, step: ProcedureStep) -> StepTaken:
        """Raises WorkloadError where PostgreSQL refuses it."""
        try:
            return self._do(step)
        except psycopg.Error as error:
            raise told(error, self._method, step.name) from error

    def _do(self, step: ProcedureStep) -> StepTaken:
        before = number(self._looking, self._wal)
        seconds, used = 0.0, NOTHING if self._pid is not None else Usage()
        for values in self._each(step.each):
            self._check()
            act = self._act(step, values)
            since = usage_of(self._pid)
            begun = time.perf_counter()
            act()
            seconds += time.perf_counter() - begun
            used = used.with_further(usage_of(self._pid).since(since))
        wal = number(self._looking, self._wal) - before
        return StepTaken(step.name, Seconds(seconds), used, wal)

    def _each(self, query: str) -> Iterator[Mapping[str, str]]:
        """For each row of a query its values by column; once where there is none."""
        if not query:
            yield {}
            return
        names, rows = self._rows(query)
        for row in rows:
            yield {name: value or "" for name, value in zip(names, row, strict=True)}

    def _act(self, step: ProcedureStep, values: Mapping[str, str]) -> Callable[[], None]:
        """What is timed; what it needs is fetched here."""
        text, into = filled(step.text, values), filled(step.into, values)
        if step.do is StepDo.EXECUTE:
            return lambda: self._execute(text, step.times)
        if step.do is StepDo.COPY:
            pieces = self._copied(text)
            return lambda: self._copy(into, pieces)
        names, rows = self._rows(text)
        return lambda: self._insert(into, len(names), rows, step.batch)

    def _execute(self, text: str, times: int) -> None:
        for _ in range(times):
            self._connection.execute(text.encode())

    def _copied(self, query: str) -> list[bytes]:
        statement = f"COPY ({query}) TO STDOUT".encode()
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            return [bytes(piece) for piece in copy]

    def _copy(self, into: str, pieces: Sequence[bytes]) -> None:
        statement = f"COPY {into} FROM STDIN".encode()
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            for piece in pieces:
                copy.write(piece)

    def _rows(self, query: str) -> tuple[list[str], list[Texts]]:
        result = self._connection.execute(query.encode()).pgresult
        assert result is not None
        columns = range(result.nfields)
        names = [(result.fname(one) or b"").decode() for one in columns]
        return names, [
            tuple(_text(result.get_value(row, one)) for one in columns)
            for row in range(result.ntuples)
        ]

    def _insert(self, into: str, columns: int, rows: Sequence[Texts], batch: int) -> None:
        """Whole batches, then the rest row by row; statements are prepared, and sent without
        waiting for each answer (the pipeline mode of libpq)."""
        whole = len(rows) // batch * batch
        one = f"({', '.join(['%s'] * columns)})"
        begins = f"INSERT INTO {into} VALUES "  # noqa: S608 - the study's own table
        many = begins + ", ".join([one] * batch)
        batches = (
            tuple(value for row in rows[at : at + batch] for value in row)
            for at in range(0, whole, batch)
        )
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(many.encode(), batches)
            if whole < len(rows):
                cursor.executemany((begins + one).encode(), rows[whole:])


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with the values at their places ``{name}``; other braces stay."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def number(connection: psycopg.Connection[Any], query: str) -> int:
    """The number that a query gives."""
    row = connection.execute(query.encode()).fetchone()
    return int(row[0] or 0) if row else 0


def told(error: psycopg.Error, method: Method, part: str) -> Exception:
    """What an error of a method's part means; the error itself where the connection is lost."""
    if error.sqlstate is None:
        return error
    said = str(error).splitlines()[0]
    where = f"method {method.name}, {part}"
    if isinstance(error, psycopg.errors.OutOfMemory) and "shared memory" in said:
        return WorkloadError(
            f"{where}: {said}: the server's lock table is full",
            "every partition and index that one transaction touches takes an entry: fewer of them"
            " (--set layout=…), or more entries: --guc max_locks_per_transaction=… (64 where the"
            " study says nothing)",
        )
    return WorkloadError(
        f"{where}: {said}",
        "the study's file has the statement; try it on the workload's tables",
    )
