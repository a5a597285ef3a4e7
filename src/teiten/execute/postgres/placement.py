"""Where the parts of a running cluster of this machine lie, and the files of a relation."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

import psycopg

from teiten.connections import first_value
from teiten.errors import ServerError
from teiten.execute.postgres.templates.linked import TABLESPACES as LINKS
from teiten.execute.postgres.templates.linked import WAL, linked_folders
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
    located: list[tuple[Part, str, Path]] = [(Part.DATA, "the data directory", data_directory)]
    wal = next(data_directory / name for name in WAL if (data_directory / name).exists())
    located.append((Part.WAL, "the WAL", wal))
    with connect() as connection:
        for name, is_index, path in connection.execute(RELATIONS):
            part = Part.INDEXES if is_index else Part.TABLES
            located.append((part, str(name), data_directory / str(path)))
        row = connection.execute(TEMPORARY, (TABLESPACES[Part.TEMPORARY],)).fetchone()
    if row is None:
        raise ServerError(f"there is no tablespace {TABLESPACES[Part.TEMPORARY]}", HINT)
    located.append((Part.TEMPORARY, "temporary files", data_directory / LINKS / str(row[0])))
    counts: Counter[Part] = Counter()
    devices: dict[Part, int] = {}
    for part, name, path in located:
        real, wanted = path.resolve(), expected[part].resolve()
        if not real.is_relative_to(wanted):
            raise ServerError(f"{name} lies in {real}, and not below {wanted}", HINT)
        counts[part] += 1
        devices[part] = real.stat().st_dev
    return {
        part.value: {
            "folder": str(expected[part]),
            "device": f"{os.major(devices[part])}:{os.minor(devices[part])}",
            "files": counts[part],
        }
        for part in expected
        if part in devices
    }


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
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts:
        raise UnsafePlaceError(data_directory / path, "is not in the data directory")
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
        for part in parts:
            folder = stack.enter_context(folder.inner(part))
        yield folder
