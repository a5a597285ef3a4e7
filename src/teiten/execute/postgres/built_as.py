"""How a server was built, read from its binary: what ``pg_config()`` answers is compiled into it,
so that neither the server nor pg_config has to run.

The build of an installation as its own programs report it, before a server is started.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from teiten.execute.postgres.binaries import find_binary
from teiten.execute.postgres.inspection import ask_pg_config_text
from teiten.execute.postgres.provision.receipts import read_receipt
from teiten.model.build import ServerBuild
from teiten.model.installation import Installation

VERSION = re.compile(r"PostgreSQL \d.* compiled by (.+?), \d+-bit")
FLAGS = re.compile(r"([ -~]*-fno-strict-aliasing[ -~]*-fwrapv[ -~]*)$")
"""CFLAGS of every build by gcc or clang: PostgreSQL's own configure and meson.build add it."""
OPTIONS = re.compile(r"(?:^|[^ -~])((?: ?'[ -&(-~]*')*(?: ?'--[a-z][ -&(-~]*')(?: ?'[ -&(-~]*')*)$")
LONGEST = 8192
"""Bytes of such a text on each side of what it is found by."""


def read_build(installation: Installation) -> ServerBuild | None:
    """None where there is no binary here: an attached server, a client."""
    if installation.postgres is None:
        return None
    return build_in(installation.postgres)


def build_in(program: Path) -> ServerBuild | None:
    """None where the program cannot be read; what it does not hold is None."""
    try:
        content = program.read_bytes()
    except OSError:
        return None
    return ServerBuild(
        compiler=_first(content, b" compiled by ", VERSION),
        cflags=_first(content, b"-fno-strict-aliasing", FLAGS),
        configure=_first(content, b"'--", OPTIONS),
    )


def _first(content: bytes, marker: bytes, form: re.Pattern[str]) -> str | None:
    """The first text around ``marker`` that has the form, whatever stands before it without a NUL
    between, as numbers do."""
    matches = (form.search(text) for text in _texts(content, marker))
    return next((match[1].strip() for match in matches if match), None)


def _texts(content: bytes, marker: bytes) -> Iterator[str]:
    """The texts of C, from NUL to NUL, that hold ``marker``."""
    at = content.find(marker)
    while at >= 0:
        begin = content.rfind(b"\0", max(0, at - LONGEST), at) + 1
        end = content.find(b"\0", at, at + LONGEST)
        if begin and end >= 0:
            yield content[begin:end].decode("ascii", "replace")
        at = content.find(marker, at + len(marker) if end < 0 else end)


PG_CONFIG_OPTIONS = {"CONFIGURE": "--configure", "CFLAGS": "--cflags"}


def reported_build(installation: Installation) -> tuple[dict[str, str], str]:
    """CONFIGURE and CFLAGS of its ``pg_config``, and what ``version()`` said when it was tried."""
    program = find_binary(installation.bin_directory, "pg_config")
    answers = {
        name: ask_pg_config_text(program, option) or ""
        for name, option in PG_CONFIG_OPTIONS.items()
        if program is not None
    }
    return answers, read_receipt(installation.bin_directory.parent).server_version
