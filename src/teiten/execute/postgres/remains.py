"""Remains of a killed server on the machine, found and removed.

PostgreSQL itself removes all of this when it ends by a signal that it can handle; after SIGKILL
its processes, its System V segment and its POSIX shared memory may stay.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from teiten.execute.postgres.marker import LARGEST, NO_SUCH_VALUES
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError, find_folder
from teiten.host.system.processes import runs_as, signal_found, started_at
from teiten.host.system.shared_memory import mapped_files, remove_file, remove_segment
from teiten.host.system.signals import DYING

FILE_NAME = "server.json"
REAPING = 1.0
"""Seconds for the system to forget processes that have ended; not every container's does."""
SERVER_NAMES = frozenset({"postgres", "postmaster", "postgres.exe"})
SHARED_MEMORY_PREFIX = "PostgreSQL."


@dataclass(frozen=True)
class ServerTrace:
    """A started server, written beside its data directory for the sweep after a crash."""

    pid: int
    started: float | None
    socket_directory: str
    shared_memory_id: int | None
    shared_memory_files: tuple[str, ...]


def trace(pid: int, data_directory: Path, socket_directory: Path) -> ServerTrace:
    """Take down what is known of a server that has just become ready."""
    return ServerTrace(
        pid=pid,
        started=started_at(pid),
        socket_directory=str(socket_directory),
        shared_memory_id=_shared_memory_id(data_directory),
        shared_memory_files=mapped_files(pid, SHARED_MEMORY_PREFIX),
    )


def write_trace(folder: Path, server: ServerTrace) -> None:
    """Keep the trace in the cluster's folder."""
    with HeldFolder.open_itself(folder) as held:
        held.write(FILE_NAME, f"{json.dumps(asdict(server))}\n".encode(), mode=0o644)


def read_trace(folder: Path) -> ServerTrace | None:
    """The trace of the cluster's last server; None where there is none that can be believed."""
    held = find_folder(folder)
    if held is None:
        return None
    with held:
        if not held.is_trusted:
            return None
        try:
            values = json.loads(held.read(FILE_NAME, LARGEST))
            files = tuple(str(name) for name in values.pop("shared_memory_files"))
            return ServerTrace(**values, shared_memory_files=files)
        except (OSError, UnsafePlaceError, *NO_SUCH_VALUES):
            return None


def forget_trace(folder: Path) -> None:
    """Delete the trace of a server that has ended."""
    held = find_folder(folder)
    if held is not None:
        with held:
            held.unlink(FILE_NAME)


def server_processes(data_directory: Path) -> list[psutil.Process]:
    """The live processes of the server of this data directory, the postmaster first.

    Each process of a PostgreSQL server works in its data directory, is named postgres, and runs as
    the directory's owner (PostgreSQL refuses another's): by these it is known, even when the
    postmaster and its pid file are gone.
    """
    held = find_folder(data_directory)
    if held is None:
        return []
    with held:
        owner, directory = held.owner, str(held.real_path())
    processes = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if (
                process.name() in SERVER_NAMES
                and process.cwd() == directory
                and runs_as(process.pid, owner)
            ):
                processes.append(process)
    pids = {process.pid for process in processes}
    return sorted(processes, key=lambda process: _parent(process) in pids)


def descendants(pid: int) -> list[psutil.Process]:
    """The live processes that a process has started, and theirs; a server's, and their programs."""
    below: dict[int, list[psutil.Process]] = {}
    for process in psutil.process_iter():
        parent = _parent(process)
        if parent is not None:
            below.setdefault(parent, []).append(process)
    started = list(below.get(pid, ()))
    for process in started:  # it grows with what is found
        started += below.get(process.pid, ())
    return started


def kill_processes(processes: list[psutil.Process]) -> None:
    """End processes at once and wait until they are gone."""
    for process in processes:
        signal_found(process)
    _wait_while(lambda: any(is_alive(process) for process in processes), DYING)
    _wait_while(lambda: any(process.is_running() for process in processes), REAPING)


def _wait_while(condition: Callable[[], bool], timeout: float) -> None:
    end = time.monotonic() + timeout
    while condition() and time.monotonic() < end:
        time.sleep(0.02)


def is_alive(process: psutil.Process) -> bool:
    """Whether a process still does something: one that nobody has waited for does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def remove_shared_memory(server: ServerTrace, owner: int) -> None:
    """Remove a dead server's shared memory, where nobody uses it any more.

    ``owner``: the user whose the server was; nothing of another's is removed.
    """
    for name in server.shared_memory_files:
        remove_file(name, SHARED_MEMORY_PREFIX, owner)
    if server.shared_memory_id is not None:
        remove_segment(server.shared_memory_id, server.pid, owner)


def _parent(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.Error:
        return None


def _shared_memory_id(data_directory: Path) -> int | None:
    """Line 7 of postmaster.pid: the System V key and identifier (miscadmin.h)."""
    lines = postmaster_lines(data_directory)
    try:
        return int(lines[6].split()[1])
    except (ValueError, IndexError):
        return None


def postmaster_lines(data_directory: Path) -> list[str]:
    """The lines of postmaster.pid, as far as anything plain is there; whoever wrote them."""
    held = find_folder(data_directory)
    if held is None:
        return []
    with held, contextlib.suppress(OSError, UnsafePlaceError):
        return held.read("postmaster.pid", LARGEST).decode("utf-8", "replace").splitlines()
    return []
