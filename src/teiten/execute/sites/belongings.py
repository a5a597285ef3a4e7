"""Belongings that Teiten keeps and could make or get again: templates, packages, leftovers."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from teiten.execute.postgres.marker import folder_bytes, read_marker
from teiten.execute.postgres.sweep import left_folders, sweep
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.execute.sites.attached.databases import drop_left, notes
from teiten.host.system.paths import Workdir
from teiten.host.system.users import ServerUser
from teiten.model.units import Bytes


class BelongingKind(StrEnum):
    TEMPLATE = "template"
    """A filled cluster; built again when a campaign needs it."""
    PACKAGE = "package"
    """A downloaded package; needed to install without a network."""
    CLUSTER = "cluster"
    """Left by a Teiten that was killed."""
    DATABASE = "database"
    """On an attached server, left by a Teiten that was killed or could not reach it any more."""


@dataclass(frozen=True)
class Belonging:
    """Something that can be deleted. ``last_used``: seconds since the epoch."""

    kind: BelongingKind
    name: str
    path: Path
    bytes: Bytes
    last_used: float


def belongings(workdir: Workdir, user: ServerUser) -> tuple[Belonging, ...]:
    """All that can be deleted in a working folder, by kind, the longest unused first."""
    unsorted = [
        *_templates(workdir, user),
        *_packages(workdir),
        *_clusters(workdir),
        *_databases(workdir),
    ]
    order = list(BelongingKind)
    return tuple(
        sorted(unsorted, key=lambda belonging: (order.index(belonging.kind), belonging.last_used))
    )


def remove_belonging(belonging: Belonging, workdir: Workdir, user: ServerUser) -> bool:
    """Delete it; False where it is in use, or its owner does not let us.

    Raises ServerError for a database whose server does not let us drop it.
    """
    try:
        if belonging.kind is BelongingKind.TEMPLATE:
            return TemplateStore(workdir, user).remove(belonging.path.name)
        if belonging.kind is BelongingKind.PACKAGE:
            belonging.path.unlink(missing_ok=True)
            _note(belonging.path).unlink(missing_ok=True)
        elif belonging.kind is BelongingKind.DATABASE:
            drop_left(belonging.path)
        else:
            sweep(workdir)  # ends its server first; what belongs to a living Teiten stays
    except OSError:
        return False
    return not belonging.path.exists()


def _templates(workdir: Workdir, user: ServerUser) -> Iterator[Belonging]:
    for use in TemplateStore(workdir, user).usage():
        name = use.description or use.fingerprint[:12]
        yield Belonging(BelongingKind.TEMPLATE, name, use.path, use.bytes, use.last_used)


def _packages(workdir: Workdir) -> Iterator[Belonging]:
    """Only files with Teiten's note beside them (execute.postgres.provision.packages)."""
    for note in sorted(workdir.packages.glob("*/*.json")):
        file = note.with_suffix("")
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            json.loads(note.read_text(encoding="utf-8"))["sha512"]
            if file.is_symlink() or not file.is_file():
                continue
            status = file.stat()
            yield Belonging(
                BelongingKind.PACKAGE, file.name, file, Bytes(status.st_size), status.st_mtime
            )


def _clusters(workdir: Workdir) -> Iterator[Belonging]:
    for folder in left_folders(workdir):
        marker = read_marker(folder)
        if marker is not None:
            yield Belonging(
                BelongingKind.CLUSTER, folder.name, folder, folder_bytes(folder), marker.created
            )


def _databases(workdir: Workdir) -> Iterator[Belonging]:
    for path, note in notes(workdir.attached):
        name = f"{note.database} on {note.server} ({note.address})"
        yield Belonging(BelongingKind.DATABASE, name, path, Bytes(0), note.created)


def _note(package: Path) -> Path:
    return package.with_name(f"{package.name}.json")
