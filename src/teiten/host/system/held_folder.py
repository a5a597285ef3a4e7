"""Folders in which another user may change everything under our hands.

Root's Teiten works in data directories that the servers' user owns. A path there can lead anywhere:
each of its parts may have become a link, a FIFO or another file since it was looked at. So a folder
is held by a descriptor, and what is in it is named relative to that: no link is followed, nothing
that could keep us waiting is opened, and what was opened is looked at before it is used.

A file is taken only where it belongs to whom its folder belongs, so that a hard link to a file of
root's is none. Files are replaced by a rename, never written in place. Systems without such calls
(Windows) have no root either: there the same is done by paths. For folders that somebody named to
have results written there, ``target_folder.py`` says how this module is used.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path, PurePath
from typing import IO

import psutil

from teiten.errors import ServerError
from teiten.host.system.files import sync_file_system, write_all
from teiten.host.system.makers import Life, Maker, lock_for_life
from teiten.host.system.users import ServerUser, is_root, own_uid, own_user

BY_DESCRIPTOR = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_FILE = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_DELETED_BY_WINDOWS = getattr(os, "O_TEMPORARY", 0)
"""A file is deleted when it is closed."""
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_ON_THE_WAY = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)
MOST_LINKS = 40
"""The kernel follows as many."""
DEEPEST = 40
"""Folders within one another; a data directory has four."""
ROUNDS = 5000
"""How often a folder is emptied that does not become empty: it is one for each level of depth."""


LONGEST_WRITE = 600.0
"""Seconds within which a file is written and has its name."""
_UNFINISHED = re.compile(r"\.teiten-(\d{1,9})-[0-9a-f]{8}")
"""Name of a file that is written: the process, and chance."""


def _name_of_unfinished() -> str:
    return f".teiten-{os.getpid()}-{secrets.token_hex(4)}"


def is_unfinished(name: str) -> bool:
    """Whether a file of this name was about to be written when its process was killed, or is."""
    return _UNFINISHED.fullmatch(name) is not None


class UnsafePlaceError(ServerError):
    """Something is not the plain file or folder that it should be."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(
            f"{path} {what}",
            "a script of the study or another program of that user has put it there; nothing was"
            " read, written or deleted through it",
        )


class HeldFolder:
    """A folder that is open; what is in it cannot be another folder's. To be closed."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        """``descriptor``: None where the system cannot name files by it."""
        self.path = path
        self._descriptor = descriptor
        status = os.lstat(path) if descriptor is None else os.fstat(descriptor)
        self.owner = status.st_uid
        self.device = status.st_dev
        self._is_writable_by_others = _is_writable_by_others(status)
        self.mode = stat.S_IMODE(status.st_mode)

    @classmethod
    def open(cls, path: Path) -> HeldFolder:
        """Hold a folder by its path. Root follows only links that root has made.

        Raises UnsafePlaceError for another link, and OSError.
        """
        absolute = path.absolute()
        if not BY_DESCRIPTOR:
            _require_folder(absolute.resolve())
            return cls(absolute, None)
        return cls(absolute, _walked(absolute))

    @classmethod
    def open_or_make(cls, path: Path, mode: int = 0o755) -> HeldFolder:
        """Hold a folder as ``open`` does; what is missing of the path is made with this mode, as
        far as the umask lets it."""
        absolute = path.absolute()
        try:
            return cls.open(absolute)
        except FileNotFoundError:
            with cls.open_or_make(absolute.parent, mode) as parent:
                if absolute.name == "..":
                    return cls.open(absolute)
                with contextlib.suppress(FileExistsError):
                    parent.make(absolute.name, mode).close()
                return parent.inner(absolute.name)

    @classmethod
    def open_itself(cls, path: Path) -> HeldFolder:
        """Hold a folder as ``open`` does, unless the last part of the path is a link."""
        absolute = path.absolute()
        with cls.open(absolute.parent) as parent:
            return parent.inner(absolute.name)

    def __enter__(self) -> HeldFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def is_trusted(self) -> bool:
        """Whether root may believe what it finds in here: root alone could put it there."""
        return own_uid() != 0 or (self.owner == 0 and not self._is_writable_by_others)

    @property
    def as_working_folder(self) -> Path:
        """For a child process: this very folder, whatever the path leads to by now."""
        if sys.platform == "linux" and self._descriptor is not None:
            return Path(f"/proc/self/fd/{self._descriptor}")
        return self.path

    def real_path(self) -> Path:
        """Where the folder is now, without links, as the system knows it."""
        if sys.platform == "linux" and self._descriptor is not None:
            return Path(f"/proc/self/fd/{self._descriptor}").readlink()
        return self.path.resolve()

    def inner(self, name: str) -> HeldFolder:
        """Hold a folder in this one. Raises UnsafePlaceError where it is none, and OSError."""
        path = self.path / name
        if self._descriptor is None:
            _require_folder(path)
            return HeldFolder(path, None)
        try:
            with self._named(name):
                descriptor = os.open(name, _FOLDER | os.O_RDONLY, dir_fd=self._descriptor)
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EMLINK):
                raise UnsafePlaceError(path, f"is {self._kind(name)}, not a folder") from error
            raise
        return HeldFolder(path, descriptor)

    @contextlib.contextmanager
    def below(self, names: Iterable[str], *, make: bool = False) -> Iterator[HeldFolder]:
        """Hold the folder to which some names lead, each opened in the one before. ``make``: those
        that are missing. Raises UnsafePlaceError as ``inner`` does, and OSError."""
        with contextlib.ExitStack() as stack:
            folder = self
            for name in names:
                if make:
                    with contextlib.suppress(FileExistsError):
                        folder.make(name, 0o755).close()
                folder = stack.enter_context(folder.inner(name))
            yield folder

    def make(self, name: str, mode: int = 0o700) -> HeldFolder:
        """Make a folder in this one and hold it. Raises FileExistsError, and as ``inner``."""
        with self._named(name):
            os.mkdir(self._at(name), mode, dir_fd=self._descriptor)
        return self.inner(name)

    def status(self, name: str) -> os.stat_result | None:
        """Read the status of a file, folder or link itself; None where there is none."""
        with contextlib.suppress(FileNotFoundError), self._named(name):
            return os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)
        return None

    def entries(self) -> list[tuple[str, os.stat_result]]:
        """Names with their status, in the order of their names."""
        listed = []
        with os.scandir(self.path if self._descriptor is None else self._descriptor) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                    listed.append((entry.name, entry.stat(follow_symlinks=False)))
        return sorted(listed, key=lambda pair: pair[0])

    def walk(self, depth: int = DEEPEST) -> Iterator[tuple[HeldFolder, str, os.stat_result]]:
        """All below this folder, each with the folder that it is in; a folder before its own.

        Raises UnsafePlaceError where more than ``depth`` folders are within one another.
        """
        for name, status in self.entries():
            yield self, name, status
            if stat.S_ISDIR(status.st_mode):
                if depth == 0:
                    raise UnsafePlaceError(self.path / name, f"is within {DEEPEST} other folders")
                with contextlib.suppress(FileNotFoundError), self.inner(name) as inner:
                    yield from inner.walk(depth - 1)

    def relative(self, folder: HeldFolder, name: str) -> str:
        """The path, from this folder on, of what ``walk`` yields. Of a text: a cluster has a
        thousand files, and paths take as long as reading their folders."""
        return f"{folder.path}/{name}"[len(f"{self.path}/") :]

    def read_file(self, name: str, *, shared: bool = False) -> IO[bytes]:
        """Open a plain file for reading. Raises UnsafePlaceError where it is none, and OSError.

        ``shared``: whether others than the folder's owner write there too. Then root takes his own
        files as well, where they have no second name, and an ordinary user those of anybody.
        """
        return self._checked(name, self._opened(name, os.O_RDONLY), "rb", shared)

    def read(self, name: str, most: int, *, shared: bool = False) -> bytes:
        """A plain file's content; as ``read_file``, and where it has more than ``most`` bytes."""
        with self.read_file(name, shared=shared) as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise UnsafePlaceError(self.path / name, f"is larger than {most:,} bytes")
        return content

    def read_link(self, name: str) -> str:
        """Where a link says that it leads. Raises OSError."""
        with self._named(name):
            return os.readlink(self._at(name), dir_fd=self._descriptor)

    def append_to(self, name: str, *, shared: bool = False) -> IO[bytes]:
        """Open a plain file at its end; made where it is missing. Raises as ``read_file``."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        return self._checked(name, self._opened(name, flags, 0o644), "ab", shared)

    def create(self, name: str, mode: int = 0o600) -> IO[bytes]:
        """A new file, not yet another's. Raises FileExistsError, and OSError."""
        descriptor = self._opened(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        return os.fdopen(descriptor, "w+b", buffering=0)

    def create_nameless(self, flags: int = 0) -> IO[bytes]:
        """Open a new file of ours that has no name, so that nobody else can reach it, and that is
        gone with its descriptor. ``flags``: further ones of open(2). Raises OSError."""
        descriptor = self._open_nameless(os.O_RDWR | flags)
        return os.fdopen(descriptor, "w+b", buffering=0)

    def lock_for_life(self) -> None:
        """Hold the folder's lock for as long as this process lives. Raises OSError."""
        if self._descriptor is not None:  # another one: ours is asked for the lock itself
            lock_for_life(os.open(".", _FOLDER | os.O_RDONLY, dir_fd=self._descriptor))

    def life_of(self, maker: Maker) -> Life:
        """Whether the process that has made the folder lives."""
        return maker.life(self._descriptor, self.path)

    def sync_file_system(self) -> None:
        """Write all dirty pages of the folder's file system to its disk. Raises OSError."""
        sync_file_system(self._descriptor, self.path)

    def write(
        self,
        name: str,
        content: bytes,
        *,
        user: ServerUser | None = None,
        mode: int | None = 0o600,
        durable: bool = False,
        locked: bool = False,
    ) -> None:
        """Put a file in the place of what has this name, of one piece.

        ``user``: whose it shall be. ``mode``: None for what the umask says. ``durable``: wait until
        it is on the disk; else a power cut may leave it empty for half a minute (ext4 allocates a
        new file's blocks when it writes them). ``locked``: by this process from before it has its
        name (``makers.lock_for_life``). Raises UnsafePlaceError where a folder is there, and
        OSError.
        """
        partial = _name_of_unfinished()
        try:
            with self.create(partial, 0o666 if mode is None else 0o600) as file:
                write_all(file.fileno(), content)
                if mode is not None:
                    give_open(file, user, mode)
                if durable:
                    os.fsync(file.fileno())
                if locked:
                    lock_for_life(os.dup(file.fileno()))
            self.rename(partial, name)
            if durable and self._descriptor is not None:
                os.fsync(self._descriptor)
        except BaseException as error:
            with contextlib.suppress(OSError):
                self.unlink(partial)
            if isinstance(error, IsADirectoryError):
                raise UnsafePlaceError(self.path / name, "is a folder, not a plain file") from error
            raise

    def rename(self, name: str, new: str) -> None:
        """Give a file or link another name, in the place of what has it. Raises OSError."""
        self._rename(name, self, new)

    def remove_unfinished(self) -> None:
        """Remove the files that a process of ours which has ended was about to ``write`` here; of
        the last minutes none, since a process of another container is not seen. Raises OSError."""
        for name, status in self.entries():
            unfinished = _UNFINISHED.fullmatch(name)
            if (
                unfinished is not None
                and stat.S_ISREG(status.st_mode)
                and status.st_uid == own_uid()
                and time.time() - status.st_mtime > LONGEST_WRITE
                and not psutil.pid_exists(int(unfinished[1]))
            ):
                self.unlink(name)

    def link(self, name: str, target: str, user: ServerUser | None = None) -> None:
        """Put a symbolic link in the place of what has this name. Raises OSError."""
        self.unlink(name)
        with self._named(name):
            os.symlink(target, self._at(name), dir_fd=self._descriptor)
        self._give_entry(name, user)

    def hard_link(self, name: str, folder: HeldFolder) -> None:
        """Give what has this name, a link itself, the same name in another folder. Look there what
        it is: here it may be another thing by then. Raises OSError."""
        with self._named(name, folder.path / name):
            os.link(
                self._at(name),
                folder._at(name),
                src_dir_fd=self._descriptor,
                dst_dir_fd=folder._descriptor,
                follow_symlinks=False,
            )

    def give(self, user: ServerUser | None, mode: int | None = None) -> None:
        """Make another user the owner of the folder, but not of what is in it."""
        if self._descriptor is None:
            return
        if mode is not None:
            os.fchmod(self._descriptor, mode)
        if user is not None and user.uid is not None and user.gid is not None:
            os.fchown(self._descriptor, user.uid, user.gid)

    def give_all(self, user: ServerUser) -> None:
        """Make another user the owner of the folder and of all in it, this folder last.

        Raises UnsafePlaceError for what was not ours, and OSError.
        """
        if user.uid is None or user.gid is None:
            return
        for name, status in self.entries():
            if status.st_uid != own_uid() or (status.st_nlink > 1 and not _is_folder(status)):
                raise UnsafePlaceError(self.path / name, "is not a file of ours alone")
            if _is_folder(status):
                with self.inner(name) as inner:
                    inner.give_all(user)
            else:
                self._give_entry(name, user)
        self.give(user)

    def take_all(self, user: ServerUser) -> None:
        """Become the owner of the folder and of all in it, which are another user's. This folder
        first: from then on he changes no entry of it.

        Raises UnsafePlaceError for what is not his alone, and OSError.
        """
        if not user.is_other:
            return
        if self.owner not in (user.uid, own_uid()):
            raise UnsafePlaceError(self.path, f"belongs to user {self.owner}, not to {user.name}")
        self.give(own_user())
        self.owner = own_uid()
        for name, status in self.entries():
            is_folder = _is_folder(status)
            if status.st_uid != user.uid or (status.st_nlink > 1 and not is_folder):
                raise UnsafePlaceError(self.path / name, f"is not a file of {user.name} alone")
            if is_folder:
                with self.inner(name) as inner:
                    inner.take_all(user)
            else:
                self._give_entry(name, own_user())

    def unlink(self, name: str) -> None:
        """Delete a file or a link; nothing where there is none."""
        with contextlib.suppress(FileNotFoundError), self._named(name):
            os.unlink(self._at(name), dir_fd=self._descriptor)

    def remove_folder(self, name: str) -> None:
        """Delete an empty folder; nothing where there is none."""
        with contextlib.suppress(FileNotFoundError), self._named(name):
            os.rmdir(self._at(name), dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Delete a file, a link, or a folder with all in it. Raises OSError."""
        status = self.status(name)
        if status is None:
            return
        if not _is_folder(status):
            self.unlink(name)
            return
        with self.inner(name) as inner:
            inner.empty()
        self.remove_folder(name)

    def empty(self, keep: Collection[str] = ()) -> None:
        """Delete all in the folder but ``keep``, however deep it is.

        What an inner folder holds of folders is moved up, so that two are open and never more.
        Raises OSError where something cannot be deleted, or comes again and again.
        """
        for _ in range(ROUNDS):
            remaining = [entry for entry in self.entries() if entry[0] not in keep]
            if not remaining:
                return
            for name, status in remaining:
                self._remove_flat(name, status)
        raise OSError(errno.ENOTEMPTY, "it is filled again and again", str(self.path))

    def _remove_flat(self, name: str, status: os.stat_result) -> None:
        """Delete one entry; a folder is left empty. What has changed meanwhile is left as well."""
        if not _is_folder(status):
            with contextlib.suppress(IsADirectoryError):
                self.unlink(name)
            return
        try:
            self.remove_folder(name)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        else:
            return
        with contextlib.suppress(FileNotFoundError, UnsafePlaceError), self.inner(name) as inner:
            if inner.device != self.device:
                raise OSError(errno.EXDEV, "another file system is mounted there", str(inner.path))
            for below, of_it in inner.entries():
                if _is_folder(of_it):
                    with contextlib.suppress(FileNotFoundError):
                        inner._rename(below, self, f".removed-{secrets.token_hex(8)}")
                else:
                    inner.unlink(below)

    def _give_entry(self, name: str, user: ServerUser | None) -> None:
        """Make another user the owner of a file or link itself."""
        if user is not None and user.uid is not None and user.gid is not None:
            at, folder = self._at(name), self._descriptor
            with self._named(name):
                os.chown(at, user.uid, user.gid, dir_fd=folder, follow_symlinks=False)

    def _rename(self, name: str, folder: HeldFolder, new: str) -> None:
        with self._named(name, folder.path / new):
            os.replace(
                self._at(name), folder._at(new),
                src_dir_fd=self._descriptor, dst_dir_fd=folder._descriptor,
            )  # fmt: skip

    def _at(self, name: str) -> str:
        if name in ("", ".", "..") or "/" in name or os.sep in name:
            raise ValueError(f"{name!r} is not the name of something in a folder")
        return str(self.path / name) if self._descriptor is None else name

    def _opened(self, name: str, flags: int, mode: int = 0o600) -> int:
        try:
            with self._named(name):
                return os.open(self._at(name), flags | _FILE, mode, dir_fd=self._descriptor)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR):
                kind = self._kind(name)
                raise UnsafePlaceError(self.path / name, f"is {kind}, not a plain file") from error
            raise

    def _open_nameless(self, flags: int) -> int:
        """By O_TMPFILE; where the file system does not know it, by a name that is deleted again."""
        if self._descriptor is not None and hasattr(os, "O_TMPFILE"):
            with contextlib.suppress(OSError):
                flagged = flags | os.O_TMPFILE | os.O_EXCL
                return os.open(".", flagged, 0o600, dir_fd=self._descriptor)
        name = _name_of_unfinished()
        try:
            return self._opened(name, flags | os.O_CREAT | os.O_EXCL | _DELETED_BY_WINDOWS)
        finally:  # open(2) leaves a file behind where it refuses O_DIRECT
            if not _DELETED_BY_WINDOWS:
                self.unlink(name)

    def _checked(self, name: str, descriptor: int, mode: str, shared: bool = False) -> IO[bytes]:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            what = f"is {_kind_of(status)}, not a plain file"
            raise UnsafePlaceError(self.path / name, what)
        if status.st_uid != self.owner and not (shared and _is_ours_by_one_name(status)):
            os.close(descriptor)
            what = f"belongs to user {status.st_uid}, its folder to {self.owner}"
            raise UnsafePlaceError(self.path / name, what)
        if BY_DESCRIPTOR:
            os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, mode)

    def _named(self, name: str, new: Path | None = None) -> _Named:
        """Have errors name the whole path, not a name within a descriptor."""
        return _Named(self.path, name, new)

    def _kind(self, name: str) -> str:
        status = self.status(name)
        return "gone" if status is None else _kind_of(status)


class _Named:
    """Not a generator: one is entered for each file of a cluster, several times."""

    __slots__ = ("_folder", "_name", "_new")

    def __init__(self, folder: Path, name: str, new: Path | None) -> None:
        self._folder, self._name, self._new = folder, name, new

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, OSError):
            error.filename = str(self._folder / self._name)
            if self._new is not None:
                error.filename2 = str(self._new)


def give_open(file: IO[bytes], user: ServerUser | None, mode: int) -> None:
    """Set the mode (without set-user-ID and the like) and the owner of a file that we made."""
    if not BY_DESCRIPTOR:
        return
    os.fchmod(file.fileno(), mode & 0o777)
    if user is not None and user.uid is not None and user.gid is not None:
        os.fchown(file.fileno(), user.uid, user.gid)


def exchangeable_folder(path: Path) -> Path | None:
    """The first folder on the way to (and with) ``path`` in which another user can exchange what is
    root's; None where there is none, or where we are not root. Raises OSError."""
    if not is_root():
        return None
    real = path.resolve()
    for folder in (*reversed(real.parents), real):
        status = os.lstat(folder)
        is_sticky = status.st_mode & stat.S_ISVTX
        if status.st_uid != 0 or (_is_writable_by_others(status) and not is_sticky):
            return folder
    return None


def exchangeable_way(path: Path, user: ServerUser) -> Path | None:
    """The first folder on the way to (and with) the folder ``path`` in which anybody but root and
    the servers' ``user`` can exchange what is there, or ``path`` where his link is on the way; None
    where there is none, or where we are not root. What is on a way without such folders stays what
    it is: programs may be given the path. Raises OSError."""
    if not is_root():
        return None
    owners, exchangeable = (0, user.uid), list[Path]()

    def look(folder: Path, status: os.stat_result) -> None:
        open_to_others = _is_writable_by_others(status) and not status.st_mode & stat.S_ISVTX
        if status.st_uid not in owners or open_to_others:
            exchangeable.append(folder)

    try:
        os.close(_walked(path.absolute(), look))
    except UnsafePlaceError:
        exchangeable.append(path)
    return exchangeable[0] if exchangeable else None


def sync_file_system_of(folder: Path) -> None:
    """Write all dirty pages of a folder's file system to its disk. Raises OSError."""
    with HeldFolder.open_itself(folder) as held:
        held.sync_file_system()


def find_folder(path: Path) -> HeldFolder | None:
    """The folder of this path itself; None where there is none, or something else."""
    try:
        return HeldFolder.open_itself(path)
    except (OSError, UnsafePlaceError):
        return None


def _walked(path: Path, look: Callable[[Path, os.stat_result], None] = lambda *_: None) -> int:
    """Open a folder part by part; the last one for reading. ``look``: at each folder on the way, as
    it is opened."""
    descriptor, where = os.open(path.anchor, _ON_THE_WAY), Path(path.anchor)
    try:
        look(where, os.fstat(descriptor))
        left, links = list(path.parts[1:]), 0
        while left:
            part = left.pop(0)
            try:
                following = os.open(part, _ON_THE_WAY, dir_fd=descriptor)
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP, errno.EMLINK):
                    raise
                target = PurePath(_trusted_link(descriptor, part, path))
                links += 1
                if links > MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
                left[:0] = target.parts[1:] if target.is_absolute() else target.parts
                if not target.is_absolute():
                    continue
                following, part = os.open(target.anchor, _ON_THE_WAY), target.anchor
            os.close(descriptor)
            descriptor, where = following, where / part
            look(where, os.fstat(descriptor))
        return os.open(".", _FOLDER | os.O_RDONLY, dir_fd=descriptor)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        os.close(descriptor)


def _trusted_link(folder: int, name: str, path: Path) -> str:
    """Where a link leads that nobody else could put there."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        raise UnsafePlaceError(path, f"cannot be reached: {name} is {_kind_of(status)}")
    if own_uid() == 0 and (status.st_uid != 0 or os.fstat(folder).st_uid != 0):
        raise UnsafePlaceError(path, f"cannot be reached: {name} is a link of another user")
    return os.readlink(name, dir_fd=folder)


def _is_ours_by_one_name(status: os.stat_result) -> bool:
    """Whether a file in a folder of another user can be what we wrote there: another user can give
    root's files further names, and an ordinary user reads nothing that only root may read."""
    own = own_uid()
    return own != 0 or (status.st_uid == own and status.st_nlink == 1)


def _require_folder(path: Path) -> None:
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafePlaceError(path, f"is {_kind_of(status)}, not a folder")


def _is_writable_by_others(status: os.stat_result) -> bool:
    by_group = stat.S_IWGRP if status.st_gid != 0 else 0
    return bool(status.st_mode & (stat.S_IWOTH | by_group))


def _is_folder(status: os.stat_result) -> bool:
    return stat.S_ISDIR(status.st_mode)


_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISREG, "a plain file"),
)


def _kind_of(status: os.stat_result) -> str:
    return next((name for test, name in _KINDS if test(status.st_mode)), "a device")
