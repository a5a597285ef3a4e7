"""The attached servers of a campaign, and the databases that it made there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from teiten.connections import Conninfo
from teiten.datasets.contract import Say
from teiten.errors import TeitenError
from teiten.execute.bench import Bench
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Client
from teiten.execute.executor import Facts
from teiten.execute.postgres import states
from teiten.execute.postgres.programs import run_program
from teiten.execute.postgres.templates.build import NOT_VISIBLE, leaves_all_visible, make_tables
from teiten.execute.probes.backend import postmaster_of
from teiten.execute.sites.attached.connection import Route, answering, passed_on
from teiten.execute.sites.attached.databases import Databases
from teiten.execute.sites.attached.site import AttachedSite, permitted
from teiten.model.attached import AttachedServer
from teiten.model.installation import Pgbench
from teiten.model.plan import ClusterKey, PlannedTrial, TemplateSpec
from teiten.model.study import DataSet

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
    passed_on: str
    """For other programs: a connection string without a password."""
    password: str | None = field(repr=False)
    options: str
    """Options that the address gives to every session."""
    pid: int | None
    """The postmaster's, where it runs on this machine."""
    pgbench: Pgbench
    """For filling it."""

    def conninfo(self) -> Conninfo:
        """For our own connections."""
        return self.route.conninfo(self.database)

    def connect(self, *, settings: Iterable[tuple[str, str]] = ()) -> psycopg.Connection[Any]:
        """Connect, with parameters for the session. Raises ServerError."""
        options = self._options(settings)
        return self.route.connect(self.database, options=options or None)

    def address(self, settings: Iterable[tuple[str, str]] = ()) -> Address:
        """For load programs: the password, and the parameters of their sessions, in their
        environment."""
        environment = {"PGOPTIONS": self._options(settings)}
        if self.password:
            environment["PGPASSWORD"] = self.password
        return Address(self.passed_on, environment=environment)

    def run_pgbench(self, *options: str, what: str) -> None:
        """Run it for a data set. Raises ServerError where it fails."""
        run_program(
            [self.pgbench.path, *options, self.passed_on],
            what=what,
            library_path=self.pgbench.library_path,
            environment=self.address().environment,
            hint="see whether the server has the disk for it, and its log",
        )

    def _options(self, settings: Iterable[tuple[str, str]]) -> str:
        return " ".join(filter(None, (self.options, session_options(settings))))


class AttachedDatabases:
    """Connects to attached servers, fills databases there, and drops them at the end."""

    def __init__(
        self,
        bench: Bench,
        folder: Path,
        passwords: Mapping[str, str],
        client: Client,
        say: Callable[[str], None],
    ) -> None:
        """``folder``: ``Workdir.attached``. ``passwords``: by address of a server, those that were
        in it."""
        self.bench, self.client = bench, client
        self._folder = folder
        self._passwords = passwords
        self._say = say
        self._databases: dict[str, Databases] = {}
        self._made: dict[tuple[str, str], Route] = {}
        """Every database that is not dropped yet, by its server's address and its name."""
        self._filled: dict[ClusterKey, str] = {}

    def prepare(self, template: TemplateSpec) -> Facts:
        """Fill a database with the data set. Raises ServerError.

        Tables that are spread over servers are made when their trial has all of these.
        """
        trials = self.bench.plan.trials
        if any(trial.distribution is not None and template in trial.templates for trial in trials):
            return {"built": False}
        self._filled[template.fingerprint, 1, 1], facts = self.create(template)
        return {"built": True, **facts}

    def site(self, trial: PlannedTrial, attempt: int) -> AttachedSite:
        del attempt
        return AttachedSite(self, trial)

    def original(self, template: TemplateSpec, cluster: ClusterKey, like: str | None) -> str:
        """The filled database of a template, for all trials that only read or copy it; made where
        it is not there yet. ``like``: see ``create``."""
        if cluster not in self._filled:
            self._filled[cluster] = self.create(template, like)[0]
        return self._filled[cluster]

    def create(self, template: TemplateSpec, like: str | None = None) -> tuple[str, Facts]:
        """Make a database with what a template holds, which is often nothing yet where an engine
        spreads tables over servers. ``like``: the name of another server's, which it gets where it
        can."""
        route = self._route(template)
        name = self._of(route).create(like)
        self._made[route.address, name] = route
        self._say(f"filling the database {name} on the server {route.name}")
        database = self.open(template, name)
        with answering(route):
            return name, fill(database, template.data, permitted(template), self._say)

    def copy(self, template: TemplateSpec, original: str) -> str:
        """A copy for a trial that changes the data."""
        route = self._route(template)
        name = self._of(route).copy(original)
        self._made[route.address, name] = route
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
                passed_on=passed_on(connection, route, database),
                password=connection.info.password or None,
                options=connection.info.options,
                pid=postmaster_of(connection),
                pgbench=self.bench.plan.pgbench,
            )

    def drop(self, address: str, name: str) -> None:
        """Drop a database that this campaign made; raises ServerError where that fails."""
        route = self._made.get((address, name))
        if route is not None:
            for cluster, kept in tuple(self._filled.items()):
                if kept == name:
                    del self._filled[cluster]
            self._of(route).drop(name)
            del self._made[address, name]

    def finish(self) -> None:
        """Drop all that is left; never raises. What cannot be dropped stays noted."""
        for address, name in reversed(tuple(self._made)):
            try:
                self.drop(address, name)
            except (TeitenError, OSError) as error:
                self.bench.record.record_event(LEFT, database=name, reason=str(error))
                self._say(f"the database {name} is left: {error}; teiten clean drops it")
        self._filled.clear()

    def _route(self, template: TemplateSpec) -> Route:
        address = permitted(template).address
        return Route(template.installation.name, address, self._passwords.get(address))

    def _of(self, route: Route) -> Databases:
        if route.address not in self._databases:
            databases = Databases(route, self._folder, self.bench.campaign.name)
            databases.drop_left()
            self._databases[route.address] = databases
        return self._databases[route.address]


def fill(database: AttachedDatabase, data: DataSet, server: AttachedServer, say: Say) -> Facts:
    """Make the tables, then what every template gets: frozen, analysed, all on the disk.

    Raises ServerError or WorkloadError where a step fails. Pages that are not known to be visible
    afterwards (a transaction of others holds them back) are told, not refused: the server is not
    ours alone.
    """
    make_tables(database, data, say)
    with database.connect() as connection:
        for name, there in (
            ("pg_prewarm", server.can_prewarm),
            ("pg_buffercache", server.sees_buffers),
        ):
            if there:
                connection.execute(f"CREATE EXTENSION IF NOT EXISTS {name}".encode())
        if leaves_all_visible(data):
            connection.execute("VACUUM (FREEZE, ANALYZE)")
        if states.visible_of(data) is not None:
            connection.execute("CREATE EXTENSION IF NOT EXISTS pg_visibility")
            states.confirm_visible(connection, data, database.name)
        not_visible = connection.execute(NOT_VISIBLE).fetchall()
        if server.can_checkpoint:
            connection.execute("CHECKPOINT")
    return {"pages_not_visible": sum(pages for _, pages in not_visible)}


def session_options(settings: Iterable[tuple[str, str]]) -> str:
    """Parameters as PGOPTIONS has them: ``-c name=value``, spaces and backslashes escaped."""
    return " ".join(
        f"-c {name}=" + value.replace("\\", "\\\\").replace(" ", "\\ ") for name, value in settings
    )
