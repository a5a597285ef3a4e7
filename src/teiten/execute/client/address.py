"""How load programs reach servers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from teiten.addresses import read_address

_OPTIONS = {"-h": "host", "-p": "port", "-U": "user"}


@dataclass(frozen=True)
class Address:
    """How a load program reaches a server from where it runs."""

    database: str
    """Its name, or a connection string without a password."""
    options: tuple[str, ...] = ()
    """Options of every program that comes with PostgreSQL: host, port, user."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The password, and the parameters of the program's sessions."""
    password_line: str | None = field(default=None, repr=False)
    """The line of a pgpass file that is there while the program runs."""

    @property
    def parameters(self) -> dict[str, str]:
        """The address by libpq's names: host, port, user, dbname, password where there is one."""
        parameters = {_OPTIONS[option]: value for option, value in self._given.items()}
        named = read_address(self.database) if "=" in self.database else {}
        parameters |= named or {"dbname": self.database}
        password = self.environment.get("PGPASSWORD") or self._password_of_line()
        return parameters if password is None else {**parameters, "password": password}

    @property
    def _given(self) -> dict[str, str]:
        """The options' values."""
        return dict(zip(self.options[::2], self.options[1::2], strict=True))

    def _password_of_line(self) -> str | None:
        """The last word of a pgpass line, in which : and \\ have a \\ before them."""
        if self.password_line is None:
            return None
        return re.sub(r"\\(.)", r"\1", re.split(r"(?<!\\):", self.password_line)[-1])

    @classmethod
    def of_any(cls, addresses: Sequence[Address], session: Mapping[str, str]) -> Address:
        """One of several servers, by chance for each connection (libpq 16 and later). ``session``:
        parameters of the server for these connections."""
        first, given = addresses[0], [server._given for server in addresses]
        several = {name: ",".join(server[name] for server in given) for name in ("-h", "-p")}
        words = " ".join(f"-c {name}={value}" for name, value in session.items())
        environment = {"PGLOADBALANCEHOSTS": "random", "PGOPTIONS": words}
        options = tuple(word for pair in (first._given | several).items() for word in pair)
        return cls(first.database, options, {**first.environment, **environment})

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
