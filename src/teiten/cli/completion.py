"""Shell completion: names of studies, campaigns, servers and profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from teiten.host.system.paths import Workdir
    from teiten.model.installation import Installation

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def _offering(names: Callable[[click.Context], Iterable[str]]) -> Complete:
    """Offer those of the names that begin as what is typed."""

    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        return [name for name in names(context) if name.startswith(incomplete)]

    return complete


@_offering
def studies(_: click.Context) -> Iterable[str]:
    """The studies of the catalogue; files of one's own the shell completes itself."""
    from teiten.study.document import catalogue_names

    return catalogue_names()


@_offering
def campaigns(context: click.Context) -> Iterable[str]:
    """Campaigns of the working folder, the newest first, and ``last``."""
    return ("last", *reversed(_names(_workdir(context).campaigns)))


@_offering
def collections(_: click.Context) -> Iterable[str]:
    """The built-in collections."""
    from teiten.study.collection import collection_names

    return collection_names()


@_offering
def collections_begun(context: click.Context) -> Iterable[str]:
    """Collections that have begun in the working folder, and ``last``."""
    return ("last", *_names(_workdir(context).collections))


@_offering
def removable(context: click.Context) -> Iterable[str]:
    """The names of installations that Teiten made."""
    return [server.name for server in _installations(context) if server.managed]


@_offering
def installable(_: click.Context) -> Iterable[str]:
    """The versions that packages are known to hold, the newest first, and pgbench."""
    from teiten.execute.postgres.provision.install import PGBENCH
    from teiten.execute.postgres.provision.version_requests import PACKAGED
    from teiten.execute.postgres.provision.wheel import SERVERS

    wheels = sorted((server.version for server in SERVERS), reverse=True)
    return (*reversed(PACKAGED), *(f"wheel:{version}" for version in wheels), PGBENCH)


@_offering
def profiles(context: click.Context) -> Iterable[str]:
    """Profiles of the study that was given, or else those that every study of the catalogue has."""
    from teiten.errors import TeitenError
    from teiten.study.document import read_document

    study = context.params.get("study")
    try:
        own = tuple(read_document(study).tables.profiles) if isinstance(study, str) else ()
    except TeitenError:  # told when the study is read
        own = ()
    return own or ("quick", "standard", "published")


def servers(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The major versions of those that are installed, and each by its name; of a list its last."""
    from teiten.execute.postgres.provision.version_requests import ONLY_BY_PREFIX

    listed, comma, begun = incomplete.rpartition(",")
    here = [server for server in _installations(context) if server.postgres is not None]
    majors = [server.version.major for server in here if server.source not in ONLY_BY_PREFIX]
    known = dict.fromkeys((*majors, *(server.name for server in here)))
    return [f"{listed}{comma}{name}" for name in known if name.startswith(begun)]


def _installations(context: click.Context) -> tuple[Installation, ...]:
    from teiten.execute.postgres.installations import find_installations

    return find_installations(_workdir(context))


def _names(folder: Path) -> list[str]:
    return sorted(place.name for place in folder.iterdir()) if folder.is_dir() else []


def _workdir(context: click.Context) -> Workdir:
    from teiten.host.system.paths import Workdir, default_workdir

    return Workdir(Path(context.find_root().params.get("workdir") or default_workdir()))
