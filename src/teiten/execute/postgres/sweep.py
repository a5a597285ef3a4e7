"""Ending and removing what a Teiten that was killed has left. Nothing unmarked is touched."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil
from filelock import FileLock

from teiten.errors import TeitenError
from teiten.execute.postgres.elsewhere import forget, noted
from teiten.execute.postgres.marker import Kind, Marker, read_marker, remove_marked
from teiten.execute.postgres.remains import (
    kill_processes,
    postmaster_lines,
    read_trace,
    remove_shared_memory,
    server_processes,
)
from teiten.execute.postgres.sockets import remove_socket_directory, socket_directories
from teiten.execute.sites.local.emulated import sweep_emulated
from teiten.execute.sites.local.limit import sweep_limits
from teiten.execute.sites.local.node_network import sweep_networks
from teiten.host.system.detached import end_detached
from teiten.host.system.held_folder import find_folder
from teiten.host.system.makers import Life, same_process
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import signal_found
from teiten.host.system.signals import QUIT
from teiten.host.system.users import ServerUser, own_uid, server_user

IMMEDIATE_TIMEOUT = 10.0
"""Seconds that an orphaned server has for its immediate shutdown."""


def sweep(workdir: Workdir, *, ending: bool = False) -> tuple[str, ...]:
    """End marked servers and remove marked folders whose Teiten has died; say what was done.

    Looks at the clusters, the templates and the servers being built in the working folder, and at
    the sockets' folders. What a living Teiten made is left alone, in whatever container or on
    whatever host it runs (``makers``), as is everything without a marker. ``ending``: what this
    process made goes too, being used no more.
    """
    workdir.caches.mkdir(parents=True, exist_ok=True)
    with FileLock(workdir.caches / "sweep.lock"):
        marked = tuple(_marked_folders(workdir))
        user = server_user()
        done = [
            line
            for folder in _left(marked, ending=ending)
            for line in _sweep_folder(folder, workdir, user)
        ]
        done += _unknown(marked)
        done += sweep_limits(workdir, ending=ending)
        done += sweep_emulated(workdir, ending=ending)
        done += sweep_networks(workdir, ending=ending)
        for notes in filter(None, map(find_folder, (workdir.clusters, workdir.attached))):
            with notes:
                notes.remove_unfinished()
        if detached := end_detached(of_dead=True):
            done.append(f"ended programs that had left their trial: {detached}")
        for folder, marker in socket_directories(user):
            if marker.is_left(or_ours=ending):
                remove_socket_directory(folder)
                done.append(f"removed the left socket folder {folder.parent}")
    return tuple(done)


def left_folders(workdir: Workdir) -> tuple[Path, ...]:
    """The marked folders of clusters, template builds and builds from source whose Teiten does not
    live any more."""
    return _left(_marked_folders(workdir))


def _left(marked: Iterable[tuple[Path, Marker]], *, ending: bool = False) -> tuple[Path, ...]:
    return tuple(folder for folder, marker in marked if marker.is_left(or_ours=ending))


def _marked_folders(workdir: Workdir) -> Iterator[tuple[Path, Marker]]:
    rooms = (workdir.clusters, workdir.templates, workdir.builds)
    folders = [folder for room in rooms if room.is_dir() for folder in sorted(room.iterdir())]
    for folder in (*folders, *noted(workdir)):
        marker = None if folder.is_symlink() else read_marker(folder)
        if marker is not None and marker.what in (Kind.CLUSTER, Kind.TEMPLATE_BUILD, Kind.BUILD):
            yield folder, marker


def _unknown(marked: Iterable[tuple[Path, Marker]]) -> Iterator[str]:
    """Say which folders stay although their Teiten may have ended."""
    for folder, marker in marked:
        if marker.life is Life.UNKNOWN:
            yield (
                f"{folder} stays: process {marker.maker.pid} of another machine, or of an earlier"
                " boot, made it on a file system that machines share; delete the folder if no"
                " Teiten uses it any more"
            )


def _sweep_folder(folder: Path, workdir: Workdir, user: ServerUser) -> list[str]:
    done = [
        f"ended the server that was left in {data_directory}"
        for data_directory in _data_directories(folder)
        if _end_server(data_directory)
    ]
    server = read_trace(folder)
    if server is not None and not same_process(server.pid, server.started):
        remove_shared_memory(server, user.uid if user.uid is not None else own_uid())
        remove_socket_directory(Path(server.socket_directory))
    try:
        remove_marked(folder)
    except (OSError, TeitenError) as error:
        return [*done, f"could not remove the left folder {folder}: {error}"]
    forget(workdir, folder)
    return [*done, f"removed the left folder {folder}"]


def _data_directories(folder: Path) -> list[Path]:
    """The folders that may be data directories; a cluster has one of any name."""
    held = find_folder(folder)
    if held is None:
        return []
    with held:
        return [folder / name for name, status in held.entries() if stat.S_ISDIR(status.st_mode)]


def _end_server(data_directory: Path) -> bool:
    """End a server by its processes' working directory; False where none ran."""
    processes = server_processes(data_directory)
    if not processes:
        return False
    postmaster = _postmaster(data_directory, processes)
    if postmaster is not None:
        signal_found(postmaster, QUIT)
        psutil.wait_procs([postmaster], timeout=IMMEDIATE_TIMEOUT)
    kill_processes(server_processes(data_directory))
    return True


def _postmaster(data_directory: Path, processes: list[psutil.Process]) -> psutil.Process | None:
    """The process that postmaster.pid names, where it is one of this directory's server."""
    first = next((words.split() for words in postmaster_lines(data_directory)[:1]), [])
    return next((process for process in processes if [str(process.pid)] == first[:1]), None)
