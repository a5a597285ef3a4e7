"""Facts of a host, what it can reach, and its counters."""

from __future__ import annotations

import getpass
import os
import platform
import shutil
import socket
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from teiten.errors import MachineError
from teiten.execute.postgres.access import blocking_folder
from teiten.execute.probes.os_linux import LinuxReader
from teiten.execute.sites.remote.agent.room import AgentFolder
from teiten.host.facts.disks import block_devices, nearest_existing
from teiten.host.facts.kernel import boot_id
from teiten.host.facts.machine import read_host_facts
from teiten.host.system.causes import raise_os_errors_as
from teiten.host.system.held_folder import exchangeable_folder


class HostReader:
    """Reads this host; changes nothing."""

    def __init__(self, room: AgentFolder) -> None:
        self._room = room
        self._readers: dict[int, LinuxReader] = {}
        self._door: socket.socket | None = None

    def who(self) -> dict[str, Any]:
        """Describe the host and its user, as far as that needs no working folder."""
        if sys.platform != "linux":
            raise MachineError(
                f"the host runs {platform.system()}; servers and pgbench are driven on Linux only",
                "name a Linux host",
            )
        return {
            "node": platform.node(),
            "user": getpass.getuser(),
            "python": platform.python_version(),
            "system": platform.system(),
            "architecture": platform.machine(),
            "connection": os.environ.get("SSH_CONNECTION", "").split(),
            "boot": boot_id() or "",
        }

    def facts(self, serving: bool) -> dict[str, Any]:
        """Facts of the machine and its user, for the working folder that was chosen.

        ``serving``: servers are to run here; their user is looked for, and whether it gets there.
        """
        workdir = self._room.workdir
        user = self._room.user if serving else None
        if user is not None:
            folder = nearest_existing(workdir.root)
            blocking = blocking_folder(folder, user)
            if blocking is not None:
                raise MachineError(
                    f"the servers' user {user.name} cannot enter {blocking} (on the way to"
                    f" {workdir.root})",
                    "name another folder with hosts.db_workdir",
                )
        return {
            "facts": asdict(read_host_facts(workdir.root)),
            "server_user": user.name if user is not None else "",
            "devices": list(block_devices(workdir.root)),
        }

    def clock(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def program(self, name: str) -> str | None:
        """Where a program is found; None where root finds one that another user can exchange."""
        path = shutil.which(name)
        real = None if path is None else os.path.realpath(path)
        return None if real is None or exchangeable_folder(Path(real)) is not None else real

    def source_address(self, to: str) -> str:
        """Our own address on the way to another; nothing is sent."""
        message = f"there is no way to the address {to}"
        hint = "name the address by which the client host reaches the db host: hosts.db_address"
        with (
            raise_os_errors_as(message, hint),
            socket.socket(_family(to), socket.SOCK_DGRAM) as probe,
        ):
            probe.connect((to, 9))
            return str(probe.getsockname()[0])

    def resolve(self, name: str) -> str:
        """The first address of a name."""
        with raise_os_errors_as(f"{name} is no address", "correct hosts.db_address"):
            return str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0])

    def has_address(self, address: str) -> bool:
        """Whether a server could listen there: the address is one of this host's own."""
        try:
            with socket.socket(_family(address), socket.SOCK_STREAM) as probe:
                probe.bind((address, 0))
        except OSError:
            return False
        return True

    def listen(self, address: str, port: int | None) -> int:
        """Wait for a visitor, as a server would; the port. Nothing is read of him."""
        self.close_door()
        with raise_os_errors_as(
            f"a server cannot listen on {address} port {port or 'any'}",
            "name another address with hosts.db_address, or another port with hosts.db_port",
        ):
            self._door = door = socket.socket(_family(address), socket.SOCK_STREAM)
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            door.bind((address, port or 0))
            door.listen(1)
            return int(door.getsockname()[1])

    def close_door(self) -> None:
        """Wait no more."""
        if self._door is not None:
            self._door.close()
            self._door = None

    def reach(self, address: str, port: int, timeout: float, who: str) -> None:
        """Connect and leave. ``who``: we, for a message. Raises MachineError where that cannot be
        done."""
        with raise_os_errors_as(
            f"{who} does not reach the server at {address} port {port}",
            "see whether a firewall lets it through (hosts.db_port keeps to one port), or name"
            " another address with hosts.db_address",
        ):
            socket.create_connection((address, port), timeout).close()

    def open_reader(
        self, postmasters: list[int], devices: list[str], teiten: int | None
    ) -> dict[str, Any]:
        """Begin to read counters. ``postmasters``: pids of the servers; ``teiten``: that of the
        Teiten that asks, where it runs here."""
        reader = LinuxReader(tuple(postmasters), tuple(devices), also_teiten=teiten)
        number = len(self._readers) + 1
        self._readers[number] = reader
        return {"reader": number, "missing": reader.missing}

    def read(self, reader: int, pgbench: int | None) -> dict[str, Any]:
        """The counters now; ``at`` in seconds of this host's monotonic clock."""
        opened = self._readers[reader]
        snapshot = opened.read(time.monotonic(), pgbench)
        return {"snapshot": asdict(snapshot), "missing": opened.missing}

    def close_reader(self, reader: int) -> None:
        opened = self._readers.pop(reader, None)
        if opened is not None:
            opened.close()

    def end(self) -> None:
        self.close_door()
        for number in tuple(self._readers):
            self.close_reader(number)


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
