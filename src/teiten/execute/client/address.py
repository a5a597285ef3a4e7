"""How load programs reach servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Address:
    """How a load program reaches a server from where it runs."""

    database: str
    """Its name, or a connection string without a password."""
    options: tuple[str, ...] = ()
    """Of every program that comes with PostgreSQL: host, port, user."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The password, and the parameters of the program's sessions."""
    password_line: str | None = field(default=None, repr=False)
    """Of a pgpass file that is there while the program runs."""

    @classmethod
    def by_socket(
        cls,
        folder: Path,
        port: int,
        user: str,
        database: str,
        environment: Mapping[str, str] | None = None,
    ) -> Address:
        options = ("-h", str(folder), "-p", str(port), "-U", user)
        return cls(database, options, environment or {})
