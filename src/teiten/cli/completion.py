"""Shell completion: names of studies, campaigns, servers and profiles."""

from __future__ import annotations

from pathlib import Path

import click


def studies(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """List the studies of the catalogue; files of one's own the shell completes itself."""
    del context, parameter
    from teiten.study.document import catalogue_names

    return [name for name in catalogue_names() if name.startswith(incomplete)]


def campaigns(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Those in the working folder, the newest first, and ``last``."""
    del parameter
    from teiten.host.system.paths import Workdir

    folder = Workdir(_root(context)).campaigns
    found = sorted((one.name for one in folder.iterdir()), reverse=True) if folder.is_dir() else []
    return [name for name in ("last", *found) if name.startswith(incomplete)]


def collections(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The built-in collections."""
    del context, parameter
    from teiten.study.collection import collection_names

    return [name for name in collection_names() if name.startswith(incomplete)]


def collections_begun(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Those that have begun in the working folder, and ``last``."""
    del parameter
    from teiten.host.system.paths import Workdir

    folder = Workdir(_root(context)).collections
    begun = sorted(place.name for place in folder.iterdir()) if folder.is_dir() else []
    return [name for name in ("last", *begun) if name.startswith(incomplete)]


def servers(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The major versions of those that are installed, and each by its name; of a list its last."""
    del parameter
    from teiten.execute.postgres.installations import find_installations
    from teiten.execute.postgres.provision.version_requests import ONLY_BY_PREFIX
    from teiten.host.system.paths import Workdir

    listed, comma, begun = incomplete.rpartition(",")
    found = [one for one in find_installations(Workdir(_root(context))) if one.postgres is not None]
    majors = [one.version.major for one in found if one.source not in ONLY_BY_PREFIX]
    known = dict.fromkeys((*majors, *(one.name for one in found)))
    return [f"{listed}{comma}{name}" for name in known if name.startswith(begun)]


def removable(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names of installations that Teiten made."""
    del parameter
    from teiten.execute.postgres.installations import find_installations
    from teiten.host.system.paths import Workdir

    found = find_installations(Workdir(_root(context)))
    return [one.name for one in found if one.managed and one.name.startswith(incomplete)]


def installable(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The versions that packages are known to hold, the newest first, and pgbench."""
    del context, parameter
    from teiten.execute.postgres.provision.removal import PGBENCH
    from teiten.execute.postgres.provision.version_requests import PACKAGED
    from teiten.execute.postgres.provision.wheel import SERVERS

    wheels = sorted((one.version for one in SERVERS), reverse=True)
    known = (*reversed(PACKAGED), *(f"wheel:{one}" for one in wheels), PGBENCH)
    return [name for name in known if name.startswith(incomplete)]


def profiles(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Those of the study that was given, or else those that every study of the catalogue has."""
    del parameter
    given = context.params.get("study")
    return [name for name in _profiles_of(given) if name.startswith(incomplete)]


def _profiles_of(study: object) -> tuple[str, ...]:
    from teiten.errors import TeitenError
    from teiten.study.document import read_document

    try:
        found = tuple(read_document(study).tables.profiles) if isinstance(study, str) else ()
    except TeitenError:  # told when the study is read
        found = ()
    return found or ("quick", "standard", "published")


def _root(context: click.Context) -> Path:
    from teiten.host.system.paths import default_workdir

    return Path(context.find_root().params.get("workdir") or default_workdir())
