"""Servers of a benchmark's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from teiten.execute.postgres.cluster import Cluster
from teiten.host.system.users import server_user
from teiten.model.installation import Installation
from teiten.model.study import Setting


@contextmanager
def new_server(
    installation: Installation,
    folder: Path,
    settings: Sequence[Setting] = (),
    *,
    checksums: bool = False,
) -> Iterator[Cluster]:
    """A running server with a cluster of its own in a folder; nothing is left of it."""
    cluster = Cluster.create(
        installation,
        folder / "data",
        user=server_user(),
        checksums=checksums,
        log=folder / "server.log",
    )
    try:
        cluster.configure(settings)
        cluster.start()
        yield cluster
    finally:
        cluster.remove()


def newest(installations: Iterable[Installation]) -> Installation:
    """The first of those found, the newest first, that has a server."""
    return next(installed for installed in installations if installed.postgres is not None)
