"""Unpacking archives of others safely.

Only files, folders and links are made, all of them below the destination; links are made last, so
that nothing is ever written through one. Modes are 0755 and 0644 whatever the umask, because the
servers' user must read what root unpacked. (``tarfile``'s own filter is not in every Python 3.11.)
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import IO

EXECUTABLE_BITS = 0o111


class UnsafeArchiveError(Exception):
    """An archive that would write outside its destination, or holds what none should."""


def unpack_tar(archive: Path | IO[bytes], destination: Path, prefix: str = "") -> None:
    """Unpack what is below ``prefix`` in a tar archive, of any compression, without that prefix.

    Raises UnsafeArchiveError, and tarfile's, lzma's and zlib's errors where it is damaged.
    """
    links: list[tuple[str, str]] = []
    with _open(archive) as tar:
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


def _open(archive: Path | IO[bytes]) -> tarfile.TarFile:
    if isinstance(archive, Path):
        return tarfile.open(archive)
    return tarfile.open(fileobj=archive)


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
    """Write one new file; its folders are made."""
    _make_folder(path.parent)
    with path.open("xb") as stream:
        shutil.copyfileobj(content, stream, 1 << 20)
    path.chmod(0o755 if executable else 0o644)


def make_links(root: Path, links: Iterable[tuple[str, str]]) -> None:
    """Make symbolic links ``(path, target)``: the path below root, the target relative to it.

    Raises UnsafeArchiveError where a target is not inside root.
    """
    base = root.resolve()
    for name, target in links:
        path = root / name
        if PurePosixPath(target).is_absolute() or not _is_inside(path.parent / target, base):
            raise UnsafeArchiveError(f"{name} links to {target}, outside the folder")
        _make_folder(path.parent)
        path.symlink_to(target)


def _copy_linked(member: tarfile.TarInfo, name: str, destination: Path, prefix: str) -> None:
    source = inside(member.linkname, prefix)
    if source is None or not (destination / source).is_file():
        raise UnsafeArchiveError(f"{member.name} links to {member.linkname}, which is not there")
    original = destination / source
    with original.open("rb") as content:
        write_file(destination / name, content, bool(original.stat().st_mode & EXECUTABLE_BITS))


def _is_inside(path: Path, base: Path) -> bool:
    return path.resolve().is_relative_to(base)


def _make_folder(path: Path) -> None:
    _each_missing(path, lambda folder: folder.chmod(0o755))


def _each_missing(path: Path, made: Callable[[Path], None]) -> None:
    if path.is_dir():
        return
    _each_missing(path.parent, made)
    path.mkdir(exist_ok=True)
    made(path)
