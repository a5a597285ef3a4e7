"""How load programs reach servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_OPTIONS = {"-h": "host", "-p": "port", "-U": "user"}


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

    @property
    def parameters(self) -> dict[str, str]:
        """The same by libpq's names: host, port, user, dbname, password where there is one."""
        # Agents on hosts read this file too, and have no packages.
        from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

        given = dict(zip(self.options[::2], self.options[1::2], strict=True))
        found = {name: given[option] for option, name in _OPTIONS.items() if option in given}
        named = conninfo_to_dict(self.database) if "=" in self.database else {}
        found |= {name: str(value) for name, value in named.items()} or {"dbname": self.database}
        password = self.environment.get("PGPASSWORD")
        return found if password is None else {**found, "password": password}

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
