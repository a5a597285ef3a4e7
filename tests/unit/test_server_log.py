"""What is a problem in a server's log, and what belongs to a start or a stop."""

from __future__ import annotations

import pytest

from teiten.execute.postgres.server_log import MOST_PROBLEMS, last_lines, scan

PREFIX = "2026-11-21 12:59:19.020 UTC [14657] "


@pytest.mark.parametrize(
    "message",
    [
        "LOG:  database system is ready to accept connections",
        "LOG:  received fast shutdown request",
        'LOG:  background worker "logical replication launcher" (PID 7) exited with exit code 1',
        "LOG:  worker process: logical replication launcher (PID 7) exited with exit code 1",
        "FATAL:  the database system is starting up",
        "FATAL:  the database system is shutting down",
        "FATAL:  the database system is not yet accepting connections",
        "FATAL:  terminating connection due to administrator command",
        "FATAL:  terminating autovacuum process due to administrator command",
        'FATAL:  terminating background worker "parallel worker" due to administrator command',
        "FATAL:  terminating logical replication worker due to administrator command",
        "ERROR:  canceling statement due to user request",
        "WARNING:  terminating connection because of crash of another server process",
        "STATEMENT:  SELECT 'ERROR:  no'",
        "LOG:  statement: SELECT 'PANIC:  no'",
    ],
)
def test_harmless(message: str) -> None:
    assert scan(PREFIX + message + "\n") == ()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("server-error", "ERROR:  division by zero"),
        ("server-error", 'FATAL:  role "x" does not exist'),
        ("server-crash", "PANIC:  could not write to file: No space left on device"),
        ("server-crash", "LOG:  server process (PID 11) was terminated by signal 9: Killed"),
        ("server-crash", "LOG:  checkpointer process (PID 11) exited with exit code 1"),
        ("server-crash", "LOG:  server process (PID 11) was terminated by exception 0xC0000005"),
        ("server-crash", 'LOG:  background worker "x" (PID 7) was terminated by signal 11: Segv'),
        ("server-crash", "LOG:  all server processes terminated; reinitializing"),
        ("server-crash", "FATAL:  terminating connection due to unexpected postmaster exit"),
        ("server-crash", "LOG:  database system was not properly shut down; automatic recovery"),
    ],
)
def test_problems(code: str, message: str) -> None:
    (problem,) = scan(f"{PREFIX}LOG:  x\n{PREFIX}{message}\n{PREFIX}DETAIL:  y\n")
    assert (problem.code, problem.detail) == (code, PREFIX + message)


def test_a_failed_assertion_and_a_line_before_the_configuration_was_read() -> None:
    found = scan('TRAP: failed Assert("x"), File: "y.c", Line: 1\nFATAL:  no such file\n')
    assert [problem.code for problem in found] == ["server-crash", "server-error"]


def test_what_a_server_was_told_as_a_client_is_not_its_own_crash() -> None:
    """libpq writes another server's last words to standard error, which is our log, as they are."""
    line = "FATAL:  terminating connection due to unexpected postmaster exit\n"
    assert scan(f"{PREFIX}LOG:  x\n{line}") == ()
    assert [problem.code for problem in scan(line)] == ["server-crash"]


def test_a_continued_line_is_not_a_message() -> None:
    assert scan(f"{PREFIX}STATEMENT:  SELECT\n\tERROR:  1\n") == ()


def test_the_same_message_is_told_once_with_its_count() -> None:
    text = "".join(f"{PREFIX}ERROR:  duplicate key {number}\n" for number in range(4))
    (problem,) = scan(text)
    assert problem.detail == f"{PREFIX}ERROR:  duplicate key 0 (×4)"


def test_many_messages_are_bounded_and_no_crash_is_lost() -> None:
    lines = [f"{PREFIX}ERROR:  column {'x' * number} does not exist" for number in range(1, 60)]
    lines.append(f"{PREFIX}PANIC:  at the end")
    found = scan("\n".join(lines))
    assert len(found) == MOST_PROBLEMS + 1
    assert found[-2].code == "server-crash"
    assert found[-1].detail == "… and 40 other messages"


def test_last_lines() -> None:
    assert last_lines("a\nb\nc\n\n", 2) == "b\nc"
