"""Databases of Teiten's own on an attached server: made, filled, copied, dropped.

A database is noted in the working folder before it is made, so that one that a killed Teiten left
can be found again, and carries a comment that says who made it. Only one that has such a name,
belongs to our own role, and carries that comment (or none yet, in the moment between the two
statements) is dropped.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from teiten.errors import ServerError
from teiten.execute.sites.attached.connection import Route, answering
from teiten.host.system.held_folder import HeldFolder

PREFIX = "teiten_"
NAME = re.compile(rf"{PREFIX}[0-9a-f]{{12}}(?:_copy)?")
COPY_SUFFIX = "_copy"
COMMENT = "Made by Teiten, and dropped by it"
PROVIDER_SINCE = 15
"""Since when a database names the provider of its locale, and how a copy is made."""
FORCE_SINCE = 13
DROP_ATTEMPTS = 20
DROP_PAUSE = 0.25
"""Seconds between attempts, while sessions that were ended still leave."""


@dataclass(frozen=True)
class Note:
    """The note that the working folder keeps of a database until it is dropped."""

    database: str
    server: str
    address: str
    campaign: str
    created: float
    """Seconds since the epoch."""


class Databases:
    """Makes and drops databases on one attached server."""

    def __init__(self, route: Route, folder: Path, campaign: str) -> None:
        """``folder``: ``Workdir.attached``."""
        self._route = route
        self._folder = folder
        self._campaign = campaign

    def create(self, like: str | None = None) -> str:
        """An empty database of the form that Teiten's own servers have: UTF8, locale C.

        ``like``: the name that it gets, where there is no such database yet.
        """
        name = f"{PREFIX}{secrets.token_hex(6)}" if like is None or self._has(like) else like
        with self._connected(name) as connection:
            _create(connection, name, _empty(connection))
        return name

    def copy(self, original: str) -> str:
        """A copy of a database of ours, file by file; nobody may be connected to the original."""
        name = original + COPY_SUFFIX
        self.drop(name)  # of a trial that was cut off
        with self._connected(name) as connection:
            form = sql.SQL("TEMPLATE {}").format(sql.Identifier(original))
            if _major(connection) >= PROVIDER_SINCE:
                form += sql.SQL(" STRATEGY FILE_COPY")
            _create(connection, name, form)
        return name

    def drop(self, name: str) -> None:
        """Raises ServerError where it cannot be dropped; it stays noted then."""
        drop_noted(self._route, self._note(name), name)

    def drop_left(self) -> None:
        """Drop what earlier Teitens have left on this server; no other may be running."""
        for path, note in notes(self._folder):
            if note.address == self._route.address:
                drop_noted(self._route, path, note.database)

    @contextmanager
    def _connected(self, name: str) -> Iterator[psycopg.Connection[Any]]:
        """A connection to make a database with, which is noted before."""
        note = Note(
            name, self._route.name, self._route.address, self._campaign, created=time.time()
        )
        with self._route.connect() as connection, answering(self._route):
            self._folder.mkdir(parents=True, exist_ok=True)
            with HeldFolder.open(self._folder) as held:  # on the disk before the database is
                text = f"{json.dumps(asdict(note))}\n".encode()
                held.write(self._note(name).name, text, mode=0o644, durable=True)
            yield connection

    def _note(self, name: str) -> Path:
        """Databases on several servers may have one name."""
        where = hashlib.sha256(self._route.address.encode()).hexdigest()[:8]
        return self._folder / f"{name}-{where}.json"

    def _has(self, name: str) -> bool:
        with self._route.connect() as connection, answering(self._route):
            row = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,))
            return row.fetchone() is not None


def notes(folder: Path) -> Iterator[tuple[Path, Note]]:
    """The databases that were made and are not dropped yet, each with its note's path."""
    for path in sorted(folder.glob(f"{PREFIX}*.json")):
        try:
            note = Note(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            continue
        if NAME.fullmatch(note.database):
            yield path, note


def drop_noted(route: Route, path: Path, name: str) -> None:
    """Drop a database that a note names, then the note. Raises ServerError where that fails."""
    with route.connect() as connection, answering(route):
        if _is_ours(connection, name, route):
            _drop(connection, name)
    path.unlink(missing_ok=True)


def drop_left(path: Path) -> None:
    """Drop the database that a note tells of. The password is libpq's to find (PGPASSWORD,
    ~/.pgpass, a service file). Raises ServerError where that fails."""
    for noted, note in notes(path.parent):
        if noted == path:
            drop_noted(Route(note.server, note.address), path, note.database)


def _is_ours(connection: psycopg.Connection[Any], name: str, route: Route) -> bool:
    """False where there is no such database. Raises ServerError where it is not ours."""
    row = connection.execute(
        "SELECT datdba = (SELECT oid FROM pg_roles WHERE rolname = current_user),"
        " shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s",
        (name,),
    ).fetchone()
    if row is None:
        return False
    owned, comment = row
    marked = comment is None or str(comment).startswith(COMMENT)
    if NAME.fullmatch(name) is None or not owned or not marked:
        raise ServerError(
            f"the database {name} on the server {route.name} does not carry Teiten's mark, or"
            " belongs to another role",
            "Teiten drops only what it made: look at it, and drop it yourself if it may go",
        )
    return True


def _create(connection: psycopg.Connection[Any], name: str, form: sql.Composable) -> None:
    identifier = sql.Identifier(name)
    connection.execute(sql.SQL("CREATE DATABASE {} {}").format(identifier, form))
    connection.execute(sql.SQL("COMMENT ON DATABASE {} IS {}").format(identifier, COMMENT))


def _empty(connection: psycopg.Connection[Any]) -> sql.Composable:
    provider = sql.SQL("LOCALE_PROVIDER libc" if _major(connection) >= PROVIDER_SINCE else "")
    form = sql.SQL("TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' {}")
    return form.format(provider)


def _drop(connection: psycopg.Connection[Any], name: str) -> None:
    identifier = sql.Identifier(name)
    if _major(connection) >= FORCE_SINCE:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(identifier))
        return
    for attempt in range(1, DROP_ATTEMPTS + 1):
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = %s AND usename = current_user",
            (name,),
        )
        try:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(identifier))
        except psycopg.errors.ObjectInUse:
            if attempt == DROP_ATTEMPTS:
                raise
            time.sleep(DROP_PAUSE)
        else:
            return


def _major(connection: psycopg.Connection[Any]) -> int:
    return connection.info.server_version // 10000
