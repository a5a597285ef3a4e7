"""Errors of the operating system, as errors that a user can act on.

The one place where an ``OSError`` becomes a ``MachineError``: whatever part of Teiten it comes
from, it is told by its true cause (``errno``) with the file that it names, and exits with 3. What
no machine can be blamed for (a wrong descriptor, an argument without sense) stays a defect.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from teiten.errors import MachineError, TeitenError, UsageError

MAKE_ROOM = (
    "free some disk space (teiten clean gives some back), or name another disk with --workdir; then"
    " repeat, and continue a campaign that was cut off with teiten resume"
)
MAKE_ROOM_OF_EITHER = (
    "free some disk space or inodes, whichever is short (df -h and df -i show it; teiten clean"
    " gives some back), or name another disk with --workdir; then repeat, and continue a campaign"
    " that was cut off with teiten resume"
)
"""Where there is room by now, nobody can tell any more which of the two was short."""
NOTHING = 1 << 20
"""Bytes: with less nothing can be done on a disk."""
CauseAndHint = tuple[str, str]
"""Sentences: what is wrong, and what to do."""
Tell = Callable[["Path | None"], CauseAndHint]
"""Say it of a place, where an error names one."""


def machine_error(error: OSError, doing: str = "") -> MachineError | None:
    """The error to tell of what the system refused; None where it is no matter of the machine.

    ``doing``: what was tried, for the message's beginning ("the report cannot be written"); what
    the system refuses there is always the machine's.
    """
    tell = _CAUSES.get(error.errno) if error.errno is not None else None
    if tell is not None:
        what, hint = tell(_place(error))
        return MachineError(f"{doing}: {what}" if doing else what, hint)
    if doing and error.errno is not None:  # it is known what was tried: a missing folder, for one
        text = f"{error.strerror or error}{_of(_place(error))}"
        return MachineError(f"{doing}: {text}", "see whether the folder is there, or name another")
    return None


@contextmanager
def translate_os_errors(doing: str, flag: str | None = None) -> Iterator[None]:
    """Raise MachineError, with its true cause, for what the system refuses inside the ``with``.

    ``flag``: the one with which somebody has named the place; UsageError where no such place can
    be, for which the machine is not to blame.
    """
    try:
        yield
    except OSError as error:
        machine = machine_error(error, doing)
        if machine is None:
            raise
        if flag is not None and error.errno in _NO_PLACE:
            raise UsageError(
                machine.message, f"name a place that you can write to with {flag}"
            ) from error
        raise machine from error


@contextmanager
def raise_os_errors_as(
    message: str, hint: str, kind: type[TeitenError] = MachineError
) -> Iterator[None]:
    """Raise such an error, with what the system says, for what it refuses inside the ``with``:
    where the caller knows better than the cause does what helps."""
    try:
        yield
    except OSError as error:
        raise kind(f"{message}: {error.strerror or error}", hint) from error


def full_disk(folder: Path) -> MachineError | None:
    """Make the error that says the disk of a folder is full now; None where it is not.

    Programs and servers often tell what followed from that, and not that.
    """
    there = _existing(folder)
    if there is None or not (_lacks_bytes(there) or no_inodes(there)):
        return None
    return MachineError(*_full(folder))


def quoted_cause(text: str, folder: Path) -> MachineError | None:
    """Find in a program's message what the system refused it below a folder.

    What it made may be gone by then, so that the disk is not full any more.
    """
    for number in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EROFS, errno.EIO):
        if os.strerror(number) in text:
            return MachineError(*_CAUSES[number](folder))
    return None


_NO_PLACE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.EINVAL}
)


def _place(error: OSError) -> Path | None:
    """The file that an error names: where two are named (a move), the one that is to be."""
    named = error.filename2 or error.filename
    if isinstance(named, bytes):
        named = os.fsdecode(named)
    return Path(named) if isinstance(named, str | os.PathLike) else None


def _full(place: Path | None) -> CauseAndHint:
    folder = _existing(place)
    if folder is not None and no_inodes(folder):
        return (
            f"the file system of {folder} can hold no more files: its inodes are used up",
            "remove files there (df -i shows the use; teiten clean gives some back), or name"
            " another disk; then repeat",
        )
    has_room_again = folder is not None and not _lacks_bytes(folder)
    return f"the disk is full{_of(place)}", MAKE_ROOM_OF_EITHER if has_room_again else MAKE_ROOM


def _forbidden(place: Path | None) -> CauseAndHint:
    closed = _closed_by_us(place)
    if closed is not None:
        return (
            f"no permission{_of(place)}: {closed} is yours, but its mode forbids it",
            f"chmod u+rwX {shlex.quote(str(closed))}, or name another folder, for example with"
            " --workdir",
        )
    blocking = _blocking(place)
    return (
        f"no permission{_of(place)}" + (f": {blocking}" if blocking else ""),
        "run Teiten as the user who owns it, or name a folder of your own, for example with"
        " --workdir",
    )


def _no_folder(place: Path | None) -> CauseAndHint:
    file = _file_on_the_way(place)
    return (
        f"{file or place or 'something on the way'} is a file, where a folder is needed",
        "move the file away, or name another folder",
    )


def _taken(place: Path | None) -> CauseAndHint:
    if place is not None and _is_no_folder(place):
        return _no_folder(place)
    return (
        f"it exists already{_of(place)}",
        "another Teiten may be at work there: wait until it has ended, then repeat",
    )


def _existing(place: Path | None) -> Path | None:
    """The place, or the nearest folder around it that there is."""
    if place is None:
        return None
    for candidate in (place.absolute(), *place.absolute().parents):
        try:
            candidate.lstat()
        except OSError:
            continue
        return candidate
    return None


def _file_system(place: Path) -> os.statvfs_result | None:
    if not hasattr(os, "statvfs"):
        return None
    try:
        return os.statvfs(place)
    except OSError:
        return None


def _lacks_bytes(place: Path) -> bool:
    status = _file_system(place)
    return status is not None and status.f_bavail * status.f_frsize < NOTHING


def no_inodes(place: Path) -> bool:
    """Whether a file system has room, and can yet hold no more files."""
    status = _file_system(place)
    return (
        status is not None and status.f_files > 0 and status.f_favail == 0 and status.f_bavail > 0
    )


def _blocking(place: Path | None) -> str:
    """The nearest folder of a path and whose it is, where it is another's."""
    nearest = _nearest(place)
    if nearest is None or nearest[1].st_uid == os.geteuid():
        return ""
    return f"{nearest[0]} belongs to the user {_user_name(nearest[1].st_uid)}"


def _nearest(place: Path | None) -> tuple[Path, os.stat_result] | None:
    """The nearest folder of a path, with its status; None where the system has no owners."""
    folder = _existing(place)
    if folder is None or not hasattr(os, "geteuid"):
        return None
    try:
        return folder, folder.lstat()
    except OSError:
        return None


def _closed_by_us(place: Path | None) -> Path | None:
    """The nearest folder (or file) of a path, where we own it and its mode keeps us out."""
    nearest = _nearest(place)
    if nearest is None:
        return None
    folder, status = nearest
    needed = stat.S_IRWXU if stat.S_ISDIR(status.st_mode) else stat.S_IRUSR | stat.S_IWUSR
    lacks = status.st_mode & needed != needed
    return folder if status.st_uid == os.geteuid() and lacks else None


def _user_name(uid: int) -> str:
    import pwd  # noqa: PLC0415 - not on Windows

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _file_on_the_way(place: Path | None) -> Path | None:
    if place is None:
        return None
    return next((part for part in (place, *place.parents) if _is_no_folder(part)), None)


def _is_no_folder(place: Path) -> bool:
    try:
        return place.exists() and not place.is_dir()
    except (OSError, ValueError):
        return False


def _of(place: Path | None) -> str:
    if place is None:
        return ""
    text = str(place)
    return f": {text}" if len(text) <= 300 else f": {text[:140]}…{text[-140:]}"


_PLAIN = (
    (
        "EDQUOT",
        "your quota on the disk is used up",
        "free some of your files there (quota -s shows the use), or name another disk; then repeat",
    ),
    (
        "EROFS",
        "the file system is mounted for reading only",
        "name a folder on a disk that can be written, for example with --workdir; if it was"
        " writable before, see the kernel's messages (dmesg)",
    ),
    (
        "EIO EUCLEAN EBADMSG EREMOTEIO ENODATA",
        "the device failed to read or write (input/output error)",
        "see the kernel's messages (dmesg) for the device, and save what is on it; then repeat",
    ),
    (
        "ENAMETOOLONG",
        "a name or path is longer than the file system takes",
        "names have at most 255 bytes, paths 4095: use a shorter name, or a --workdir with a"
        " shorter path",
    ),
    (
        "EMFILE ENFILE",
        "too many open files: the system gives this process no more",
        "raise the limit (ulimit -n), or use fewer clients",
    ),
    (
        "ENOMEM ENOBUFS",
        "the system gives no more memory",
        "end other programs, or make the campaign smaller (fewer clients, a smaller scale)",
    ),
    (
        "EAGAIN",
        "the system starts no more processes, or lacks memory for one",
        "end other programs, or raise the limit (ulimit -u, or pids.max of the control group)",
    ),
    (
        "ENOTEMPTY",
        "the folder is not empty",
        "another program puts files there: end it, then repeat",
    ),
    (
        "EISDIR",
        "a folder is where a file is needed",
        "move the folder away, or name another file",
    ),
    ("ELOOP", "symbolic links lead in a circle", "remove the links, or name another path"),
    (
        "EFBIG EOVERFLOW",
        "the file is larger than it may become",
        "raise the limit (ulimit -f), or use a file system for large files",
    ),
    (
        "ESTALE ENOTCONN ENODEV ESHUTDOWN",
        "the file system has gone away",
        "mount it again (a network's disk, or one that was taken out), then repeat",
    ),
    (
        "ENOEXEC",
        "the program cannot be run on this machine",
        "name programs that were built for this machine: teiten pg list shows those that run",
    ),
    ("ETXTBSY EBUSY EDEADLK ENOLCK", "another program uses it", "end that program, then repeat"),
    ("ENXIO ESPIPE", "this is no plain file", "name a file, not a socket, a pipe or a device"),
)
"""Errors with one cause and one hint, whatever the place."""


def _plain(cause: str, hint: str) -> Tell:
    return lambda place: (f"{cause}{_of(place)}", hint)


_CAUSES: dict[int, Tell] = {
    number: tell
    for names, tell in (
        ("ENOSPC", _full),
        ("EACCES EPERM", _forbidden),
        ("ENOTDIR", _no_folder),
        ("EEXIST", _taken),
        *((names, _plain(cause, hint)) for names, cause, hint in _PLAIN),
    )
    for name in names.split()
    if (number := getattr(errno, name, None)) is not None
}
