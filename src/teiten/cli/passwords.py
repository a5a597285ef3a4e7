"""Passwords on the command line: taken out before anything else reads it.

What is left of a command line goes to ledgers, reports, logs and messages. So that the list of
processes does not show it either, the program begins anew with what is left, and takes the rest
from a pipe.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from teiten import addresses
from teiten.addresses import Secrets
from teiten.errors import UsageError
from teiten.secrets import keep

PIPE = "TEITEN_SECRETS_FROM"
"""The variable with the number of a descriptor from which the secrets are read, once."""
CONNECTION_FLAG = "--to"
"""The flag whose value may be a connection string in libpq's other form."""
_LONG_NUMBER = re.compile(r"[\d_]{1000,}")
_ADDRESS = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
_NEXT = re.compile(r",(?=[^,=/@]+(?:,|=?$))", re.IGNORECASE)
"""The comma before the next reference of a list of servers."""


@dataclass
class ShownCommand:
    """A command line that may be shown, and what was secret in it."""

    arguments: list[str]
    secrets: dict[str, Secrets] = field(default_factory=dict)
    """By the address that is left."""
    misplaced: str | None = None
    """An argument, as it may be shown, that holds a password where no address is expected."""

    def check(self) -> None:
        """Raise UsageError where a password would go to ledger and report, and for a number of
        thousands of digits, which Python does not even read."""
        if self.misplaced is not None:
            raise UsageError(
                f"a password stands in {self.misplaced!r}, where no address is expected: it would"
                " be written to ledger and report",
                "give it by PGPASSWORD, in ~/.pgpass or a service file, or in the address"
                " NAME=postgresql://role:password@host/database",
            )
        for match in filter(None, map(_LONG_NUMBER.search, self.arguments)):
            raise UsageError(
                f"a number of {len(match[0])} digits stands on the command line",
                "write a shorter one",
            )


def take_passwords(arguments: Sequence[str]) -> ShownCommand:
    """The arguments without passwords, and what was taken out."""
    taken = ShownCommand([])
    if "PGPASSWORD" in os.environ:
        keep(os.environ["PGPASSWORD"])
    before = ""
    for argument in arguments:
        clean = _clean(argument, taken.secrets)
        if addresses.names_secret(clean):
            clean = _clean_keywords(clean, before, taken)
        taken.arguments.append(clean)
        before = argument
    return taken


def begin_anew(taken: ShownCommand) -> None:
    """Replace this process by one whose command line may be shown; returns where there is no need,
    or no way."""
    given = len(taken.arguments)
    if not taken.secrets or sys.platform == "win32" or not given:
        return
    reading, writing = os.pipe()
    with open(writing, "w", encoding="utf-8") as pipe:  # noqa: PTH123 - a descriptor
        json.dump(taken.secrets, pipe)
    os.set_inheritable(reading, True)
    os.environ[PIPE] = str(reading)
    try:
        os.execv(sys.executable, [*sys.orig_argv[:-given], *taken.arguments])  # noqa: S606
    except OSError:  # a Python that cannot say where it is
        os.close(reading)
        del os.environ[PIPE]


def handed_over() -> dict[str, Secrets]:
    """Read the secrets that the process before this one has taken out of the command line."""
    number = os.environ.pop(PIPE, "")
    if not number.isdigit():
        return {}
    try:
        with open(int(number), encoding="utf-8") as pipe:  # noqa: PTH123 - a descriptor
            handed: dict[str, Secrets] = json.load(pipe)
    except (OSError, ValueError):
        return {}
    for secrets in handed.values():
        for secret in secrets.values():
            keep(secret)
    return handed


def _clean(argument: str, secrets: dict[str, Secrets]) -> str:
    starts = [match.start() for match in _ADDRESS.finditer(argument)]
    if not starts:
        return argument
    parts = [argument[: starts[0]]]
    for start, end in zip(starts, [*starts[1:], len(argument)], strict=True):
        address, rest = _split(argument[start:end])
        clean, hidden = addresses.without_secrets(address)
        if hidden:
            secrets[clean] = hidden
        parts += [clean, rest]
    return "".join(parts)


def _split(text: str) -> tuple[str, str]:
    """An address, and what of the list of servers follows it."""
    match = _NEXT.search(text, max(0, text.rfind("@")))
    return (text[: match.start()], text[match.start() :]) if match else (text, "")


def _clean_keywords(argument: str, before: str, taken: ShownCommand) -> str:
    flag, equals, value = argument.partition("=")
    if equals and flag == CONNECTION_FLAG:
        start = f"{flag}="
    elif before == CONNECTION_FLAG:
        start, value = "", argument
    else:
        clean, _ = addresses.without_secrets(argument)
        taken.misplaced = clean
        return clean
    clean, hidden = addresses.without_secrets(value)
    if hidden:
        taken.secrets[clean] = hidden
    return start + clean
