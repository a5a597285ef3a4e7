"""Where the parts of a running cluster of this machine lie, and the files of a relation."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

import psycopg

from teiten.connections import first_value
from teiten.errors import ServerError
from teiten.execute.postgres.templates.linked import TABLESPACES as LINKS
from teiten.execute.postgres.templates.linked import WAL, linked_folders, written_links
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.model.storage import TABLESPACES, Part

RELATIONS = """
SELECT c.oid::regclass::text, c.relkind::text = 'i' AND n.nspname <> 'pg_toast',
       pg_relation_filepath(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm', 't', 'i') AND c.oid >= 16384
  AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND pg_relation_filepath(c.oid) IS NOT NULL
"""
"""All tables and indexes that are not the server's own; a TOAST table's index lies with it."""
TEMPORARY = "SELECT oid FROM pg_tablespace WHERE spcname = %s"
HINT = "another program has moved it; run again, and let the folders of teiten-… be"


def confirm_placement(
    connect: Callable[[], psycopg.Connection[Any]],
    data_directory: Path,
    expected: Mapping[Part, Path],
) -> dict[str, Any]:
    """By part: the folder, the number of its device, how many relations lie there.

    ``expected``: the folder that a part must be in. Raises ServerError for one that lies elsewhere.
    """
    located: list[tuple[Part, str, str]] = []
    with connect() as connection:
        for name, is_index, path in connection.execute(RELATIONS):
            located.append((Part.INDEXES if is_index else Part.TABLES, str(name), str(path)))
        row = connection.execute(TEMPORARY, (TABLESPACES[Part.TEMPORARY],)).fetchone()
    if row is None:
        raise ServerError(f"there is no tablespace {TABLESPACES[Part.TEMPORARY]}", HINT)
    located.append((Part.TEMPORARY, "temporary files", f"{LINKS}/{row[0]}"))
    counts: Counter[Part] = Counter()
    devices: dict[Part, int] = {}
    try:
        with ExitStack() as stack:
            data = stack.enter_context(HeldFolder.open_itself(data_directory))
            wal = next((name for name in WAL if data.status(name) is not None), WAL[0])
            located += [(Part.DATA, "the data directory", ""), (Part.WAL, "the WAL", wal)]
            links = {path.as_posix(): target for path, target in written_links(data)}
            held = {
                part: stack.enter_context(HeldFolder.open_itself(expected[part]))
                for part in dict.fromkeys(part for part, _, _ in located)
            }
            for part, name, path in located:
                counts[part] += 1
                devices[part] = _device(held[part], name, _place(data.path, links, path))
    except OSError as error:
        raise ServerError(f"a part of the cluster cannot be reached: {error}", HINT) from error
    return {
        part.value: {
            "folder": str(expected[part]),
            "device": f"{os.major(devices[part])}:{os.minor(devices[part])}",
            "files": counts[part],
        }
        for part in expected
        if part in devices
    }


def _place(data: Path, links: Mapping[str, str], path: str) -> Path:
    """Where a path of the server's leads by the links of its data directory, as they are written;
    nothing is looked at there."""
    parts = _parts(data, path)
    for length in (1, 2):
        target = links.get("/".join(parts[:length]))
        if target is not None:
            return _plain(data.joinpath(*parts[: length - 1], target, *parts[length:]))
    return _plain(data.joinpath(*parts))


def _device(wanted: HeldFolder, name: str, place: Path) -> int:
    """The number of the device of what lies at a place. Raises ServerError where that is not below
    the folder that is ``wanted``: whoever has the server in his hand may have named it, and would
    learn of files that are root's alone."""
    home = _plain(wanted.path)
    if not place.is_relative_to(home):
        raise ServerError(f"{name} lies in {place}, and not below {home}", HINT)
    parts = place.relative_to(home).parts
    if not parts:
        return wanted.device
    with wanted.below(parts[:-1]) as folder:
        status, path = folder.status(parts[-1]), folder.path / parts[-1]
    if status is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if stat.S_ISLNK(status.st_mode):
        raise UnsafePlaceError(path, "is a symbolic link")
    return status.st_dev


def _plain(path: Path) -> Path:
    """A path without ``..``, by its text alone."""
    return Path(os.path.normpath(path))


def _parts(data_directory: Path, path: str) -> tuple[str, ...]:
    """Split a path of the server's. Raises UnsafePlaceError where it leads out of the data
    directory."""
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts:
        raise UnsafePlaceError(data_directory / path, "is not in the data directory")
    return parts


WHERE = "SELECT pg_relation_filepath(%s::regclass)"


def path_of(connection: psycopg.Connection[Any], relation: str) -> str | None:
    """The first segment of a relation's main fork, as the server names it; None where it has no
    files (a partitioned table). ``relation``: as for regclass."""
    path: str | None = first_value(connection, WHERE, (relation,))
    return path


def segments(data_directory: Path, path: str) -> Iterator[IO[bytes]]:
    """Every segment of the main fork, in order, open for reading.

    Raises UnsafePlaceError for what is no plain file of the cluster's, and OSError.
    """
    parts = _parts(data_directory, path)
    with _held(data_directory, parts[:-1]) as folder:
        for number in itertools.count():
            name = parts[-1] if number == 0 else f"{parts[-1]}.{number}"
            with contextlib.suppress(FileNotFoundError), folder.read_file(name) as file:
                yield file
                continue
            return


@contextmanager
def _held(data_directory: Path, parts: tuple[str, ...]) -> Iterator[HeldFolder]:
    """A folder of a cluster; one of a tablespace stands in the cluster's own folder."""
    with ExitStack() as stack:
        folder = stack.enter_context(HeldFolder.open_itself(data_directory))
        if parts[:1] == (LINKS,):
            links = {link.path.as_posix(): link.folder for link in linked_folders(folder)}
            home = stack.enter_context(HeldFolder.open_itself(data_directory.parent))
            folder = stack.enter_context(home.inner(links["/".join(parts[:2])]))
            parts = parts[2:]
        yield stack.enter_context(folder.below(parts))
