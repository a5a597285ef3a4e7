"""A cluster on the db host, with its server: driven by the agent, asked over a forwarded socket."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from teiten import connections
from teiten.connections import Conninfo
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Program
from teiten.execute.executor import Facts
from teiten.execute.postgres.beside import filled
from teiten.execute.postgres.cluster import BENCH_DATABASE, StopManner
from teiten.execute.postgres.conf import Opening
from teiten.execute.sites.hosted import HostedCluster, Launch
from teiten.execute.sites.remote.agent.forms import settings_form
from teiten.execute.sites.remote.client import RemoteChild
from teiten.execute.sites.remote.hosts import REACH_TIMEOUT, Host
from teiten.model.hosts import HostAssignment, PlannedNodeHost
from teiten.model.installation import SUPERUSER, Installation
from teiten.model.study import CachePolicy

LOAD_ROLE = "teiten_load"
"""Who may come over the network: no superuser, and only into the database of the load."""
NODE_ROLE = "teiten_nodes"
"""Who may come over the network from the server of another node, likewise."""
LOOK_EVERY = 1.0
"""Seconds between two looks whether the server lives."""
CONNECT_TIMEOUT = 20
"""Seconds, over the forwarded socket."""

_RIGHTS = (
    "DATABASE bench",
    "SCHEMA public",
    "ALL TABLES IN SCHEMA public",
    "ALL SEQUENCES IN SCHEMA public",
)


class NetworkWay:
    """How servers are reached over the network: the addresses, a role, and a password of its own.

    The password is made anew for each start of Teiten, and is in this object, in the server as a
    scram verifier, and in a file: of the load, one that only the client host's user reads, while
    pgbench runs; of servers of another host, one in the data directory of the server that connects
    to them.
    """

    def __init__(self, address: str, client_address: str, role: str, reason: str) -> None:
        """``client_address``: the one that is let in. ``reason``: for the configuration."""
        self.address, self.client_address = address, client_address
        self.role, self._reason = role, reason
        self._password = secrets.token_urlsafe(32)

    @classmethod
    def of_load(cls, hosts: HostAssignment) -> NetworkWay | None:
        """None where the load goes by the private socket."""
        address, client = hosts.address, hosts.client_address
        if address is None or client is None:
            return None
        return cls(address, client, LOAD_ROLE, "reached by the client host")

    @classmethod
    def of_node(cls, host: PlannedNodeHost) -> NetworkWay:
        reason = "reached by the coordinator's host"
        return cls(host.address, host.peer, NODE_ROLE, reason)

    @property
    def is_of_load(self) -> bool:
        return self.role == LOAD_ROLE

    def opening(self, installation: Installation) -> Opening:
        return Opening(
            address=self.address,
            client=self.client_address,
            role=self.role,
            database=BENCH_DATABASE,
            method=_method(installation),
            reason=self._reason,
        )

    def let_in(self, connection: psycopg.Connection[Any], installation: Installation) -> None:
        """Make the role. The server is told a verifier, never the password."""
        verifier = connection.pgconn.encrypt_password(
            self._password.encode(), self.role.encode(), _method(installation).encode()
        ).decode()
        known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (self.role,))
        role = sql.Identifier(self.role)
        if known.fetchone() is None:
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, verifier))
        for what in _RIGHTS:
            connection.execute(sql.SQL("GRANT ALL ON {} TO {}").format(sql.SQL(what), role))

    def password_line(self, port: int) -> str:
        """The line of a pgpass file."""
        words = (self.address, str(port), BENCH_DATABASE, self.role, self._password)
        return ":".join(word.replace("\\", "\\\\").replace(":", "\\:") for word in words)


def _method(installation: Installation) -> str:
    return "scram-sha-256" if installation.version.major_number >= 10 else "md5"


class RemoteCluster(HostedCluster):
    """A copy of a template on a db host; ``execute.sites.hosted.HostedCluster`` says what the
    methods do. They raise HostLostError where the host is lost."""

    user_name = SUPERUSER
    emulated = None
    """No node is emulated on another host."""

    def __init__(
        self,
        host: Host,
        key: str,
        installation: Installation,
        way: NetworkWay | None = None,
        client: Host | None = None,
    ) -> None:
        """``installation``: with its paths on the host. ``way``: by which the server is reached
        over the network; ``client``: who comes by it."""
        self.host = host
        self.key = key
        self.installation = installation
        self._way, self._client = way, client
        self._state: dict[str, Any] | None = None
        self._socket_here: Path | None = None
        self._looked = 0.0

    @property
    def name(self) -> str:
        """For messages."""
        where = "" if self.host.is_here else f" on {self.host.shown}"
        return f"PostgreSQL {self.installation.version} ({self.installation.name}){where}"

    @property
    def pid(self) -> int | None:
        """The postmaster's, on its host."""
        return None if self._state is None else self._state["pid"]

    @property
    def socket_directory(self) -> Path:
        """On the db host, and entered by the agent's user alone."""
        return Path(self._started["socket"])

    @property
    def port(self) -> int:
        return int(self._started["port"])

    @property
    def client_environment(self) -> dict[str, str]:
        """For libpq in programs on the db host that go by the socket."""
        return dict(self._started["environment"])

    def address(self) -> Address:
        """For load programs on the client host. The server has the trial's parameters; the password
        is in a line of a pgpass file there, where the load comes over the network."""
        way = self._way if self._way is not None and self._way.is_of_load else None
        if way is None:
            conninfo = self._conninfo(str(self.socket_directory), SUPERUSER)
            return Address(conninfo, environment=self.client_environment)
        conninfo = self._conninfo(way.address, way.role)
        return Address(conninfo, password_line=way.password_line(self.port))

    def _conninfo(self, host: str, role: str) -> str:
        return connections.for_program(
            host=host, user=role, port=str(self.port), dbname=BENCH_DATABASE, sslmode="disable"
        )

    def password_lines(self) -> list[str]:
        way = self._way
        return [] if way is None or way.is_of_load else [way.password_line(self.port)]

    def peer_address(self) -> Address:
        """For the coordinator: over the network without a password, which it has by itself; for
        other servers of the host, which run as the same user, by the socket."""
        way = self._way
        if way is not None and not way.is_of_load:
            return Address(self._conninfo(way.address, way.role))
        folder = Path(self._started["socket_of_peers"])
        return Address.by_socket(folder, self.port, SUPERUSER, BENCH_DATABASE)

    def begun(self, state: dict[str, Any]) -> None:
        """Take a server that the agent has started."""
        self._state = state
        self._socket_here = self.host.socket_here(state["socket"], int(state["port"]))
        self._looked = time.monotonic()

    def launch(self, launch: Launch) -> Facts:
        way = self._way
        opening = None if way is None else asdict(way.opening(self.installation))
        state = self.host.call(
            "clusters.start",
            key=self.key,
            settings=settings_form(launch.settings),
            opening=opening,
            port=None if way is None else launch.options.port,
            passwords=launch.options.knows_passwords,
        )
        self.begun(state)
        if way is not None:
            with self.connect(BENCH_DATABASE) as connection:
                way.let_in(connection, self.installation)
            self._require_reached(way)
        return {}

    def _require_reached(self, way: NetworkWay) -> None:
        if self._client is not None:
            self._client.call(
                "machine.reach",
                address=way.address,
                port=self.port,
                timeout=REACH_TIMEOUT,
                who=f"the host {self._client.shown}",
            )

    def put_passwords(self, lines: Sequence[str]) -> None:
        self.host.call("clusters.put_passwords", key=self.key, lines=list(lines))

    def spawn(self, program: Program) -> RemoteChild:
        there = self.host.call("clusters.surroundings", key=self.key)
        ready = replace(
            program,
            path=self.installation.bin_directory / program.path,
            library_path=self.installation.library_path,
            arguments=tuple(filled(word, there["places"]) for word in program.arguments),
            environment=there["environment"],
        )
        return RemoteChild(self.host, ready, as_server=True)

    def is_running(self) -> bool:
        if time.monotonic() - self._looked >= LOOK_EVERY:
            self._look()
        return self.pid is not None

    def has_ended(self) -> bool:
        self._look()
        return self._state is not None and self.pid is None

    def _look(self) -> None:
        if self._state is not None:
            self._looked = time.monotonic()
            state = self.host.call("clusters.state", key=self.key)
            self._state = {**self._state, "pid": state["pid"]}

    def stop(self, *, immediately: bool = False) -> StopManner:
        """End the server; says how. Raises HostLostError."""
        self.leave()
        if self._state is None:
            return StopManner.ENDED
        manner = StopManner(self.host.call("clusters.stop", key=self.key, immediately=immediately))
        self._state = None
        return manner

    def remove(self) -> None:
        """Stop it and delete its folder."""
        self.leave()
        self._state = None
        self.host.call("clusters.remove", key=self.key)

    def read_log(self, begin: int = 0) -> bytes:
        return self.host.link.ask("clusters.log", key=self.key, begin=begin)[1]

    def log_size(self) -> int:
        return int(self.host.call("clusters.log_size", key=self.key))

    def read_configuration(self) -> bytes:
        return self.host.link.ask("clusters.configuration", key=self.key)[1]

    def empty_caches(self, policy: CachePolicy) -> str:
        return str(self.host.call("clusters.caches", key=self.key, policy=str(policy)))

    def replaced_file(self) -> str | None:
        replaced = self.host.call("clusters.replaced", key=self.key)
        return None if replaced is None else f"host {self.host.shown}: {replaced}"

    def conninfo(self, dbname: str) -> Conninfo:
        """For our own connections, over the forwarded socket."""
        if self._socket_here is None:
            raise RuntimeError(f"{self.name} is not started")
        return connections.to_own_server(
            self._socket_here, self.port, self.user_name, dbname, timeout=CONNECT_TIMEOUT
        )

    def connect(self, dbname: str = "postgres") -> psycopg.Connection[Any]:
        """Connect as the superuser. Raises psycopg.Error."""
        return connections.connect(self.conninfo(dbname))

    @property
    def _started(self) -> dict[str, Any]:
        if self._state is None:
            raise RuntimeError(f"{self.name} is not started")
        return self._state

    def leave(self) -> None:
        """Take the forwarded socket away."""
        if self._socket_here is not None and self._state is not None:
            with contextlib.suppress(OSError):
                self.host.drop_socket(self._socket_here, self._state["socket"], self.port)
        self._socket_here = None
