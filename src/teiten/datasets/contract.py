"""Interface of the server that data are filled into, wherever it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import psycopg

from teiten.connections import Conninfo
from teiten.model.study import DataSet

Say = Callable[[str], None]


class Fillable(Protocol):
    """A started server whose database for the tables is there, and empty."""

    @property
    def name(self) -> str:
        """For messages."""
        ...

    def conninfo(self) -> Conninfo:
        """Give the database's connection string; it may hold a password, and is never shown."""
        ...

    def connect(self) -> psycopg.Connection[Any]:
        """To the database. Raises ServerError or psycopg.Error."""
        ...

    def run_pgbench(self, *options: str, what: str) -> None:
        """Run pgbench on the database, near the server. Raises ServerError, with ``what`` failed,
        or MachineError."""
        ...


Fill = Callable[[Fillable, DataSet, Say], None]
"""``fill`` of each data set's folder: makes its tables. Raises WorkloadError, ServerError or
MachineError."""
