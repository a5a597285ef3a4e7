"""Passwords in addresses on the command line: taken out before anything else reads it.

What is left of a command line goes to ledgers, reports, logs and messages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

_ADDRESS = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
_NEXT = re.compile(r",(?=[^,=/@]+(?:,|=?$))", re.IGNORECASE)
"""The comma before the next reference of a list of servers."""
_USER_PASSWORD = re.compile(r"(//[^/?@:]*):(.*)@", re.DOTALL)
_QUERY_PASSWORD = re.compile(r"([?&])password=([^&]*)&?", re.IGNORECASE)


def take_passwords(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The arguments without passwords, and the passwords by the address that is left."""
    passwords: dict[str, str] = {}
    return [_clean(argument, passwords) for argument in arguments], passwords


def _clean(argument: str, passwords: dict[str, str]) -> str:
    starts = [match.start() for match in _ADDRESS.finditer(argument)]
    if not starts:
        return argument
    parts = [argument[: starts[0]]]
    for start, end in zip(starts, [*starts[1:], len(argument)], strict=True):
        address, rest = _split(argument[start:end])
        clean, password = without_password(address)
        if password is not None:
            passwords[clean] = password
        parts += [clean, rest]
    return "".join(parts)


def _split(text: str) -> tuple[str, str]:
    """An address, and what of the list of servers follows it."""
    found = _NEXT.search(text)
    return (text[: found.start()], text[found.start() :]) if found else (text, "")


def without_password(address: str) -> tuple[str, str | None]:
    """An address as libpq reads it without its password, and the password.

    Everything between the role's colon and the last @ is taken for the password, so that one
    with characters that should have been escaped does not stay behind in part.
    """
    password: str | None = None
    match = _USER_PASSWORD.search(address)
    if match is not None:
        password = unquote(match[2])
        address = address[: match.start()] + match[1] + "@" + address[match.end() :]
    match = _QUERY_PASSWORD.search(address)
    if match is not None:
        password = unquote(match[2])
        address = address[: match.start()] + match[1] + address[match.end() :]
        address = address.rstrip("?&")
    return address, password
