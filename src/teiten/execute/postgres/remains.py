"""What a server leaves on the machine when it is killed, found and removed.

PostgreSQL itself removes all of this when it ends by a signal that it can handle; after SIGKILL
its processes, its System V segment and its POSIX shared memory may stay.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from teiten.host.system.processes import started_at
from teiten.host.system.shared_memory import mapped_files, remove_file, remove_segment

FILE_NAME = "server.json"
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
    """What is known of a server that has just become ready."""
    return ServerTrace(
        pid=pid,
        started=started_at(pid),
        socket_directory=str(socket_directory),
        shared_memory_id=_shared_memory_id(data_directory),
        shared_memory_files=mapped_files(pid, SHARED_MEMORY_PREFIX),
    )


def write_trace(folder: Path, found: ServerTrace) -> None:
    """Keep the trace in the cluster's folder."""
    (folder / FILE_NAME).write_text(json.dumps(asdict(found)) + "\n", encoding="utf-8")


def read_trace(folder: Path) -> ServerTrace | None:
    """The trace of the cluster's last server; None where there is none that can be read."""
    try:
        values = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        files = tuple(str(name) for name in values.pop("shared_memory_files"))
        return ServerTrace(**values, shared_memory_files=files)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def server_processes(data_directory: Path) -> list[psutil.Process]:
    """The live processes of the server of this data directory, the postmaster first.

    Each process of a PostgreSQL server works in its data directory, and is named postgres: by both
    it is known, even when the postmaster and its pid file are gone.
    """
    directory = str(data_directory.resolve())
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.name() in SERVER_NAMES and process.cwd() == directory:
                found.append(process)
    pids = {process.pid for process in found}
    return sorted(found, key=lambda process: _parent(process) in pids)


def kill_processes(processes: list[psutil.Process], timeout: float = 10.0) -> None:
    """End processes at once and wait until they are gone (seconds)."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=timeout)


def remove_shared_memory(found: ServerTrace) -> None:
    """Remove a dead server's shared memory, where nobody uses it any more."""
    for name in found.shared_memory_files:
        remove_file(name, SHARED_MEMORY_PREFIX)
    if found.shared_memory_id is not None:
        remove_segment(found.shared_memory_id, found.pid)


def _parent(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.Error:
        return None


def _shared_memory_id(data_directory: Path) -> int | None:
    """Line 7 of postmaster.pid: the System V key and identifier (miscadmin.h)."""
    try:
        lines = (data_directory / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        return int(lines[6].split()[1])
    except (OSError, ValueError, IndexError):
        return None
