"""Times single statements by EXPLAIN (ANALYZE, BUFFERS), with what their process read from disk.

Reads of a step, as the kernel and pg_stat_io account them: whose process, in how many calls.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import psycopg

from teiten.execute.probes.procfs import ProcessIo
from teiten.kinds.probes.measurement import Accounted, StepIo, Timed
from teiten.kinds.probes.model import PLACE
from teiten.model.units import Seconds

WAL_SINCE = 130_000
MILLISECONDS = 1e3
READ_TIMES = ("Shared I/O Read Time", "I/O Read Time")
"""From 17 on, and before."""
AskProcess = Callable[[int], ProcessIo | None]
"""By a process's id."""


class Timer:
    """A connection whose statements are timed one by one; the time of each node of their plans is
    not taken (TIMING OFF), and rows are not turned into text."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        statement: str,
        ask: AskProcess,
        *,
        commit: bool,
    ) -> None:
        self._connection, self._statement, self._commit = connection, statement, commit
        self._ask = ask
        self._pid = connection.info.backend_pid
        wal = ", WAL" if connection.info.server_version >= WAL_SINCE else ""
        self._explain = f"EXPLAIN (ANALYZE, BUFFERS{wal}, TIMING OFF, FORMAT JSON) "

    def get_ready(self, page: int) -> None:
        """Read what a new connection needs of the catalogues: a plan, and of a statement that
        changes nothing an execution too, on a page that does not matter."""
        self._connection.execute(("EXPLAIN " + self._text(page)).encode())
        if not self._commit:
            self._connection.execute((self._explain + self._text(page)).encode())

    def time(self, page: int) -> Timed:
        if not self._commit:
            return self._executed(page)
        self._connection.execute("BEGIN")
        timed = self._executed(page)
        begun = time.perf_counter()
        self._connection.execute("COMMIT")
        return replace(timed, commit_seconds=Seconds(time.perf_counter() - begun))

    def _text(self, page: int) -> str:
        return self._statement.replace(PLACE, str(page))

    def _executed(self, page: int) -> Timed:
        before = self._ask(self._pid)
        row = self._connection.execute((self._explain + self._text(page)).encode()).fetchone()
        after = self._ask(self._pid)
        plans = row[0] if row else "[]"
        (explained,) = json.loads(plans) if isinstance(plans, str) else plans
        read = None
        if before is not None and after is not None:
            read = after.disk_bytes - before.disk_bytes
        return timed_of(page, explained, read)


def timed_of(page: int, explained: Mapping[str, Any], read: int | None) -> Timed:
    """From EXPLAIN's JSON; the uppermost node counts all below it."""
    plan = explained["Plan"]
    reading = next((plan[key] for key in READ_TIMES if plan.get(key)), None)
    return Timed(
        page=page,
        seconds=Seconds(explained["Execution Time"] / MILLISECONDS),
        hit=plan.get("Shared Hit Blocks", 0),
        read=plan.get("Shared Read Blocks", 0),
        dirtied=plan.get("Shared Dirtied Blocks", 0),
        written=plan.get("Shared Written Blocks", 0),
        read_seconds=None if reading is None else Seconds(reading / MILLISECONDS),
        disk_bytes=read,
        wal_records=plan.get("WAL Records"),
        wal_images=plan.get("WAL FPI"),
        wal_bytes=plan.get("WAL Bytes"),
    )


STAT_IO_SINCE = 160_000
BYTES_SINCE = 180_000
"""read_bytes; before, all operations are of one block."""
WORKERS_SINCE = 180_000
STAT_IO = """
SELECT context, coalesce(sum(reads), 0), coalesce(sum({bytes}), 0),
       coalesce(sum(evictions), 0), coalesce(sum(reuses), 0)
FROM pg_stat_io WHERE backend_type = 'client backend' AND object = 'relation' GROUP BY 1 ORDER BY 1
"""
FLUSH = "SELECT pg_stat_force_next_flush()"
WORKERS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'io worker'"
Contexts = Mapping[str, tuple[int, ...]]


class Accounting:
    """Accounts of what one connection's process and the I/O workers read, from its making on."""

    def __init__(self, connection: psycopg.Connection[Any], ask: AskProcess) -> None:
        self._connection, self._ask = connection, ask
        version = connection.info.server_version
        self._stat_io = version >= STAT_IO_SINCE
        read_bytes = "read_bytes" if version >= BYTES_SINCE else "reads * op_bytes"
        self._query = STAT_IO.format(bytes=read_bytes).encode()
        rows = connection.execute(WORKERS).fetchall() if version >= WORKERS_SINCE else []
        self._workers = tuple(int(pid) for (pid,) in rows)
        self._contexts = self._accounts()  # before the processes: what it reads is not the step's
        self._begun = self._processes()

    def ended(self, step: str, part: str) -> StepIo:
        """Tell what was read since the accounting began."""
        now = self._processes()
        calls, called = _since(self._begun[:1], now[:1])
        worker_calls, worker_bytes = _since(self._begun[1:], now[1:])
        accounted = tuple(_accounted(self._contexts, self._accounts()))
        return StepIo(step, part, calls, called, worker_calls, worker_bytes, accounted)

    def _processes(self) -> list[ProcessIo | None]:
        """The connection's own first, then the I/O workers."""
        return [self._ask(pid) for pid in (self._connection.info.backend_pid, *self._workers)]

    def _accounts(self) -> Contexts:
        if not self._stat_io:
            return {}
        self._connection.execute(FLUSH)
        rows = self._connection.execute(self._query).fetchall()
        return {row[0]: tuple(int(count) for count in row[1:]) for row in rows}


def _since(
    begun: Sequence[ProcessIo | None], now: Sequence[ProcessIo | None]
) -> tuple[int | None, int | None]:
    """Calls and bytes of all together."""
    pairs = list(zip(begun, now, strict=True))
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if len(known) < len(pairs):
        return None, None
    calls = sum(b.calls - a.calls for a, b in known)
    return calls, sum(b.called_bytes - a.called_bytes for a, b in known)


def _accounted(begun: Contexts, now: Contexts) -> Iterator[Accounted]:
    """Contexts in which something was read or taken."""
    for context, counts in now.items():
        before = begun.get(context, (0,) * len(counts))
        more = [count - earlier for count, earlier in zip(counts, before, strict=True)]
        if any(more):
            yield Accounted(context, *more)
