"""Does the steps of a method on one connection, each timed by itself.

What a step needs beforehand, its rows, is fetched by the same backend and not timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import psycopg

from teiten.errors import WorkloadError
from teiten.execute.postgres.beside import filled
from teiten.execute.probes.backend import NOTHING, Usage, backend_of, memory_of, usage_of
from teiten.kinds.procedure.load.programs import StepPrograms
from teiten.kinds.procedure.model import Method, ProcedureStep, StepDo
from teiten.kinds.procedure.results import StepOfTrial

WAL_SINCE = 100_000
WAL_NOW = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"
WAL_BEFORE = "SELECT (pg_current_xlog_insert_location() - '0/0')::bigint"
LOCKS = """
SELECT count(*) FILTER (WHERE fastpath), count(*) FILTER (WHERE NOT fastpath)
FROM pg_locks WHERE pid = %s AND locktype = 'relation'
"""
MEMORY_SINCE = 170_000
"""From which version on EXPLAIN tells the memory of planning."""
KILOBYTE = 1024
Texts = tuple[str | None, ...]
"""A row, its values as texts."""
Seen = dict[str, float]
"""Figures of a step besides time, by the names in ``StepOfTrial``: of the last execution; of
planning the most memory of all."""


class Stepping:
    """A connection on which steps are done."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        looking: psycopg.Connection[Any],
        method: Method,
        programs: StepPrograms,
        check: Callable[[], None],
    ) -> None:
        """``looking``: another one, which reads the WAL's position. ``check``: raises where someone
        asked for the end."""
        self._connection, self._looking, self._method = connection, looking, method
        self._programs, self._check = programs, check
        self.pid = backend_of(connection)
        new = connection.info.server_version >= WAL_SINCE
        self._wal = WAL_NOW if new else WAL_BEFORE

    def do(self, step: ProcedureStep) -> StepOfTrial:
        """Raises WorkloadError where PostgreSQL refuses it."""
        try:
            return self._do(step)
        except psycopg.Error as error:
            raise told(error, self._method, step.name) from error

    def _do(self, step: ProcedureStep) -> StepOfTrial:
        before = number(self._looking, self._wal)
        seconds, done = 0.0, 0
        used, seen = NOTHING if self.pid is not None else Usage(), Seen()
        for values in self._each(step.each):
            self._check()
            act = self._act(step, values, seen)
            since = usage_of(self.pid)
            seconds += act()
            used = used.with_further(usage_of(self.pid).since(since))
            done += step.times
        wal = number(self._looking, self._wal) - before
        memory = memory_of(self.pid)
        if memory is not None:
            seen["memory"] = memory
        return StepOfTrial(step.name, seconds, wal, used.cpu, used.read, used.written, done, **seen)

    def _each(self, query: str) -> Iterator[Mapping[str, str]]:
        """For each row of a query its values by column; once where there is none."""
        if not query:
            yield {}
            return
        names, rows = self._rows(query)
        for row in rows:
            yield {name: value or "" for name, value in zip(names, row, strict=True)}

    def _act(
        self, step: ProcedureStep, values: Mapping[str, str], seen: Seen
    ) -> Callable[[], float]:
        """Prepare the call that is timed and gives its seconds; what it needs is fetched here."""
        text, into = filled(step.text, values), filled(step.into, values)
        if step.do is StepDo.PROGRAM:
            return lambda: self._programs.run(step, values, seen)
        if step.do is StepDo.PLAN:
            return lambda: self._plan(text, step.times, seen)
        if step.do is StepDo.EXECUTE and step.locks:
            return lambda: self._locked(text, step.times, seen)
        if step.do is StepDo.EXECUTE:
            return lambda: timed(lambda: self._execute(text, step.times))
        if step.do is StepDo.COPY:
            pieces = self._copied(text)
            before = filled(step.before, values)
            return lambda: timed(lambda: self._copy(before, into, step.options, pieces))
        names, rows = self._rows(text)
        return lambda: timed(lambda: self._insert(into, len(names), rows, step.batch))

    def _execute(self, text: str, times: int) -> None:
        for _ in range(times):
            self._connection.execute(text.encode())

    def _locked(self, text: str, times: int, seen: Seen) -> float:
        """In transactions of their own; begin, look and end are not timed."""
        seconds = 0.0
        for _ in range(times):
            with self._connection.transaction():
                seconds += timed(lambda: self._connection.execute(text.encode()))
                held = self._looking.execute(LOCKS, (self._connection.info.backend_pid,))
                row = held.fetchone()
                assert row is not None
                seen |= {"fast_path": row[0], "in_table": row[1]}
        return seconds

    def _plan(self, text: str, times: int, seen: Seen) -> float:
        """The server's own time of planning."""
        has_memory = self._connection.info.server_version >= MEMORY_SINCE
        explain = (
            f"EXPLAIN (SUMMARY, FORMAT JSON{', MEMORY' if has_memory else ''}) {text}".encode()
        )
        seconds = 0.0
        for _ in range(times):
            row = self._connection.execute(explain).fetchone()
            assert row is not None
            (plan,) = row[0]
            seconds += plan["Planning Time"] / 1000
            if has_memory:
                memory = plan["Planning"]["Memory Used"] * KILOBYTE
                seen["planning"] = max(seen.get("planning", 0), memory)
        return seconds

    def _copied(self, query: str) -> list[bytes]:
        statement = f"COPY ({query}) TO STDOUT".encode()
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            return [bytes(piece) for piece in copy]

    def _copy(self, before: str, into: str, options: str, pieces: Sequence[bytes]) -> None:
        written = f" WITH ({options})" if options else ""
        statement = f"COPY {into} FROM STDIN{written}".encode()
        with self._connection.transaction(), self._connection.cursor() as cursor:
            if before:
                cursor.execute(before.encode())
            with cursor.copy(statement) as copy:
                for piece in pieces:
                    copy.write(piece)

    def _rows(self, query: str) -> tuple[list[str], list[Texts]]:
        result = self._connection.execute(query.encode()).pgresult
        assert result is not None
        columns = range(result.nfields)
        names = [(result.fname(column) or b"").decode() for column in columns]
        return names, [
            tuple(_text(result.get_value(row, column)) for column in columns)
            for row in range(result.ntuples)
        ]

    def _insert(self, into: str, columns: int, rows: Sequence[Texts], batch: int) -> None:
        """Whole batches, then the rest row by row; statements are prepared, and sent without
        waiting for each answer (the pipeline mode of libpq)."""
        whole = len(rows) // batch * batch
        places = f"({', '.join(['%s'] * columns)})"
        begins = f"INSERT INTO {into} VALUES "  # noqa: S608 - the study's own table
        many = begins + ", ".join([places] * batch)
        batches = (
            tuple(value for row in rows[at : at + batch] for value in row)
            for at in range(0, whole, batch)
        )
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(many.encode(), batches)
            if whole < len(rows):
                cursor.executemany((begins + places).encode(), rows[whole:])


def timed(act: Callable[[], object]) -> float:
    """The seconds that it takes."""
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def number(connection: psycopg.Connection[Any], query: str) -> int:
    """The number that a query gives."""
    row = connection.execute(query.encode()).fetchone()
    return int(row[0] or 0) if row else 0


def told(error: psycopg.Error, method: Method, part: str) -> Exception:
    """Explain an error of a method's part; give the error itself where the connection is lost."""
    if error.sqlstate is None:
        return error
    message = str(error).splitlines()[0]
    where = f"method {method.name}, {part}"
    if isinstance(error, psycopg.errors.OutOfMemory) and "shared memory" in message:
        return WorkloadError(
            f"{where}: {message}: the server's lock table is full",
            "every partition and index that one transaction touches takes an entry: fewer of them"
            " (--set layout=…), or more entries: --guc max_locks_per_transaction=… (64 where the"
            " study says nothing)",
        )
    return WorkloadError(
        f"{where}: {message}",
        "the study's file has the statement; try it on the workload's tables",
    )
