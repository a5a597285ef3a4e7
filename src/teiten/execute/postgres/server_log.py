"""A server that starts: waiting until it takes connections, and the problems that its log tells."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg

from teiten.errors import ServerError
from teiten.model.trial import Problem

MOST_PROBLEMS = 20
"""Different messages that are told; a broken script can make one error for each transaction."""

MESSAGE = re.compile(
    r"^(\d{4}-\d\d-\d\d [\d:.]+ \S+ \[\d+\] )?(LOG|ERROR|FATAL|PANIC|WARNING):  (.*)$"
)
"""A first line in our log_line_prefix, or, before the configuration was read, without any."""

HARMLESS = re.compile(
    "|".join(
        (
            r"the database system is (?:starting up|shutting down|not yet accepting connections)",
            r"the database system is in recovery mode",  # the crash before it is told
            r"terminating (?:connection|background worker .*|\w+ process) due to administrator",
            r"terminating (?:\w+ )+(?:process|launcher|worker) due to administrator command",
            r"canceling statement due to user request",
            r"canceling autovacuum task",
            # pgbench's own look for partitions, on servers before 10; it goes on without
            r'relation "pg_catalog\.pg_partitioned_table" does not exist',
        )
    )
)
CRASH = re.compile(
    r"^(?!(?:background worker|worker process:) .*exited with exit code [01]\b).*"
    r"\(PID \d+\) (?:was terminated by|exited with (?:exit code|status))"
    r"|^database system was (?:interrupted|not properly shut down)"
    r"|^terminating connection due to unexpected postmaster exit"
    r"|^(?:all server processes terminated; reinitializing|shutting down because)"
)


def scan(text: str) -> tuple[Problem, ...]:
    """The errors and crashes in a server's log, in its order, each kind of message once.

    ``server-crash``: a process of the server died, PANIC, a failed assertion; ``server-error``:
    ERROR and FATAL, but for those that belong to a start or a stop. The detail is the line; where
    the message came again (but for its numbers), how often.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for code, line in _bad_lines(text):
        alike.setdefault((code, re.sub(r"\d+", "0", line)), []).append(line)
    problems = [
        Problem(code, lines[0] if len(lines) == 1 else f"{lines[0]} (×{len(lines)})")
        for (code, _), lines in alike.items()
    ]
    return _bounded(problems)


def last_lines(text: str, count: int = 5) -> str:
    """The end of a log, for an error's message."""
    return "\n".join(text.rstrip().splitlines()[-count:])


def _bad_lines(text: str) -> Iterator[tuple[str, str]]:
    configured = False
    for line in text.splitlines():
        if line.startswith("TRAP:"):  # a failed assertion of a server built with them
            yield "server-crash", line
            continue
        match = MESSAGE.match(line)
        if match is None:
            continue
        prefix, severity, message = match.groups()
        configured = configured or prefix is not None
        if configured and prefix is None:
            continue  # libpq's word from another server, of which this one is a client
        code = _judge(severity, message)
        if code is not None:
            yield code, line


def _judge(severity: str, message: str) -> str | None:
    if severity == "PANIC" or (severity in ("LOG", "FATAL") and CRASH.search(message)):
        return "server-crash"
    if severity in ("ERROR", "FATAL") and not HARMLESS.match(message):
        return "server-error"
    return None


def _bounded(problems: list[Problem]) -> tuple[Problem, ...]:
    if len(problems) <= MOST_PROBLEMS:
        return tuple(problems)
    crashes = [problem for problem in problems if problem.code == "server-crash"]
    kept = set(map(id, (crashes + problems)[:MOST_PROBLEMS]))
    rest = len(problems) - len(kept)
    shown = [problem for problem in problems if id(problem) in kept]
    return (*shown, Problem("server-error", f"… and {rest} other messages"))


INTERVAL = 0.02
"""Seconds between two attempts to connect."""
TAIL = 65536
"""Bytes of a log that tell why."""
UNKNOWN = re.compile(r'unrecognized configuration parameter "([^"]+)"')
INVALID = re.compile(r'(?:invalid value for parameter|parameter) "([^"]+)".*')


def wait_until_ready(
    ended: Callable[[], bool],
    connect: Callable[[], psycopg.Connection],
    *,
    timeout: float = math.inf,
    interval: float = INTERVAL,
) -> str | None:
    """Connect until the server answers; None then, else what kept it (``ended``, or why not).

    ``timeout``, and ``interval`` between two attempts: seconds.
    """
    end = time.monotonic() + timeout
    reason = "no attempt was made"
    while time.monotonic() < end:
        try:
            connect().close()
        except psycopg.OperationalError as error:
            reason = str(error).strip()
        else:
            return None
        if ended():
            return "ended"
        time.sleep(interval)
    return f"no connection within {timeout:g} s: {reason}"


def start_failure(name: str, reason: str, log: Path, text: str) -> ServerError:
    """The error of a server that did not become ready, from its own log's last part."""
    unknown = UNKNOWN.search(text)
    if unknown is not None:
        parameter = unknown.group(1)
        return ServerError(
            f"{name} does not know the setting {parameter}",
            f"leave {parameter} out of the study for this version, or choose other servers",
        )
    invalid = INVALID.search(text)
    if invalid is not None and reason == "ended":
        return ServerError(
            f"{name} refuses the setting {invalid.group(1)}: {invalid.group(0)}",
            f"correct the value of {invalid.group(1)} in the study",
        )
    what = "ended while starting" if reason == "ended" else reason
    return ServerError(f"{name} did not start: {what}\n{last_lines(text)}", _hint(text, log))


def _hint(text: str, log: Path) -> str:
    if "could not map anonymous shared memory" in text or "Cannot allocate memory" in text:
        return "the machine has too little memory for this shared_buffers: lower it in the study"
    if "No space left on device" in text:
        return "give disk back with teiten clean, or use another disk with --workdir"
    return f"read the server's log: {log}"
