"""A network of a trial's nodes alone: a namespace for each, and one with a bridge between them.

Nothing of it is outside of these namespaces: no address, no device, no route. What is made is noted
in the working folder first, so that a network that a killed Teiten has left is found again.
"""

from __future__ import annotations

import itertools
import os
import secrets
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path

from teiten.errors import MachineError
from teiten.execute.sites.local.notes import PREFIX, left_notes, write_note
from teiten.host.system.namespaces import (
    add_space,
    configure_space,
    connect_spaces,
    delete_space,
    path_of_space,
)
from teiten.host.system.paths import Workdir

ENDING = ".network"
"""Ending of notes in the folder of clusters."""
SPACES = "namespaces"
ADDRESSES = ip_network("198.18.0.0/16")
"""A part of the block that is set aside for benchmarks (RFC 2544); in the namespaces alone."""
BRIDGE, DEVICE = "bridge", "eth0"
HINT = (
    "the kernel needs the modules bridge and veth, and Teiten root's rights; or leave the nodes"
    " plain servers: --set nodes.emulate=no"
)
_numbers = itertools.count(1)


@dataclass(frozen=True)
class NodeNetwork:
    """The nodes' namespaces in order, the bridge's last."""

    names: tuple[str, ...]
    note: Path

    @classmethod
    def make(cls, workdir: Workdir, count: int) -> NodeNetwork:
        """Raises MachineError where this machine does not permit it; nothing is left then."""
        # no name that anybody else could have: what a failure leaves half made is deleted by it
        name = f"{PREFIX}{os.getpid()}-{next(_numbers)}-{secrets.token_hex(3)}"
        nodes = [f"{name}-node-{number}" for number in range(1, count + 1)]
        names = (*nodes, f"{name}-{BRIDGE}")
        note = write_note(workdir, f"{name}{ENDING}", {SPACES: names})
        made = cls(names, note)
        try:
            made._connect()
        except BaseException as error:
            made.remove()
            if isinstance(error, OSError):
                raise MachineError(f"the nodes' network cannot be made: {error}", HINT) from error
            raise
        return made

    def address(self, index: int) -> str:
        """A node's address, by its place from 0."""
        return str(ADDRESSES[index + 1])

    def space(self, index: int) -> Path:
        """The namespace of a node, by its place from 0."""
        return path_of_space(self.names[index])

    def remove(self) -> None:
        """Remove the namespaces. While one is left, they stay noted, for the next start's sweep."""
        gone = [delete_space(name) for name in self.names]
        if all(gone):
            self.note.unlink(missing_ok=True)

    def _connect(self) -> None:
        *nodes, bridge = self.names
        for name in self.names:
            add_space(name)
        configure_space(bridge, [f"link add {BRIDGE} type bridge", f"link set {BRIDGE} up"])
        for index, name in enumerate(nodes):
            port = f"node{index + 1}"
            connect_spaces(bridge, port, name, DEVICE)
            configure_space(bridge, [f"link set {port} master {BRIDGE} up"])
            configure_space(
                name,
                [
                    f"addr add {self.address(index)}/{ADDRESSES.prefixlen} dev {DEVICE}",
                    f"link set {DEVICE} up",
                    "link set lo up",  # before 15 the statistics collector talks to itself there
                ],
            )


def sweep_networks(workdir: Workdir, *, ending: bool = False) -> tuple[str, ...]:
    """Remove the namespaces that a Teiten which has died has left; say which.

    ``ending``: those that this process made go too.
    """
    done = []
    for note, noted in left_notes(workdir, ENDING, ours=ending):
        names = [str(name) for name in noted.get(SPACES, ())]
        own = [name for name in names if name.startswith(PREFIX) and "/" not in name]
        there = [name for name in own if path_of_space(name).exists()]
        gone = [delete_space(name) for name in there]
        if all(gone) and len(own) == len(names):
            note.unlink(missing_ok=True)
            done += [f"removed the left network namespace {name}" for name in there]
    return tuple(done)
