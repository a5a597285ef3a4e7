"""Connections that do nothing while a server is loaded: each snapshot and each look at the list of
sessions counts them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import psycopg

from teiten.execute.sites.contract import Site


class IdleConnections:
    """The idle connections of one trial to its server."""

    def __init__(self, site: Site, count: int) -> None:
        self._site, self._count = site, count
        self._connections: list[psycopg.Connection[Any]] = []

    def open(self) -> None:
        """Open those that are not open yet. Errors are those of ``Site.connect``."""
        while len(self._connections) < self._count:
            self._connections.append(self._site.connect())

    def close(self) -> None:
        """Close all; a server that is gone has closed them already."""
        while self._connections:
            with suppress(psycopg.Error):
                self._connections.pop().close()
