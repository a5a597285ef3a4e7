"""Archives of pg_dump's where a script is meant, read by a program that whoever starts names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

BEGINNING = b"PGDMP"
"""The first bytes of ``pg_dump --format=custom``, and of the contents of ``--format=directory``
(pg_backup_archiver.c)."""
CONTENTS = "toc.dat"
"""The file that such a folder has."""
_readers: list[Callable[[Path], str]] = []


def read_archives_by(reader: Callable[[Path], str]) -> None:
    """Have archives read by ``reader``, which gives their SQL, or raises ValueError with a sentence
    for people."""
    _readers[:] = [reader]


def is_archive(path: Path) -> bool:
    """Whether a file or a folder is one. Raises OSError."""
    place = path / CONTENTS if path.is_dir() else path
    if not place.is_file():
        return False
    with place.open("rb") as file:
        return file.read(len(BEGINNING)) == BEGINNING


def sql_of(archive: Path) -> str:
    """Read an archive, each once in a run of this program. Raises OSError, and ValueError where
    nobody reads archives, or the reader cannot."""
    return _sql_of(archive, archive.stat().st_mtime_ns)


@cache
def _sql_of(archive: Path, changed: int) -> str:
    del changed
    if not _readers:
        raise ValueError(f"{archive} is an archive of pg_dump's, and no SQL")
    return _readers[0](archive)
