"""Errors of a pgbench run, in pgbench's own words."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PREFIX = re.compile(r"^(?:\S*/)?pgbench(?:\.exe)?: (?:(?:error|fatal|hint|detail|warning): )?")
_ERROR = re.compile(
    r"^(?:\S*/)?pgbench(?:\.exe)?: (?:error|fatal): "
    r"|^(?:\S*/)?pgbench(?:\.exe)?: (?:unrecognized|invalid|option)"
    r"|^client \d+ (?:script \d+ )?(?:aborted|sending)"  # pgbench before 12 has no prefix
    r"|: syntax error in command"
    r"|^(?:ERROR|FATAL|PANIC): |^connection to database "
)
_NEW_MESSAGE = re.compile(r"^(?:\S*/)?pgbench(?:\.exe)?: |^client \d+ |^progress: ")
_FOLLOWS = ("Run was aborted; the above results are incomplete",)
_CONNECTION = re.compile(
    r"connection to (?:server|database)|could not connect|server closed the connection|"
    r"terminating connection|perhaps the backend died|could not send|could not receive|"
    r"the database system is|connection not open|no connection to the server|"
    r"too many clients|connection slots|could not create connection|SSL SYSCALL",
    re.IGNORECASE,
)
MAXIMUM_LINES = 12
"""The most lines of one message; a message of libpq or of a script has fewer."""


_NO_RELATION = re.compile(r'relation "(.+?)" does not exist')


def other_tables(message: str) -> str | None:
    """The way out for a script that asks for tables that are not there; None for other errors."""
    if not _NO_RELATION.search(message):
        return None
    return (
        "the script runs on pgbench's tables where the study has no others; on yours:"
        " --set data.script=tables.sql (plain SQL, or a dump of pg_dump's)"
    )


def first_error(lines: Sequence[str]) -> str | None:
    """The first error message with its continuation lines, without pgbench's prefix.

    None where no line is an error.
    """
    start = next((at for at, line in enumerate(lines) if _ERROR.search(line)), None)
    if start is None:
        return None
    message = [_PREFIX.sub("", lines[start])]
    for line in lines[start + 1 : start + MAXIMUM_LINES]:
        if _NEW_MESSAGE.match(line):
            break
        message.append(line)
    return "\n".join(message).rstrip()


def all_errors(lines: Sequence[str]) -> tuple[str, ...]:
    """The first lines of all error messages, but for those that only repeat that there was one."""
    found = (_PREFIX.sub("", line) for line in lines if _ERROR.search(line))
    return tuple(line for line in found if not line.startswith(_FOLLOWS))


def blames_connection(lines: Sequence[str]) -> bool:
    """Whether the server was not there, or went away: then the script is not to blame."""
    return any(_CONNECTION.search(line) for line in lines)
