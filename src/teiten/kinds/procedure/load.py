"""Does the steps of a method on one connection, each by itself.

What a step needs beforehand, its rows, is fetched by the same backend and not timed. Programs of
the server's installation run beside it; what they write is kept in the trial's folder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Self, TypeVar

import psycopg

from teiten.connections import first_value
from teiten.errors import WorkloadError, first_line
from teiten.execute.client.contract import Program, Running
from teiten.execute.postgres.beside import filled
from teiten.execute.probes.backend import NOTHING, Usage, backend_of, memory_of, usage_of
from teiten.execute.probes.os import OsReader
from teiten.execute.probes.process_cpu import ProcessGroup
from teiten.execute.sites.contract import Site
from teiten.execute.texts import Texts, texts_of
from teiten.host.system.processes import ending
from teiten.kinds.procedure.model import Method, ProcedureStep, StepDo
from teiten.kinds.procedure.results import StepOfTrial
from teiten.model.units import Seconds

WAL_SINCE = 100_000
WAL_NOW = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"
WAL_BEFORE = "SELECT (pg_current_xlog_insert_location() - '0/0')::bigint"
TO_RECOVER = """
SELECT (pg_current_wal_insert_lsn() - redo_lsn)::bigint FROM pg_control_checkpoint()
"""
"""Bytes of WAL since the redo point of the last checkpoint; from 10 on."""
LOCKS = """
SELECT count(*) FILTER (WHERE fastpath), count(*) FILTER (WHERE NOT fastpath)
FROM pg_locks WHERE pid = %s AND locktype = 'relation'
"""
MEMORY_SINCE = 170_000
"""From which version on EXPLAIN tells the memory of planning."""
KILOBYTE = 1024
LOOK_EVERY = 0.2
"""Seconds between two looks whether someone asked for the end."""
PATIENCE = 10.0
"""Seconds that a program may take to end when it is asked to."""
LAST = 4096
"""Bytes at the end of what a program has written, of which a message has the last line."""
OUTPUT, ERRORS = "program output", "program errors"
Done = TypeVar("Done")
Seen = dict[str, float]
"""Figures of a step besides time, by the names in ``StepOfTrial``: of the last execution; of
planning the most memory of all; of programs the sums."""


class Stepping:
    """A connection on which steps are done, and another one, which reads the WAL's position; open
    until ``with`` ends."""

    def __init__(
        self, method: Method, *, site: Site, folder: Path, check: Callable[[], None]
    ) -> None:
        """``check``: raises where someone asked for the end."""
        self._method, self._site, self._folder, self._check = method, site, folder, check
        self.evidence: list[tuple[str, str]] = []
        self._open: ExitStack = ExitStack()
        self._connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _connect(self) -> None:
        with ExitStack() as opened:
            self._connection = opened.enter_context(closing(self._site.connect()))
            self._looking = opened.enter_context(closing(self._site.connect()))
            self.pid = backend_of(self._connection)
            self._open = opened.pop_all()
        new = self._connection.info.server_version >= WAL_SINCE
        self._wal = WAL_NOW if new else WAL_BEFORE

    def do(self, step: ProcedureStep) -> StepOfTrial:
        """Raises WorkloadError where PostgreSQL refuses it."""
        try:
            return self._crash(step) if step.do is StepDo.CRASH else self._do(step)
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

    def _crash(self, step: ProcedureStep) -> StepOfTrial:
        """Crash the server, and wait until it takes connections again; the processor time is that
        of all of the server's processes. Both connections are new afterwards."""
        before, to_recover = (number(self._looking, query) for query in (self._wal, TO_RECOVER))
        seconds, used = self._with_server_cpu(self._site.crash)
        self._open.close()
        self._connect()
        wal = number(self._looking, self._wal) - before
        return StepOfTrial(step.name, seconds, wal, server_cpu=used, to_recover=to_recover)

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
            return lambda: self._program(step, values, seen)
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

    def _program(self, step: ProcedureStep, values: Mapping[str, str], seen: Seen) -> float:
        """From its start to its end; what it and the server's processes used goes into ``seen``.
        Raises WorkloadError where it cannot be started, or fails."""
        number = len(self.evidence) // 2 + 1
        output, errors = (f"{step.text}-{number}.{kind}" for kind in ("out", "err"))
        program = Program(
            name=step.text,
            path=Path(step.text),
            arguments=tuple(filled(word, values) for word in step.arguments),
            folder=self._folder,
            output=output,
            errors=errors,
            due=Seconds(0.0),
        )
        self.evidence += [(OUTPUT, output), (ERRORS, errors)]
        (running, seconds), server_cpu = self._with_server_cpu(lambda: self._run(program))
        if running.returncode != 0:
            last_lines = map(_last_line, (self._folder / errors, self._folder / output))
            last_line = next(filter(None, last_lines), "it wrote nothing")
            raise WorkloadError(
                f"step {step.name}: {step.text} {ending(running.returncode)}: {last_line}",
                f"what it wrote is in the trial's folder: {errors}, {output}",
            )
        used = {"program_cpu": running.cpu_seconds}
        if server_cpu is not None:
            used["server_cpu"] = server_cpu
        seen |= {name: seen.get(name, 0.0) + more for name, more in used.items()}
        return seconds

    def _run(self, program: Program) -> tuple[Running, float]:
        """Run a program to its end; with its seconds."""
        begun = time.perf_counter()
        running = self._site.spawn_beside(program)
        try:
            while not running.wait(LOOK_EVERY):
                self._check()
        finally:
            if not running.ended():
                running.end(PATIENCE)
        return running, time.perf_counter() - begun

    def _with_server_cpu(self, act: Callable[[], Done]) -> tuple[Done, float | None]:
        """Do something; with the processor time of all of the server's processes meanwhile, None
        where that cannot be seen."""
        reader = self._site.server_reader()
        if reader is None:
            return act(), None
        with closing(reader):
            before = _server_seconds(reader)
            done = act()
            after = _server_seconds(reader)
        return done, None if before is None or after is None else after - before

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
        return texts_of(result)

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


def _server_seconds(reader: OsReader) -> float | None:
    """The processor time of all of a server's processes so far; None where it cannot be seen."""
    return reader.read(time.monotonic(), None).groups.get(ProcessGroup.SERVER)


def _last_line(file: Path) -> str:
    lines = file.read_bytes()[-LAST:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


def number(connection: psycopg.Connection[Any], query: str) -> int:
    """The number that a query gives."""
    return int(first_value(connection, query.encode()) or 0)


def told(error: psycopg.Error, method: Method, part: str) -> Exception:
    """Explain an error of a method's part; give the error itself where the connection is lost."""
    if error.sqlstate is None:
        return error
    message = first_line(error)
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
