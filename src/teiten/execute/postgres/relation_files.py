"""The files of a relation in a cluster of this machine, opened without following any link."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

import psycopg

from teiten.execute.postgres.templates.linked import TABLESPACES, linked_folders
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError

WHERE = "SELECT pg_relation_filepath(%s::regclass)"


def path_of(connection: psycopg.Connection[Any], relation: str) -> str | None:
    """The first segment of a relation's main fork, as the server names it; None where it has no
    files (a partitioned table). ``relation``: as for regclass."""
    row = connection.execute(WHERE, (relation,)).fetchone()
    return None if row is None or row[0] is None else str(row[0])


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
        if parts[:1] == (TABLESPACES,):
            links = {link.path.as_posix(): link.folder for link in linked_folders(folder)}
            home = stack.enter_context(HeldFolder.open_itself(data_directory.parent))
            folder = stack.enter_context(home.inner(links["/".join(parts[:2])]))
            parts = parts[2:]
        for part in parts:
            folder = stack.enter_context(folder.inner(part))
        yield folder
