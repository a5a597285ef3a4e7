"""The servers that a study runs on; most studies contrast them."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from teiten.factors.contract import FactorRule
from teiten.model.attached import holds_address, is_address

_PASSWORD = re.compile(r"//[^/?@]*:[^@]+@|[?&](?:ssl)?password=", re.IGNORECASE)


class Server(FactorRule):
    """``17``, ``18.4``, ``system:15``, a path, an alias."""

    name = "server"
    rank = 0
    of_server = False
    flag: ClassVar[str] = "--servers 17,18"
    missing: ClassVar[tuple[str, str]] = (
        "names no server",
        'add for example server = ["17", "18"], or --servers',
    )

    def level(self, value: Any) -> str:
        if holds_address(str(value)):
            raise ValueError(
                "give the address a name: --servers NAME=postgresql://…, or an alias under"
                " [servers]"
            )
        return reference(value)


def reference(value: Any) -> str:
    """What an alias stands for: a level, or ``postgresql://…``."""
    if isinstance(value, float):
        raise ValueError(f'write a version as a text, "{value}": 18.10 would be read as 18.1')
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError(f'{value!r} does not name a server; write for example "17" or "18.4"')
    return _without_password(str(value).strip())


def _without_password(text: str) -> str:
    """A study file is copied into ledger and report: no password may stand in it."""
    if is_address(text) and _PASSWORD.search(text):
        raise ValueError(
            "the address holds a password, and a study file goes to ledger and report; leave it"
            " out, and give it by PGPASSWORD, in ~/.pgpass or a service file"
        )
    return text


FACTOR = Server()
