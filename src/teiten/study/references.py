"""References to servers, read to their canonical form."""

from __future__ import annotations

import re
from typing import Any

from teiten.addresses import holds_secret
from teiten.model.attached import is_address

_PASSWORD = re.compile(r"(?<!['\w])password\"?\s*=?\s*(?:E?'|\$\w*\$)", re.IGNORECASE)
"""Before a value that is written out."""


def reference(value: Any) -> str:
    """A server: ``17``, ``18.4``, ``system:15``, a path, an alias, and
    ``postgresql://…``, for which only an alias stands. Raises ValueError."""
    if isinstance(value, float):
        raise ValueError(f'write a version as a text, "{value}": 18.10 would be read as 18.1')
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError(f'{value!r} does not name a server; write for example "17" or "18.4"')
    return _without_password(str(value).strip())


def node_addresses(value: Any) -> tuple[str, ...]:
    """Servers that run already, by their URIs. Raises ValueError."""
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("must be a list of addresses: postgresql://role@host:port/database")
    for one in value:
        if not isinstance(one, str) or not is_address(one):
            raise ValueError(f"{one!r} is no address; write postgresql://role@host:port/database")
    return tuple(_without_password(one.strip()) for one in value)


def statements(value: Any) -> str:
    """SQL for servers that run already. Raises ValueError where a password stands in it."""
    if not isinstance(value, str):
        raise ValueError("must be a text of SQL statements")
    if _PASSWORD.search(value):
        raise ValueError(
            "a password stands in the statements, and a study file goes to ledger and report;"
            " write the variable :'password' in its place, which is the one of the node's address"
        )
    return value.strip()


def _without_password(text: str) -> str:
    """A study file is copied into ledger and report: no password may stand in it."""
    if is_address(text) and holds_secret(text):
        raise ValueError(
            "the address holds a password, and a study file goes to ledger and report; leave it"
            " out, and give it by PGPASSWORD, in ~/.pgpass or a service file"
        )
    return text
