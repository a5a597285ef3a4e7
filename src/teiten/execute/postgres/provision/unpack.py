"""Unpacking archives of others safely.

Only files, folders and links are made, all of them below the destination; links are made last, so
that nothing is ever written through one. A link goes up first and then down, never up again after a
name, and stands in a folder, not behind another link: so no two of them lead outside together.
Nothing may be there twice. Modes are 0755 and 0644 whatever the umask, because the
servers' user must read what root unpacked. (``tarfile``'s own filter is not in every Python 3.11.)
"""

from __future__ import annotations

import shutil
import stat
import tarfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO

from teiten.host.system.held_folder import HeldFolder

EXECUTABLE_BITS = 0o111


class UnsafeArchiveError(Exception):
    """An archive that would write outside its destination, or holds what none should."""


def unpack_tar(archive: Path | IO[bytes], destination: Path, prefix: str = "") -> None:
    """Unpack what is below ``prefix`` in a tar archive, of any compression, without that prefix.

    Raises UnsafeArchiveError, and tarfile's, lzma's and zlib's errors where it is damaged.
    """
    links: list[tuple[str, str]] = []
    path = archive if isinstance(archive, Path) else None
    with tarfile.open(path, fileobj=None if isinstance(archive, Path) else archive) as tar:
        for member in tar:
            name = inside(member.name, prefix)
            if name is None:
                continue
            if member.isdir():
                _make_folder(destination / name)
            elif member.isreg():
                content = tar.extractfile(member)
                assert content is not None
                with content:
                    write_file(destination / name, content, bool(member.mode & EXECUTABLE_BITS))
            elif member.issym():
                links.append((name, member.linkname))
            elif member.islnk():
                _copy_linked(member, name, destination, prefix)
            else:
                raise UnsafeArchiveError(f"{member.name} is neither file, folder nor link")
    make_links(destination, links)


def inside(name: str, prefix: str = "") -> str | None:
    """A member's path without the prefix; None where it is not below the prefix."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name.partition("/")[0]:
        raise UnsafeArchiveError(f"{name} would be written outside the folder")
    try:
        relative = path.relative_to(prefix)
    except ValueError:
        return None
    return None if relative == PurePosixPath(".") else str(relative)


def write_file(path: Path, content: IO[bytes], executable: bool) -> None:
    """Write one new file; its folders are made. Raises UnsafeArchiveError where one is there."""
    _make_folder(path.parent)
    try:
        with path.open("xb") as stream:
            shutil.copyfileobj(content, stream, 1 << 20)
    except (FileExistsError, IsADirectoryError) as error:
        raise UnsafeArchiveError(f"{path.name} is there twice") from error
    path.chmod(0o755 if executable else 0o644)


def make_links(root: Path, links: Iterable[tuple[str, str]]) -> None:
    """Make symbolic links ``(path, target)``: the path below root, the target relative to it.

    Raises UnsafeArchiveError where a target is not inside root, or leads in a circle.
    """
    made = []
    for name, target in links:
        path = root / name
        if not target or "\0" in target or not _stays_inside(name, target):
            raise UnsafeArchiveError(f"{name} links to {target}, outside the folder")
        if any((root / parent).is_symlink() for parent in list(PurePosixPath(name).parents)[:-1]):
            raise UnsafeArchiveError(f"{name} would be written through a link")
        _make_folder(path.parent)
        try:
            path.symlink_to(target)
        except FileExistsError as error:
            raise UnsafeArchiveError(f"{name} is there twice") from error
        made.append(path)
    for path in made:
        _refuse_circle(path)


def copy_tree(source: HeldFolder, destination: Path) -> None:
    """Copy a folder of another user's as if it were unpacked from an archive.

    Raises UnsafeArchiveError for what an archive may not hold, UnsafePlaceError, and OSError.
    """
    links = []
    for folder, name, status in source.walk():
        relative = source.relative(folder, name)
        if stat.S_ISDIR(status.st_mode):
            _make_folder(destination / relative)
        elif stat.S_ISREG(status.st_mode):
            with folder.read_file(name) as content:
                executable = bool(status.st_mode & EXECUTABLE_BITS)
                write_file(destination / relative, content, executable)
        elif stat.S_ISLNK(status.st_mode):
            links.append((relative, folder.read_link(name)))
        else:
            raise UnsafeArchiveError(f"{relative} is neither file, folder nor link")
    make_links(destination, links)


def _copy_linked(member: tarfile.TarInfo, name: str, destination: Path, prefix: str) -> None:
    source = inside(member.linkname, prefix)
    if source is None or not (destination / source).is_file():
        raise UnsafeArchiveError(f"{member.name} links to {member.linkname}, which is not there")
    original = destination / source
    with original.open("rb") as content:
        write_file(destination / name, content, bool(original.stat().st_mode & EXECUTABLE_BITS))


def _stays_inside(name: str, target: str) -> bool:
    """Whether a link leads no higher than the root, and goes up before it goes down."""
    path = PurePosixPath(target)
    ups = path.parts.count("..")
    up_again = ".." in path.parts[ups:]
    return not path.is_absolute() and ups < len(PurePosixPath(name).parts) and not up_again


def _refuse_circle(path: Path) -> None:
    try:
        path.stat()
    except FileNotFoundError:
        return  # it leads to nothing: that harms nobody
    except OSError as error:
        raise UnsafeArchiveError(f"{path.name} leads in a circle") from error


def _make_folder(path: Path) -> None:
    """With those around it that are missing."""
    if path.is_dir():
        return
    _make_folder(path.parent)
    try:
        path.mkdir(exist_ok=True)
        path.chmod(0o755)
    except (FileExistsError, NotADirectoryError) as error:
        raise UnsafeArchiveError(f"{path.name} is there twice") from error
