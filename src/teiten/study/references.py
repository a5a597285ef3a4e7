"""References to servers, read to their canonical form."""

from __future__ import annotations

from typing import Any

from teiten.addresses import holds_secret
from teiten.model.attached import is_address


def reference(value: Any) -> str:
    """A server: ``17``, ``18.4``, ``system:15``, a path, an alias, and
    ``postgresql://…``, for which only an alias stands. Raises ValueError."""
    if isinstance(value, float):
        raise ValueError(f'write a version as a text, "{value}": 18.10 would be read as 18.1')
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError(f'{value!r} does not name a server; write for example "17" or "18.4"')
    return _without_password(str(value).strip())


def _without_password(text: str) -> str:
    """A study file is copied into ledger and report: no password may stand in it."""
    if is_address(text) and holds_secret(text):
        raise ValueError(
            "the address holds a password, and a study file goes to ledger and report; leave it"
            " out, and give it by PGPASSWORD, in ~/.pgpass or a service file"
        )
    return text
