"""Runs single statements: timed without instrumentation, and explained apart from that.

The time is that from sending the statement until its last row is here, taken around libpq; rows are
looked at afterwards. PostgreSQL's own instrumentation never enters a timing: EXPLAIN (ANALYZE) is
another execution.

Answers are compared over all trials of a campaign: a wrong one is no measurement.
"""

from __future__ import annotations

import hashlib
import selectors
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import pq

from teiten.connections import first_value
from teiten.errors import WorkloadError
from teiten.execute.bench import CampaignRecord
from teiten.kinds.queries.model import Query
from teiten.model.trial import Problem
from teiten.model.units import Seconds

LOOK_EVERY = 0.2
"""Seconds between looks for an interruption while a statement runs."""
CANCELLED = "57014"
"""SQLSTATE query_canceled: what statement_timeout ends a statement with."""
FLOATS = {700: 5, 701: 9}
"""OIDs of float4 and float8, and the significant digits in which sums by several processes, added
in another order, agree."""
OPTIONS = "VERBOSE, BUFFERS, FORMAT JSON"
SETTINGS_SINCE = 120_000
WRITTEN = "SELECT backend_xid IS NOT NULL FROM pg_stat_activity WHERE pid = pg_backend_pid()"


@dataclass(frozen=True)
class Answer:
    """A query's answer: its number of rows, and a checksum that does not depend on their order."""

    rows: int
    checksum: str


@dataclass(frozen=True)
class Execution:
    """One execution. ``seconds`` and ``answer``: None where it took longer than the limit."""

    seconds: Seconds | None
    answer: Answer | None


class QuerySession:
    """A connection on which queries are timed and explained."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        timeout: Seconds,
        check_interruption: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._arriving = selectors.DefaultSelector()  # made before anything is timed
        self._arriving.register(self._pgconn.socket, selectors.EVENT_READ)
        self._check_interruption = check_interruption
        self.cancelled = False
        """Whether a statement ever exceeded the limit."""
        milliseconds = max(1, round(timeout * 1000))
        connection.execute(f"SET statement_timeout = {milliseconds}".encode())
        self._time_io(wanted=False)

    def execute(self, query: Query) -> Execution:
        """Time a query once. Raises WorkloadError where it fails."""
        begun = time.perf_counter()
        self._send(query.text)
        result = self._result()
        seconds = time.perf_counter() - begun
        if not self._succeeded(result, query.name):
            return Execution(None, None)
        return Execution(Seconds(seconds), answer_of(result))

    def try_out(self, query: Query) -> tuple[Execution, bool]:
        """Time a query once, and say whether it changed data; what it changed is undone.

        Raises WorkloadError where it fails.
        """
        self._connection.execute("BEGIN")
        changed = True  # until it is known better
        try:
            execution = self.execute(query)
            changed = execution.seconds is None or self._has_written()
        finally:
            self._connection.execute("ROLLBACK" if changed else "COMMIT")
        return execution, changed and execution.seconds is not None

    def _has_written(self) -> bool:
        """Whether this transaction has got a number: those that only read get none."""
        return bool(first_value(self._connection, WRITTEN))

    def explain(self, query: Query, *, analyze: bool) -> str | None:
        """EXPLAIN's JSON; None where the execution that it measures exceeded the limit.

        Raises WorkloadError where the query cannot be explained.
        """
        options = f"ANALYZE, {OPTIONS}" if analyze else "VERBOSE, FORMAT JSON"
        if self._connection.info.server_version >= SETTINGS_SINCE:
            options += ", SETTINGS"
        self._time_io(wanted=analyze)
        self._send(f"EXPLAIN ({options})\n{query.text}")
        result = self._result()
        self._time_io(wanted=False)
        if not self._succeeded(result, query.name):
            return None
        value = result.get_value(0, 0)
        return (value or b"").decode("utf-8", "replace")

    def close(self) -> None:
        """End the connection; what was found stays."""
        self._arriving.close()
        self._connection.close()

    def _time_io(self, *, wanted: bool) -> None:
        """Only a superuser may say so: on a server of others it stays as they have it."""
        setting = b"SET track_io_timing = on" if wanted else b"SET track_io_timing = off"
        with suppress(psycopg.errors.InsufficientPrivilege):
            self._connection.execute(setting)

    def _send(self, text: str) -> None:
        """By the extended protocol, which refuses a second statement in the text."""
        try:
            self._pgconn.send_query_params(text.encode("utf-8"), None)
            while self._pgconn.flush():
                with selectors.DefaultSelector() as leaving:
                    leaving.register(self._pgconn.socket, selectors.EVENT_WRITE)
                    leaving.select(LOOK_EVERY)
        except psycopg.Error as error:
            raise _lost(error) from error

    def _result(self) -> pq.abc.PGresult:
        try:
            while True:
                self._arriving.select(LOOK_EVERY)
                self._pgconn.consume_input()
                if not self._pgconn.is_busy():
                    break
                self._check_interruption()
            result = self._pgconn.get_result()
            while self._pgconn.get_result() is not None:
                pass
        except psycopg.Error as error:
            raise _lost(error) from error
        if result is None:
            raise WorkloadError("the server gave no answer", "see the server's log of this trial")
        return result

    def _succeeded(self, result: pq.abc.PGresult, name: str) -> bool:
        if result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
            return True
        state = result.error_field(pq.DiagnosticField.SQLSTATE)
        if state is not None and state.decode() == CANCELLED:
            self.cancelled = True
            return False
        message = result.error_message.decode("utf-8", "replace").strip()
        raise WorkloadError(
            f"query {name}: {message}",
            "a query's file holds one statement that EXPLAIN takes, ending in .sql; try it on the"
            " workload's tables",
        )


def answer_of(result: pq.abc.PGresult) -> Answer:
    """Rows and checksum of a result in text form: the sum of the rows' own checksums."""
    digits = [FLOATS.get(result.ftype(column)) for column in range(result.nfields)]
    total = 0
    for row in range(result.ntuples):
        digest = hashlib.blake2b(digest_size=8)
        for value in _values(result, row, digits):
            digest.update(b"\x00" if value is None else b"\x01%d:" % len(value) + value)
        total += int.from_bytes(digest.digest(), "big")
    return Answer(result.ntuples, f"{total % 2**64:016x}")


def _values(result: pq.abc.PGresult, row: int, digits: list[int | None]) -> Iterator[bytes | None]:
    for column, kept in enumerate(digits):
        value = result.get_value(row, column)
        if value is not None and kept is not None:
            value = f"{float(value):.{kept}g}".encode()
        yield value


def _lost(error: psycopg.Error) -> WorkloadError:
    return WorkloadError(
        f"the connection to the server was lost: {str(error).strip()}",
        "see the server's log of this trial",
    )


ANSWER = "answer"
"""The kind of the event that records the first answer of a query."""
WRONG = "wrong-answer"


class Answers:
    """The first answer that each query gave, by workload and query; kept in the ledger, so that a
    resumed campaign compares with the same."""

    def __init__(self, record: CampaignRecord) -> None:
        self._record = record
        self._first = {
            (event.detail["workload"], event.detail["query"]): event.detail
            for event in record.events()
            if event.kind == ANSWER
        }

    def problem(self, workload: str, query: str, answer: Answer, side: str) -> Problem | None:
        """A problem where the answer is not the first one; the first one is taken note of."""
        own = {"rows": answer.rows, "checksum": answer.checksum}
        first = self._first.get((workload, query))
        if first is None:
            detail: dict[str, Any] = {"workload": workload, "query": query, **own, "side": side}
            self._first[workload, query] = detail
            self._record.record_event(ANSWER, **detail)
            return None
        if first.items() >= own.items():
            return None
        return Problem(
            WRONG,
            f"{query}: {answer.rows} rows, checksum {answer.checksum}; {first['side']} had answered"
            f" {first['rows']} rows, checksum {first['checksum']}",
        )
