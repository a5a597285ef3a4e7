"""Which PostgreSQL installations this machine has, and which of them a name means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from teiten.errors import MachineError
from teiten.execute.postgres.binaries import BinaryCache, BrokenBinaryError
from teiten.execute.postgres.inspection import (
    ProgramFolder,
    folder_of_programs,
    inspect_folder,
    inspect_managed,
    this_machine,
)
from teiten.execute.postgres.provision.receipts import managed_folders
from teiten.execute.postgres.references import resolve
from teiten.host.system.paths import Workdir
from teiten.host.system.users import is_root
from teiten.model.installation import Installation, Pgbench

__all__ = [
    "Findings",
    "choose_pgbench",
    "find_installations",
    "resolve",
    "search",
    "with_pgbench",
]


@dataclass(frozen=True)
class Findings:
    """The result of a search. ``broken``: in words, what is there but cannot be used."""

    installations: tuple[Installation, ...]
    broken: tuple[str, ...]


def find_installations(workdir: Workdir) -> tuple[Installation, ...]:
    """All installations of this machine, newest first; Teiten's own before others of a version."""
    return search(workdir, this_machine()).installations


def search(workdir: Workdir, places: Sequence[ProgramFolder]) -> Findings:
    """Teiten's own installations, then those at ``places``; each folder of programs only once."""
    cache = BinaryCache(workdir.caches / "binaries.json")
    installations: dict[Path, Installation] = {}
    broken: list[str] = []
    for folder in managed_folders(workdir.installations):
        try:
            installation = inspect_managed(folder, cache)
        except (BrokenBinaryError, ValueError) as error:
            broken.append(str(error))
        else:
            installations[installation.bin_directory] = installation
    for place in places:
        bin_directory = folder_of_programs(place.folder)
        if bin_directory is None or bin_directory in installations:
            continue
        try:
            installations[bin_directory] = inspect_folder(bin_directory, place.source, cache)
        except BrokenBinaryError as error:
            broken.append(str(error))
    cache.save()
    return Findings(_with_unique_names(installations.values()), tuple(dict.fromkeys(broken)))


def with_pgbench(installations: Iterable[Installation]) -> list[Installation]:
    """Those whose pgbench may load servers. It runs as we do, and what a build made is the servers'
    user's: root takes none of a build."""
    return [
        installation
        for installation in installations
        if installation.pgbench is not None and not (is_root() and installation.build is not None)
    ]


def choose_pgbench(installations: Iterable[Installation]) -> Pgbench:
    """The newest pgbench; of two of one version the system's, which was built for it.

    One that was built from source loads servers only where there is no other: the flags of a build
    are for its server.
    """
    best = max(
        with_pgbench(installations),
        key=lambda installation: (
            installation.build is None,
            installation.version,
            not installation.managed,
            installation.name,
        ),
        default=None,
    )
    if best is None or best.pgbench is None:
        raise MachineError(
            "no pgbench: neither on PATH nor in an installation of PostgreSQL"
            + (" (that of a build is not run by root)" if is_root() else ""),
            "install it with: teiten pg install pgbench",
        )
    return Pgbench(best.pgbench, best.version, best.source, best.library_path)


def _with_unique_names(installations: Iterable[Installation]) -> tuple[Installation, ...]:
    """Newest first. A second one of a name is called by its path."""
    taken: set[str] = set()
    named = []
    for installation in sorted(installations, key=_rank):
        name = (
            installation.name if installation.name not in taken else str(installation.bin_directory)
        )
        taken.add(name)
        named.append(replace(installation, name=name))
    return tuple(named)


def _rank(installation: Installation) -> tuple[int, bool, bool, str]:
    return (
        -installation.version.number,
        installation.postgres is None,
        not installation.managed,
        str(installation.bin_directory),
    )
