"""The access log by SQL on the server: its rows are made by the backend that stores them."""

from __future__ import annotations

from teiten.datasets.access_log.model import TABLES, statements
from teiten.datasets.contract import Fillable, Say
from teiten.model.study import DataSet


def fill(server: Fillable, data: DataSet, say: Say) -> None:
    """Each day in a transaction of its own; what fails is psycopg's error."""
    say("making the access log")
    with server.connect() as connection:
        connection.execute(TABLES.encode())
        for statement in statements(data):
            connection.execute(statement.encode())
