"""The parts of a cluster that stand beside its data directory: tablespaces, and the WAL.

PostgreSQL reaches them by links in the data directory, which the servers' user can change; only a
folder in the cluster's own folder is known to be the cluster's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import ServerError
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.host.system.users import ServerUser

WAL = ("pg_wal", "pg_xlog")
TABLESPACES = "pg_tblspc"


@dataclass(frozen=True)
class LinkedFolder:
    """A part that stands beside the data directory."""

    path: Path
    """The link's own, in the data directory: ``pg_wal`` or ``pg_tblspc/16385``."""
    folder: str
    """To which it leads: a name in the cluster's folder."""


def linked_folders(data: HeldFolder) -> tuple[LinkedFolder, ...]:
    """The parts beside a data directory. Raises ServerError for one that is not a folder in the
    cluster's folder itself."""
    return tuple(_linked(data, path, target) for path, target in written_links(data))


def make_link(
    data: HeldFolder, link: LinkedFolder, user: ServerUser, place: Path | None = None
) -> None:
    """Make a link anew: to the folder of this name in ``place``, as initdb and CREATE TABLESPACE
    make it; else a relative one, so that the cluster's folder can be moved."""
    beside = os.path.join("..", *([".."] * (len(link.path.parts) - 1)), link.folder)  # noqa: PTH118
    target = beside if place is None else os.fspath(place / link.folder)
    if len(link.path.parts) == 1:
        data.link(link.path.name, target, user)
        return
    outer = str(link.path.parent)
    if data.status(outer) is None:
        data.make(outer).close()
    with data.inner(outer) as inner:
        inner.link(link.path.name, target, user)


def make_movable(data_directory: Path, user: ServerUser) -> None:
    """Make a stopped cluster's links relative, so that its folder can be given another name. Raises
    ServerError as ``linked_folders`` does."""
    with HeldFolder.open_itself(data_directory) as data:
        for link in linked_folders(data):
            make_link(data, link, user)


def written_links(data: HeldFolder) -> Iterator[tuple[Path, str]]:
    """Every link that PostgreSQL may have in a data directory, with what it says."""
    for name in WAL:
        status = data.status(name)
        if status is not None and stat.S_ISLNK(status.st_mode):
            yield Path(name), data.read_link(name)
    spaces = data.status(TABLESPACES)
    if spaces is None or not stat.S_ISDIR(spaces.st_mode):
        return
    with data.inner(TABLESPACES) as folder:
        for name, status in folder.entries():
            if stat.S_ISLNK(status.st_mode):
                yield Path(TABLESPACES, name), folder.read_link(name)


def _linked(data: HeldFolder, path: Path, target: str) -> LinkedFolder:
    home = data.path.parent
    folder = Path(os.path.normpath(data.path / path.parent / target))
    if folder.parent == home and folder != data.path:
        try:
            with HeldFolder.open(home) as held:
                held.inner(folder.name).close()
        except (OSError, UnsafePlaceError):
            pass
        else:
            return LinkedFolder(path, folder.name)
    raise ServerError(
        f"{data.path / path} leads to {target}: the cluster spreads over other folders",
        f"only tablespaces and a WAL folder in the cluster's own folder {home} can be cloned",
    )
