"""The attached servers of a campaign, and the databases that it made there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from teiten.errors import ServerError, TeitenError
from teiten.execute.executor import Facts
from teiten.execute.sites.attached.asking import postmaster
from teiten.execute.sites.attached.connection import Route, answering, passed_on
from teiten.execute.sites.attached.databases import Databases
from teiten.execute.sites.attached.filling import Filled, fill
from teiten.execute.record import CampaignRecord
from teiten.model.plan import Plan, TemplateSpec

LEFT = "databases-left"
"""The kind of the event that records what could not be dropped."""


@dataclass(frozen=True)
class AttachedDatabase:
    """A database of ours on an attached server, in the place that a started cluster has.

    What connects to it names no database: there is but one.
    """

    route: Route
    name: str
    database: str
    pgbench_conninfo: str
    """Without a password."""
    password: str | None
    options: str
    """What the address gives to every session."""
    pid: int | None
    """The postmaster's, where it runs on this machine."""

    socket_directory = Path()
    port = 0
    user_name = ""

    def conninfo(self, _dbname: str = "") -> str:
        """For our own connections: never shown."""
        return self.route.conninfo(self.database)

    def connect(
        self, _dbname: str = "", *, settings: Iterable[tuple[str, str]] = ()
    ) -> psycopg.Connection[Any]:
        """Connect, with parameters for the session. Raises ServerError."""
        options = self._options(settings)
        return self.route.connect(self.database, options=options or None)

    def pgbench_environment(self, settings: Iterable[tuple[str, str]]) -> dict[str, str]:
        """The password, and the parameters of pgbench's sessions."""
        found = {"PGOPTIONS": self._options(settings)}
        if self.password:
            found["PGPASSWORD"] = self.password
        return found

    def _options(self, settings: Iterable[tuple[str, str]]) -> str:
        return " ".join(filter(None, (self.options, session_options(settings))))


class Attachments:
    """Connects to attached servers, fills databases there, and drops them at the end."""

    def __init__(
        self,
        *,
        record: CampaignRecord,
        plan: Plan,
        folder: Path,
        campaign: str,
        passwords: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        self._record = record
        self._plan = plan
        self._folder = folder
        self._campaign = campaign
        self._passwords = passwords
        self._say = say
        self._databases: dict[str, Databases] = {}
        self._made: dict[str, Route] = {}
        """Every database that is not dropped yet."""
        self._filled: dict[tuple[str, int], str] = {}

    def prepare(self, template: TemplateSpec) -> Facts:
        """Fill a database with the data set. Raises ServerError."""
        return {"built": True, **self._fill(template, 1).facts}

    def original(self, template: TemplateSpec, copy: int) -> str:
        """The filled database of a template; made where it is not there yet."""
        if (template.fingerprint, copy) not in self._filled:
            self._fill(template, copy)
        return self._filled[template.fingerprint, copy]

    def copy(self, template: TemplateSpec, original: str) -> str:
        """A copy for a trial that changes the data."""
        route = self._route(template)
        databases = self._of(route)
        databases.drop(original + "_copy")  # of a trial that was cut off
        name = databases.copy(original)
        self._made[name] = route
        return name

    def open(self, template: TemplateSpec, database: str) -> AttachedDatabase:
        """Connect once, to know what is in effect. Raises ServerError."""
        route = self._route(template)
        with route.connect(database) as connection, answering(route):
            version = template.installation.version
            return AttachedDatabase(
                route=route,
                name=f"PostgreSQL {version} ({route.name})",
                database=database,
                pgbench_conninfo=passed_on(connection, route, database),
                password=connection.info.password or None,
                options=connection.info.options,
                pid=postmaster(connection),
            )

    def drop(self, name: str) -> None:
        """Drop a database that this campaign made; raises ServerError where that fails."""
        route = self._made.get(name)
        if route is not None:
            self._of(route).drop(name)
            del self._made[name]

    def finish(self) -> None:
        """Drop all that is left; never raises. What cannot be dropped stays noted."""
        for name in reversed(tuple(self._made)):
            try:
                self.drop(name)
            except (TeitenError, OSError) as error:
                self._record.record_event(LEFT, database=name, reason=str(error))
                self._say(f"the database {name} is left: {error}; teiten clean drops it")
        self._filled.clear()

    def _fill(self, template: TemplateSpec, copy: int) -> Filled:
        route = self._route(template)
        name = self._of(route).create()
        self._made[name] = route
        self._say(f"filling the database {name} on the server {route.name}")
        filled = fill(self.open(template, name), template, self._plan.pgbench)
        self._filled[template.fingerprint, copy] = name
        return filled

    def _route(self, template: TemplateSpec) -> Route:
        server = template.installation.attached
        if server is None:
            raise ServerError(
                f"{template.installation.name} is not attached", "this is a defect of Teiten"
            )
        password = self._passwords.get(server.address)
        return Route(template.installation.name, server.address, password)

    def _of(self, route: Route) -> Databases:
        if route.address not in self._databases:
            databases = Databases(route, self._folder, self._campaign)
            databases.drop_left()
            self._databases[route.address] = databases
        return self._databases[route.address]


def session_options(settings: Iterable[tuple[str, str]]) -> str:
    """Parameters as PGOPTIONS has them: ``-c name=value``, spaces and backslashes escaped."""
    return " ".join(
        f"-c {name}=" + value.replace("\\", "\\\\").replace(" ", "\\ ") for name, value in settings
    )
