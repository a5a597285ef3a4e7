"""Copying a stopped cluster's data directory."""

from __future__ import annotations

import contextlib
import errno
import stat
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import MachineError, ServerError, UsageError
from teiten.execute.postgres.templates.copy_methods import (
    CANNOT,
    THREADS,
    CopyMethod,
    choose_method,
    copy_open,
)
from teiten.execute.postgres.templates.linked import linked_folders, make_link
from teiten.host.system.causes import machine_error, no_inodes
from teiten.host.system.held_folder import HeldFolder, give_open
from teiten.host.system.users import ServerUser
from teiten.model.units import MIB, Bytes, Seconds

NOT_COPIED = frozenset({"postmaster.opts"})
TRIED = ".teiten-tried"
"""A copy that only shows whether a method works."""
LARGE = MIB
"""Bytes from which a file is copied on its own."""
MOST_TOGETHER = 64
"""Small files that one thread copies one after another."""


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
    places: Mapping[str, Path] | None = None,
) -> CloneReport:
    """Copy a stopped cluster's data directory to a new or empty folder, for the servers' user.

    ``method``: None measures (or, with ``caches``, remembers) which is fastest there. ``sync``:
    wait until the copy is on the disk, so that its writing back does not fall into a measurement;
    it took a fifth of the time on ext4. Modes are kept. What was copied is removed on failure.

    Tablespaces and a WAL folder that stand beside the data directory, in the cluster's own folder,
    are copied beside the new one, or into the folders that ``places`` has for their names, which
    are there. No other link is followed in either: a program that a script left
    running may still change the source.

    Raises UsageError where the destination is not empty, ServerError where the source is in use or
    spreads over other folders, UnsafePlaceError where something in it is another's, MachineError
    where the disk is full.
    """
    begin = time.perf_counter()
    source, destination = source.absolute(), destination.absolute()
    with contextlib.ExitStack() as held:
        home = held.enter_context(HeldFolder.open(source.parent))
        links = linked_folders(held.enter_context(home.inner(source.name)))
        parent = held.enter_context(HeldFolder.open_or_make(destination.parent))
        known = frozenset(link.path for link in links)
        outside = {
            name: held.enter_context(HeldFolder.open_itself(folder))
            for name, folder in (places or {}).items()
        }
        outer = [parent, *(outside.get(link.folder, parent) for link in links)]
        names = [(source.name, destination.name), *((link.folder,) * 2 for link in links)]
        parts = [
            (held.enter_context(home.inner(old)), held.enter_context(_empty(into, new)))
            for into, (old, new) in zip(outer, names, strict=True)
        ]
        trees = [
            _survey(old, known if at == 0 else frozenset()) for at, (old, _) in enumerate(parts)
        ]
        size = Bytes(sum(tree.bytes for tree in trees))
        try:
            chosen = method or choose_method(parts[0][1], caches)
            for (old, new), tree in zip(parts, trees, strict=True):
                chosen = _copy_all(chosen, old, new, tree, user)
            for link in links:
                make_link(parts[0][1], link, user, (places or {}).get(link.folder))
            if sync:
                for folder in (parts[0][1], *outside.values()):
                    folder.sync_file_system()
        except BaseException as error:
            full = _disk_full(error, destination, size)  # before it has room again
            with contextlib.suppress(OSError):
                for into, (_, name) in zip(outer, names, strict=True):
                    into.remove(name)
            if full is not None:
                raise full from error
            raise
    return CloneReport(chosen, Seconds(time.perf_counter() - begin), size)


def _empty(parent: HeldFolder, name: str) -> HeldFolder:
    """Hold a new or empty folder, into which nobody else can come. Raises UsageError."""
    with contextlib.suppress(FileExistsError):
        parent.make(name).close()
    folder = parent.inner(name)
    if folder.entries():
        folder.close()
        raise UsageError(
            f"the data folder {parent.path / name} is not empty",
            "name a new or an empty folder; Teiten copies no cluster over other files",
        )
    folder.give(None, 0o700)
    return folder


def _survey(source: HeldFolder, links: frozenset[Path]) -> _Tree:
    """``links``: what is made anew instead of being copied."""
    if source.status("postmaster.pid") is not None:
        raise ServerError(
            f"the cluster in {source.path} is in use, or its server was killed",
            "stop its server first; only a stopped cluster can be copied",
        )
    folders: list[_Entry] = []
    files: list[_Entry] = []
    for folder, name, status in source.walk():
        relative = Path(source.relative(folder, name))
        if links and relative in links:
            continue
        entry = _Entry(relative, stat.S_IMODE(status.st_mode), status.st_size)
        if stat.S_ISDIR(status.st_mode):
            folders.append(entry)
        elif stat.S_ISREG(status.st_mode):
            if name not in NOT_COPIED:
                files.append(entry)
        else:
            raise ServerError(
                f"{folder.path / name} is not a plain file: the cluster spreads over other folders",
                "only tablespaces and a WAL folder in the cluster's own folder can be cloned",
            )
    files.sort(key=lambda file: file.size, reverse=True)
    return _Tree(folders, files)


def _copy_all(
    method: CopyMethod, source: HeldFolder, destination: HeldFolder, tree: _Tree, user: ServerUser
) -> CopyMethod:
    for folder in tree.folders:
        with destination.below(folder.path.parent.parts) as outer:
            outer.make(folder.path.name).close()
    method = _possible(method, source, destination, tree)

    def copy(files: Sequence[_Entry]) -> None:
        inner = files[0].path.parent.parts
        with source.below(inner) as there, destination.below(inner) as here:
            for file in files:
                with there.read_file(file.path.name) as old, here.create(file.path.name) as new:
                    copy_open(method, old, new)
                    give_open(new, user, file.mode)

    threads = ThreadPoolExecutor(THREADS)
    try:
        for _ in threads.map(copy, _together(tree.files)):
            pass
    finally:
        threads.shutdown(cancel_futures=True)
    for folder in reversed(tree.folders):
        with destination.below(folder.path.parts) as held:
            held.give(user, folder.mode & 0o777)
    destination.give(user, source.mode & 0o777)  # last: until then nobody else can enter
    return method


def _together(files: Sequence[_Entry]) -> list[list[_Entry]]:
    """Small files of one folder are one task: most of a cluster's thousand are of 8 or 16 KiB, and
    to open their folders and to hand them to a thread takes longer than they do."""
    tasks = [[file] for file in files if file.size >= LARGE]
    by_folder: dict[Path, list[_Entry]] = {}
    for file in files:
        if file.size < LARGE:
            by_folder.setdefault(file.path.parent, []).append(file)
    for small in by_folder.values():
        tasks += [small[at : at + MOST_TOGETHER] for at in range(0, len(small), MOST_TOGETHER)]
    return tasks


def _possible(
    method: CopyMethod, source: HeldFolder, destination: HeldFolder, tree: _Tree
) -> CopyMethod:
    """The method, or the one that always works: source and copy may be on different systems."""
    smallest = next((file for file in reversed(tree.files) if file.size), None)
    if smallest is None or method is CopyMethod.PARALLEL_COPY:
        return method
    try:
        with (
            source.below(smallest.path.parent.parts) as there,
            there.read_file(smallest.path.name) as old,
            destination.create(TRIED) as new,
        ):
            copy_open(method, old, new)
    except OSError as error:
        if error.errno not in CANNOT:
            raise
        return CopyMethod.PARALLEL_COPY
    finally:
        destination.unlink(TRIED)
    return method


def _disk_full(error: BaseException, destination: Path, size: Bytes) -> MachineError | None:
    if not isinstance(error, OSError) or error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return None
    if error.errno == errno.EDQUOT or no_inodes(destination):
        return machine_error(error, f"{destination} cannot be made")
    return MachineError(
        f"the disk of {destination} is full: a copy of {size:,} bytes does not fit",
        "give disk back with teiten clean, or use another disk with --workdir",
    )
