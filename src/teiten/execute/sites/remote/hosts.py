"""The hosts of a campaign: reached, asked what they are, and left as they were found."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import platform
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.sockets import SOCKET, new_socket_directory, remove_socket_directory
from teiten.execute.probes.os import OsSnapshot
from teiten.execute.sites.remote.link import Link, LocalCarrier
from teiten.execute.sites.remote.ssh import SshConnection, check_host
from teiten.host.system.users import ServerUser
from teiten.model.facts import HostFacts
from teiten.model.hosts import HostAssignment, Hosts, PlannedHost, PlannedNodeHost, Role

LOOKS_AT_CLOCK = 5
REACH_TIMEOUT = 10.0
"""Seconds within which one host must reach a server of another."""
OURSELVES = ServerUser(name="", uid=None, gid=None)
_FACTS = TypeAdapter(HostFacts)


@dataclass(frozen=True)
class ClockReading:
    """A host's clock less ours (seconds), and half the round trip of the best of some looks."""

    offset: float
    uncertainty: float


class Host:
    """A host with an agent that waits for requests."""

    number = 0
    """Among the db hosts, in the order of nodes."""
    devices: tuple[str, ...] = ()
    """The disks below its working folder, once a campaign has asked for them."""

    def __init__(self, role: Role, name: str, python: str, workdir: str | None) -> None:
        """Raises MachineError where it cannot be reached, or is none that can be used."""
        self.role = role
        self.name = name
        self._ssh = SshConnection(check_host(name, f"hosts.{role}"), python) if name else None
        self.link = Link(self._ssh or LocalCarrier())
        try:
            self.who: dict[str, Any] = self.link.call("machine.who")
            self.workdir: str = self.link.call("room.choose", folder=workdir)
        except BaseException:
            self.link.close()
            raise

    @property
    def shown(self) -> str:
        """For messages."""
        return self.name or "this machine"

    @property
    def is_here(self) -> bool:
        return self._ssh is None

    @property
    def boot(self) -> str | None:
        return self.who["boot"] or None

    @property
    def lost(self) -> bool:
        return self.link.lost

    def call(self, what: str, payload: bytes = b"", /, **values: Any) -> Any:
        """Ask the agent; raises its TeitenError, or HostLostError."""
        return self.link.call(what, payload, **values)

    def check(self) -> None:
        """Raise HostLostError where it is lost."""
        self.call("machine.clock")

    def reader(self, postmasters: tuple[int, ...], devices: tuple[str, ...]) -> RemoteReader:
        """``postmasters``: of our servers that run on the host."""
        return RemoteReader(self, postmasters, devices)

    def prepare(self) -> list[str]:
        """Make the folders there, keep others out, sweep; what was done."""
        done: list[str] = self.call("room.prepare", lock=not self.is_here)
        return [f"host {self.shown}: {line}" for line in done]

    def clock(self) -> ClockReading:
        """Compare the clocks."""
        best = ClockReading(0.0, float("inf"))
        for _ in range(1 if self.is_here else LOOKS_AT_CLOCK):
            before = time.time()
            there = float(self.call("machine.clock"))
            half = (time.time() - before) / 2
            if half < best.uncertainty:
                best = ClockReading(there - before - half, half)
        return best

    def planned(self, role: Role) -> PlannedHost:
        """Describe the host for the plan."""
        facts = self.call("machine.facts", serving=role is Role.DB)
        clock = self.clock()
        return PlannedHost(
            role=role,
            name=self.name,
            node=self.who["node"],
            user=self.who["user"],
            server_user=facts["server_user"],
            python=self.who["python"],
            workdir=self.workdir,
            facts=_FACTS.validate_python(facts["facts"]),
            clock_offset=clock.offset,
            clock_uncertainty=clock.uncertainty,
            boot=self.who["boot"],
        )

    def socket_here(self, there: str, port: int) -> Path:
        """A folder on this machine with the socket of a server of the host."""
        if self._ssh is None:
            return Path(there)
        folder = new_socket_directory(OURSELVES)
        try:
            self._ssh.forward(folder / f"{SOCKET}{port}", f"{there}/{SOCKET}{port}")
        except BaseException:
            remove_socket_directory(folder)
            self.check()  # a lost connection is told as such
            raise
        return folder

    def drop_socket(self, here: Path, there: str, port: int) -> None:
        """Take it away again; never raises."""
        if self._ssh is not None:
            if not self.lost:
                self._ssh.cancel(here / f"{SOCKET}{port}", f"{there}/{SOCKET}{port}")
            with contextlib.suppress(OSError):
                remove_socket_directory(here)

    def close(self) -> None:
        """Let the agent end what it has started; never raises."""
        self.link.close()


class HostPair:
    """The hosts of the servers and of the load, which may be one, and those of further nodes."""

    def __init__(self, hosts: Hosts, here: Path) -> None:
        """``here``: the working folder of this machine. Raises MachineError where one cannot be
        reached."""
        self.hosts = hosts
        self._here = here
        self.db = self._host(Role.DB)
        self.client = self.db
        self.more: list[Host] = []
        try:
            if not hosts.together:
                self.client = self._host(Role.CLIENT)
            for number, further in enumerate(hosts.more, start=1):
                self.more.append(Host(Role.DB, further.name, hosts.python, further.workdir))
                self.more[-1].number = number
            self._require_apart()
        except BaseException:
            self.close()
            raise

    def _require_apart(self) -> None:
        """Raise UsageError where two names of db hosts lead to one folder of one machine."""
        known: dict[tuple[str, str], Host] = {}
        for host in self.servers:
            place = (host.who["boot"] or host.who["node"], host.workdir)
            first = known.setdefault(place, host)
            if first is not host:
                raise UsageError(
                    f"{first.shown} and {host.shown} are one machine with one folder:"
                    f" {host.workdir}",
                    "name a host of its own for each node (--db-host)",
                )

    def _host(self, role: Role) -> Host:
        name = self.hosts.named(role)
        workdir = self.hosts.workdir(role) if name else str(self._here)
        return Host(role, name, self.hosts.python, workdir)

    @property
    def each(self) -> tuple[Host, ...]:
        first = (self.db,) if self.client is self.db else (self.db, self.client)
        return (*first, *self.more)

    @property
    def servers(self) -> tuple[Host, ...]:
        """The db hosts, in the order of nodes."""
        return (self.db, *self.more)

    @property
    def labels(self) -> dict[str, Host]:
        """Each host once, by what it does: db, client, db-2, db-3 …"""
        further = {f"{Role.DB}-{number}": host for number, host in enumerate(self.more, start=2)}
        return {str(Role.DB): self.db, str(Role.CLIENT): self.client, **further}

    def assignment(self) -> HostAssignment:
        """The hosts and the way between them, for the plan."""
        db = self.db.planned(Role.DB)
        client = db if self.client is self.db else self.client.planned(Role.CLIENT)
        address = client_address = None  # where the load goes by a socket
        if self.client is not self.db:
            address = self._address(self.db, self.client, self.hosts.db_address, "ADDRESS")
            client_address = _way_out(self.client, address)
        more = tuple(
            self._planned_node(host, named.address)
            for host, named in zip(self.more, self.hosts.more, strict=True)
        )
        return HostAssignment(db, client, address, client_address, more)

    def _planned_node(self, host: Host, named: str | None) -> PlannedNodeHost:
        """A further db host, to which the first one has found the way."""
        address = self._address(host, self.db, named, "ADDRESS,ADDRESS (one for each db host)")
        peer = _way_out(self.db, address)
        port = host.call("machine.listen", address=address, port=self.hosts.db_port)
        try:
            self.db.call(
                "machine.reach",
                address=address,
                port=port,
                timeout=REACH_TIMEOUT,
                who=f"the first host, {self.db.shown},",
            )
        finally:
            host.call("machine.close_door")
        return PlannedNodeHost(host.planned(Role.DB), address, peer)

    def _address(self, server: Host, asker: Host, named: str | None, words: str) -> str:
        """By which ``asker`` reaches servers of a host. ``words``: how addresses are named."""
        if named is not None:
            address = _checked(asker, asker.call("machine.resolve", name=named))
        else:
            address = _address_of_connection(server, asker, words)
        if not server.call("machine.has_address", address=address):
            raise UsageError(
                f"{server.shown} has no address {address}: servers cannot listen there",
                f"name its own address on the network of {asker.shown}:"
                f" --set hosts.db_address={words}",
            )
        return address

    def close(self) -> None:
        for host in reversed(self.each):  # the load ends before the server
            host.close()


def _address_of_connection(server: Host, asker: Host, words: str) -> str:
    """The one by which ssh reached a server's host; where that is here, the one that ``asker`` saw
    us by, or, where it saw another host (a jump host), ours on the way to it."""
    host, field = (asker, 0) if server.is_here else (server, 2)
    connection = host.who["connection"]
    address = str(connection[field]) if len(connection) == 4 else ""
    if not address or address == "::1" or address.startswith("127."):
        raise UsageError(
            f"by which address {asker.shown} reaches the servers of {server.shown} is not known:"
            f" ssh reached {host.shown} by {address or 'an unknown one'}",
            f"name it: --set hosts.db_address={words}",
        )
    if server.is_here and not server.call("machine.has_address", address=address):
        return _way_out(server, str(connection[2]))
    return _checked(host, address)


def _way_out(host: Host, to: str) -> str:
    """The address by which a host reaches another one."""
    return _checked(host, host.call("machine.source_address", to=to))


def _checked(host: Host, answer: object) -> str:
    """An address that a host tells: it decides where a server listens, and who is let in.

    Raises MachineError where it is none of a single machine.
    """
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(str(answer))
        if not (address.is_unspecified or address.is_multicast):
            return str(answer)
    raise MachineError(
        f"{host.shown} tells {str(answer)!r}, which is no address of a machine",
        "name one: --set hosts.db_address=ADDRESS",
    )


def require_same_kind(host: Host) -> None:
    """Raise MachineError where programs of this machine cannot run on the host."""
    theirs = (host.who["system"], host.who["architecture"])
    ours = (platform.system(), platform.machine())
    if theirs != ours:
        raise MachineError(
            f"the host {host.shown} is {' on '.join(theirs)}, this machine {' on '.join(ours)}:"
            " its programs cannot be copied there",
            "name a folder with PostgreSQL on the db host: --servers NAME=db:/path/bin; pgbench is"
            " taken from the client host's PATH",
        )


_SNAPSHOT = TypeAdapter(OsSnapshot)
_MISSING = TypeAdapter(tuple[tuple[str, str], ...])


class RemoteReader:
    """Reads the counters of a host; its clock is laid on ours at the first look."""

    def __init__(self, host: Host, postmasters: tuple[int, ...], devices: tuple[str, ...]) -> None:
        self._host = host
        opened = host.call(
            "machine.open_reader",
            postmasters=list(postmasters),
            devices=list(devices),
            teiten=os.getpid() if host.is_here else None,
        )
        self._number: int = opened["reader"]
        self.missing = _MISSING.validate_python(opened["missing"])
        self._shift: float | None = None

    def read(self, at: float, pgbench: int | None) -> OsSnapshot:
        """Raises HostLostError."""
        answer = self._host.call("machine.read", reader=self._number, pgbench=pgbench)
        self.missing = _MISSING.validate_python(answer["missing"])
        snapshot = _SNAPSHOT.validate_python(answer["snapshot"])
        if self._shift is None:
            self._shift = at - snapshot.at
        return replace(snapshot, at=snapshot.at + self._shift)

    def close(self) -> None:
        if not self._host.lost:
            self._host.call("machine.close_reader", reader=self._number)
