"""Whether limits of memory hold, and emulated nodes are what they are to be: seen once, before the
first trial.

A limit of memory: a file larger than it is read inside. The file has holes alone: reading it fills
the page cache as any other, and neither writes nor reads a disk. Files that are read have no name,
so that nothing is left of them however this ends.

Parts of emulated nodes that this machine, or its rights, do not permit; makes nothing.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from teiten.errors import MachineError
from teiten.execute.probes.os_linux import NodeReader
from teiten.execute.sites.local.limit import Limit, require_limits
from teiten.execute.sites.local.limit_files import Allowed
from teiten.execute.sites.local.node_emulation import EmulatedNode, TrialLimits, why_no_disk
from teiten.host.facts.cgroups import hierarchies
from teiten.host.facts.disks import disk_numbers
from teiten.host.system.causes import raise_os_errors_as
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.namespaces import inside, why_no_namespaces
from teiten.host.system.page_cache import cached
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import killed_after, own_python, spawn
from teiten.host.system.signals import KILL
from teiten.model.nodes import EmulatedNodes, Lack, NodeMachine, NodePart
from teiten.model.quantities import format_size
from teiten.model.units import KIB, MIB, Bytes

READ = 256 * KIB
"""Bytes that are read from storage: little, because the slowest storage may take long."""
READ_STORAGE = (
    "import mmap, os\n"
    "os.readv(os.open('/proc/self/fd/0', os.O_RDONLY | os.O_DIRECT), [mmap.mmap(-1, {size})])"
)
"""Program that reads from storage, and not from the page cache."""
PATIENCE = 60.0
"""Seconds that a reader may take."""
CONNECTED = 5.0
"""Seconds within which one node must reach another."""
HINT = "leave the nodes plain servers (--set nodes.emulate=no), or run it on another machine"


def check_emulation(
    workdir: Workdir, machines: Sequence[NodeMachine], folder: Path
) -> dict[str, Any]:
    """Make the nodes, let the first reach the last by TCP, and see that what it reads from storage
    is counted to its group, and so held to its limit.

    Raises MachineError where they cannot be made, or are not what they should be.
    """
    emulation = TrialLimits.emulating(workdir, machines, folder)
    try:
        first, last = emulation.nodes[0], emulation.nodes[-1]
        if first.address is not None:
            _reach(first, last)
        read = None
        if first.machine.read is not None or first.machine.write is not None:
            read = _counted(first, folder)
        return {
            "nodes": len(machines),
            "addresses": [node.address for node in emulation.nodes if node.address is not None],
            "cgroup": first.limit.facts["cgroup"],
            "read": None if read is None else READ,
            "counted": read,
        }
    finally:
        emulation.remove()


def _reach(first: EmulatedNode, last: EmulatedNode) -> None:
    """By sockets of our own, which stay in the namespace in which they were made."""
    try:
        with ExitStack() as stack:
            with inside(last.space):
                waiting = stack.enter_context(socket.create_server((last.address or "", 0)))
            port = waiting.getsockname()[1]
            with inside(first.space):
                own = socket.create_connection((last.address or "", port), CONNECTED)
                stack.enter_context(own)
    except OSError as error:
        raise MachineError(
            f"the emulated node {first.address} does not reach {last.address}: {error}", HINT
        ) from error


def _counted(node: EmulatedNode, folder: Path) -> int:
    """The bytes that the kernel counts to a node that reads a file from storage."""
    hint = "another working folder (--workdir)"
    words = "reading inside of an emulated node"
    program = READ_STORAGE.format(size=READ)
    with _nameless(folder, _write_random, "nodes: no file", hint) as file:
        reader = NodeReader(node.limit.groups, None)
        try:
            before = reader.read().disk_read_bytes or 0
            _read_inside(program, file, node.limit, words, HINT, space=node.space)
            counted = int((reader.read().disk_read_bytes or 0) - before)
        finally:
            reader.close()
    if counted < READ:
        raise MachineError(
            f"nodes.read and nodes.write: of {READ} bytes that a node read from files in {folder},"
            f" the kernel counted {counted} to it, so that its storage is not limited",
            "put the working folder (--workdir) on ext4 or xfs on a disk; or leave the two out",
        )
    return counted


def _write_random(file: IO[bytes]) -> None:
    file.write(os.urandom(MIB))
    os.fsync(file.fileno())


def _nameless(folder: Path, fill: Callable[[IO[bytes]], object], what: str, hint: str) -> IO[bytes]:
    """A file of no name, filled. Raises MachineError where ``what`` cannot be made."""
    with (
        raise_os_errors_as(f"{what} can be made in {folder}", hint),
        HeldFolder.open(folder) as held,
    ):
        file = held.create_nameless()
        fill(file)
        return file


def _read_inside(
    program: str,
    file: IO[bytes],
    limit: Limit,
    words: str,
    hint: str,
    *,
    seconds: float = PATIENCE,
    space: Path | None = None,
) -> None:
    """Let a program read a file within a limit. Raises MachineError, with ``words``, where it
    cannot start, or does not come to its end."""
    try:
        reader = spawn(
            own_python("-I", "-S", "-c", program),
            stdin=file,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            death_signal=KILL,
            groups=limit.groups,
            space=space,
        )
    except OSError as error:
        raise MachineError(f"{words} cannot start: {error}", hint) from error
    code = killed_after(reader, seconds)
    if code != 0:
        how = "takes too long" if code is None else f"ended with {code}"
        raise MachineError(f"{words} {how}", hint)


def lacks(nodes: EmulatedNodes, folder: Path) -> tuple[Lack, ...]:
    """The parts that cannot be emulated, each with the reason. ``folder``: of clusters."""
    return tuple(lack for lack in _lacks(nodes, folder) if lack[0] in nodes.asked)


def throttles_buffered_writes() -> bool:
    """Whether a limit of writing also holds for what the kernel writes later from the page cache:
    version 2 knows whose pages those are (cgroup-v2.rst, Writeback)."""
    return any(hierarchy.version == 2 for hierarchy in hierarchies("io"))


def _lacks(nodes: EmulatedNodes, folder: Path) -> Iterator[Lack]:
    reason = why_no_namespaces()
    if reason is not None:
        yield NodePart.NETWORK, reason
    if not hasattr(os, "sched_setaffinity"):
        yield NodePart.CPUS, "this system cannot pin processes to processors"
    memory = _unlimited(Allowed(memory=nodes.memory))
    if memory is not None:
        yield NodePart.MEMORY, memory
    disks = disk_numbers(folder)
    storage = why_no_disk(disks, folder) if len(disks) != 1 else None
    storage = storage or _unlimited(Allowed(read=nodes.read, write=nodes.write))
    if storage is not None:
        yield NodePart.STORAGE, storage


def _unlimited(allowed: Allowed) -> str | None:
    """Why nothing can be limited so."""
    try:
        require_limits(allowed)
    except MachineError as error:
        return error.message
    return None


READ_ALL = "import os\nwhile os.read(0, 1 << 20): pass"
BEYOND = 8
"""The file is larger than the limit by this part of it."""
COUNTED = 0.9
"""The share of the limit that must have been charged to the group at some time."""
SLOWEST = 100 * MIB
"""Bytes per second of the reader."""
OTHER_MACHINE = "run it on a machine of that size, with --memory machine"


def check_limit(workdir: Workdir, memory: Bytes, folder: Path) -> dict[str, Any]:
    """Read a file of ``folder`` that is larger than the limit inside of one, and see most of it
    stay and the rest evicted.

    Raises MachineError where a limit cannot be made, or does not hold for the files there.
    """
    begun = time.monotonic()
    size = memory + max(64 * MIB, memory // BEYOND)
    limit = Limit.make(workdir, Allowed(memory=memory))
    try:
        seconds = PATIENCE + size / SLOWEST
        words = f"memory: reading a file of {format_size(size)} inside of a smaller limit"
        what = f"memory: no file of {format_size(size)}, to check the limit,"
        hint = "a smaller limit, or another working folder (--workdir)"
        with _nameless(folder, lambda file: file.truncate(size), what, hint) as file:
            _read_inside(READ_ALL, file, limit, words, OTHER_MACHINE, seconds=seconds)
            kept, readings = cached(file), limit.readings()
    finally:
        limit.remove()
    if kept is None:
        raise MachineError("what the page cache holds of a file cannot be seen here", OTHER_MACHINE)
    charged = readings.get("peak", 0)
    if charged < memory * COUNTED:
        raise MachineError(
            f"memory: the page cache of files in {folder} does not count to a control group:"
            f" {format_size(size)} were read in one, {format_size(charged)} were counted",
            "put the working folder (--workdir) on a disk with ext4, xfs or btrfs; or --memory"
            " machine",
        )
    if kept.resident > memory:
        raise MachineError(
            f"memory: of {format_size(size)} that were read inside of a limit of"
            f" {format_size(memory)} {format_size(kept.resident)} stayed in the page cache",
            OTHER_MACHINE,
        )
    return {
        "memory": memory,
        "read": size,
        "stayed": kept.resident,
        "charged": charged,
        "cgroup": limit.facts["cgroup"],
        "folder": str(folder),
        "seconds": round(time.monotonic() - begun, 3),
    }
