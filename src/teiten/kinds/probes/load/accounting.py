"""Reads of a step, as the kernel and pg_stat_io account them: whose process, in how many calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg

from teiten.execute.probes.process_io import ProcessIo
from teiten.kinds.probes.load.timing import AskProcess
from teiten.kinds.probes.measurement import Accounted, StepIo

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
        return {row[0]: tuple(int(one) for one in row[1:]) for row in rows}


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
        more = [one - other for one, other in zip(counts, before, strict=True)]
        if any(more):
            yield Accounted(context, *more)
