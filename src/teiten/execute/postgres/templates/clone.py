"""Copying a stopped cluster's data directory."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import MachineError, ServerError, UsageError
from teiten.execute.postgres.templates.copy_methods import (
    CANNOT,
    THREADS,
    CopyMethod,
    choose_method,
    copy_file,
    sync_file_system,
)
from teiten.host.system.users import ServerUser, give
from teiten.model.units import Bytes, Seconds

NOT_COPIED = frozenset({"postmaster.opts"})
TABLESPACES = "pg_tblspc"


@dataclass(frozen=True)
class CloneReport:
    """How a data directory was copied. ``bytes``: the files' sizes."""

    method: CopyMethod
    seconds: Seconds
    bytes: Bytes


@dataclass(frozen=True)
class _Entry:
    path: Path
    mode: int
    size: int


@dataclass(frozen=True)
class _Tree:
    folders: list[_Entry]
    """Outer first."""
    files: list[_Entry]
    """The largest first, so that no thread ends much later than the others."""

    @property
    def bytes(self) -> Bytes:
        return Bytes(sum(file.size for file in self.files))


def clone_tree(
    source: Path,
    destination: Path,
    *,
    user: ServerUser,
    method: CopyMethod | None = None,
    caches: Path | None = None,
    sync: bool = True,
) -> CloneReport:
    """Copy a stopped cluster's data directory to a new or empty folder, for the servers' user.

    ``method``: None measures (or, with ``caches``, remembers) which is fastest there. ``sync``:
    wait until the copy is on the disk, so that its writing back does not fall into a measurement;
    it took a fifth of the time on ext4. Modes are kept. What was copied is removed on failure.

    Tablespaces and a WAL folder that stand beside the data directory, in the cluster's own folder,
    are copied beside the new one.

    Raises UsageError where the destination is not empty, ServerError where the source is in use or
    spreads over other folders, MachineError where the disk is full.
    """
    begin = time.perf_counter()
    links = linked_folders(source)
    beside = [(source.parent / link.folder, destination.parent / link.folder) for link in links]
    parts = [(source, destination), *beside]
    for _, folder in parts:
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(
                f"the data folder {folder} is not empty",
                "name a new or an empty folder; Teiten copies no cluster over other files",
            )
    known = frozenset(link.path for link in links)
    trees = [_survey(source, known), *(_survey(folder) for folder, _ in beside)]
    size = Bytes(sum(tree.bytes for tree in trees))
    try:
        for _, folder in parts:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        chosen = method or choose_method(destination, caches)
        for (old, new), tree in zip(parts, trees, strict=True):
            chosen = _copy_all(chosen, old, new, tree, user)
        for link in links:
            link.make(destination, user)
        if sync:
            sync_file_system(destination)
    except BaseException as error:
        for _, folder in parts:
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _disk_full(destination, size) from error
        raise
    return CloneReport(
        method=chosen,
        seconds=Seconds(time.perf_counter() - begin),
        bytes=size,
    )


@dataclass(frozen=True)
class Link:
    """A part of a cluster that stands beside its data directory: a tablespace, or the WAL."""

    path: Path
    """Of the link, in the data directory."""
    folder: Path
    """To which it leads, in the cluster's folder."""

    def make(self, data_directory: Path, user: ServerUser | None = None) -> None:
        """Make the link anew. It is a relative one, so that the cluster's folder can be moved."""
        path = data_directory / self.path
        path.unlink(missing_ok=True)
        path.symlink_to(os.path.relpath(data_directory.parent / self.folder, path.parent))
        if user is not None and user.uid is not None and user.gid is not None:
            os.chown(path, user.uid, user.gid, follow_symlinks=False)


def linked_folders(data_directory: Path) -> tuple[Link, ...]:
    """The parts of a cluster that stand beside its data directory.

    Raises ServerError for one that stands outside of the cluster's folder, or is reached by
    another link: only what is in that folder is known to be the cluster's own.
    """
    paths = [Path(name) for name in ("pg_wal", "pg_xlog")]
    spaces = data_directory / TABLESPACES
    if spaces.is_dir() and not spaces.is_symlink():
        paths += sorted(entry.relative_to(data_directory) for entry in spaces.iterdir())
    return tuple(
        _link(data_directory, path) for path in paths if (data_directory / path).is_symlink()
    )


def make_movable(data_directory: Path, user: ServerUser) -> None:
    """Make a stopped cluster's links relative, so that its folder can be given another name.

    Raises ServerError as ``linked_folders`` does.
    """
    for link in linked_folders(data_directory):
        link.make(data_directory, user)


def _link(data_directory: Path, path: Path) -> Link:
    link = data_directory / path
    target = Path(os.path.normpath(link.parent / link.readlink()))
    folder = data_directory.parent
    steps = [target, *target.parents]
    inside = folder in steps[1:] and data_directory not in steps
    plain = inside and not any(one.is_symlink() for one in steps[: steps.index(folder)])
    if not plain or not target.is_dir():
        raise ServerError(
            f"{link} leads to {target}: the cluster spreads over other folders",
            f"only tablespaces and a WAL folder in the cluster's own folder {folder} can be cloned",
        )
    return Link(path, target.relative_to(folder))


def _survey(source: Path, links: frozenset[Path] = frozenset()) -> _Tree:
    """``links``: what is made anew instead of being copied."""
    if (source / "postmaster.pid").exists():
        raise ServerError(
            f"the cluster in {source} is in use, or its server was killed",
            "stop its server first; only a stopped cluster can be copied",
        )
    folders: list[_Entry] = []
    files: list[_Entry] = []
    for path, status in _walk(source):
        relative = path.relative_to(source)
        if relative in links:
            continue
        entry = _Entry(relative, stat.S_IMODE(status.st_mode), status.st_size)
        if stat.S_ISDIR(status.st_mode):
            folders.append(entry)
        elif stat.S_ISREG(status.st_mode):
            if relative.name not in NOT_COPIED:
                files.append(entry)
        else:
            raise ServerError(
                f"{path} is not a plain file: the cluster spreads over other folders",
                "tablespaces and a WAL folder elsewhere cannot be cloned",
            )
    files.sort(key=lambda file: file.size, reverse=True)
    return _Tree(folders, files)


def _walk(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            status = entry.stat(follow_symlinks=False)
            yield Path(entry.path), status
            if stat.S_ISDIR(status.st_mode):
                yield from _walk(Path(entry.path))


def _copy_all(
    method: CopyMethod, source: Path, destination: Path, tree: _Tree, user: ServerUser
) -> CopyMethod:
    for folder in tree.folders:
        (destination / folder.path).mkdir(mode=0o700)
    method = _possible(method, source, destination, tree)

    def copy(file: _Entry) -> None:
        target = destination / file.path
        copy_file(method, source / file.path, target)
        target.chmod(file.mode)
        give(target, user)

    threads = ThreadPoolExecutor(THREADS)
    try:
        for _ in threads.map(copy, tree.files):
            pass
    finally:
        threads.shutdown(cancel_futures=True)
    for folder in reversed(tree.folders):
        (destination / folder.path).chmod(folder.mode)
        give(destination / folder.path, user)
    destination.chmod(stat.S_IMODE(source.stat().st_mode))
    give(destination, user)
    return method


def _possible(method: CopyMethod, source: Path, destination: Path, tree: _Tree) -> CopyMethod:
    """The method, or the one that always works: source and copy may be on different systems."""
    smallest = next((file for file in reversed(tree.files) if file.size), None)
    if smallest is None or method is CopyMethod.PARALLEL_COPY:
        return method
    trial = destination / smallest.path
    try:
        copy_file(method, source / smallest.path, trial)
    except OSError as error:
        if error.errno not in CANNOT:
            raise
        return CopyMethod.PARALLEL_COPY
    finally:
        trial.unlink(missing_ok=True)
    return method


def _disk_full(destination: Path, size: Bytes) -> MachineError:
    return MachineError(
        f"the disk of {destination} is full: a copy of {size:,} bytes does not fit",
        "give disk back with teiten clean, or use another disk with --workdir",
    )
