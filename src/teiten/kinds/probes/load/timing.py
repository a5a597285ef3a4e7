"""Times single statements by EXPLAIN (ANALYZE, BUFFERS), with what their process read from disk."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import psycopg

from teiten.execute.probes.process_io import ProcessIo
from teiten.kinds.probes.measurement import Timed
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
        found = self._executed(page)
        begun = time.perf_counter()
        self._connection.execute("COMMIT")
        return replace(found, commit_seconds=Seconds(time.perf_counter() - begun))

    @property
    def connection(self) -> psycopg.Connection[Any]:
        return self._connection

    def close(self) -> None:
        self._connection.close()

    def _text(self, page: int) -> str:
        return self._statement.replace(PLACE, str(page))

    def _executed(self, page: int) -> Timed:
        before = self._ask(self._pid)
        row = self._connection.execute((self._explain + self._text(page)).encode()).fetchone()
        after = self._ask(self._pid)
        found = row[0] if row else "[]"
        (explained,) = json.loads(found) if isinstance(found, str) else found
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
