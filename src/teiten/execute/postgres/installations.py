"""Which PostgreSQL installations this machine has, and which of them a study means by ``17``,
``18.4``, ``system:15``, a path or an alias; of one that is not here, only what can succeed is
suggested."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.binaries import BinaryCache, BrokenBinaryError, find_binary
from teiten.execute.postgres.inspection import (
    ExchangeableError,
    ProgramFolder,
    folder_of_programs,
    inspect_folder,
    inspect_managed,
    managed_folders,
    this_machine,
)
from teiten.execute.postgres.provision.obtain import CLIENTS, FIRST_MAJOR_OF_NPM
from teiten.execute.postgres.provision.version_requests import (
    PACKAGED,
    VersionRequest,
    parse_request,
)
from teiten.execute.postgres.provision.wheel import LISTED, SERVERS
from teiten.given_paths import expanded
from teiten.host.system.paths import Workdir
from teiten.host.system.users import is_root
from teiten.model.installation import Installation, Pgbench, Source
from teiten.suggest import did_you_mean


@dataclass(frozen=True)
class Findings:
    """The result of a search. ``broken``: in words, what is there but cannot be used."""

    installations: tuple[Installation, ...]
    broken: tuple[str, ...]


def find_installations(workdir: Workdir) -> tuple[Installation, ...]:
    """All installations of this machine, newest first; Teiten's own before others of a version."""
    return search(workdir, this_machine()).installations


def managed_installations(workdir: Workdir) -> list[Installation]:
    """Teiten's own, by name; damaged ones are left out."""
    return sorted(search(workdir, ()).installations, key=lambda installation: installation.name)


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
        path = str(installation.bin_directory)
        name = path if installation.name in taken else installation.name
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


def resolve(
    reference: str,
    installations: Sequence[Installation],
    aliases: Mapping[str, str] = {},
) -> Installation:
    """The installation that a reference names; it has a server.

    An alias comes first, then an installation's own name, a version, a path. Of a major version
    it is the newest that Teiten installed, or else the newest. Raises UsageError.
    """
    target = aliases.get(reference, reference).strip()
    servers = [server for server in installations if server.postgres is not None]
    for server in servers:
        if server.name == target:
            return server
    request = parse_request(target)
    if request is not None:
        fitting = [server for server in servers if request.accepts(server)]
        if not fitting:
            raise UsageError(
                f"no PostgreSQL {target!r} here.{_nearest(request, servers)} {_installed(servers)}",
                _where_to_get(request, servers),
            )
        return max(fitting, key=_preference)
    if _looks_like_path(target):
        return _at_path(expanded(target), servers)
    raise _unknown(reference, target, servers, aliases)


def _preference(server: Installation) -> tuple[object, ...]:
    """Rank servers: of two builds of a version, that of ``teiten pg install --build`` wins."""
    alike = server.name == f"{Source.BUILD}:{server.version}"
    return (server.managed, server.version, server.source is Source.NPM, alike, server.name)


def _looks_like_path(target: str) -> bool:
    separators = {os.sep, "/", os.altsep or "/"}
    return target.startswith(("~", ".")) or any(mark in target for mark in separators)


def _at_path(path: Path, servers: Sequence[Installation]) -> Installation:
    path = path.absolute()
    if not os.access(path, os.X_OK):  # neither a folder to enter nor a program to run
        raise UsageError(
            f"no such path, or one that may not be entered: {path}",
            "teiten pg list shows what is installed",
        )
    folder = path.parent if path.is_file() else path
    program = find_binary(folder, "postgres") or find_binary(folder / "bin", "postgres")
    if program is None:
        raise UsageError(
            f"no PostgreSQL server in {path}",
            "name the folder that has bin/postgres, or its bin, or the program postgres itself",
        )
    for server in servers:
        if server.postgres == program:
            return server
    try:
        installation = inspect_folder(program.parent, Source.NAMED)
    except ExchangeableError as error:
        raise UsageError(f"the PostgreSQL in {path} is not taken: {error}", error.hint) from error
    except BrokenBinaryError as error:
        raise UsageError(
            f"the PostgreSQL in {path} cannot be run: {error}",
            "run the program by hand to see why, or name another installation",
        ) from error
    return replace(installation, name=str(path))


NEWEST = frozenset({"latest", "newest", "current", "stable", "new"})
"""Words of other programs for a version that they choose."""
_UNRELEASED = re.compile(r"(?P<major>\d+)(devel|alpha|beta|rc)\d*")
_WITH_WORDS = re.compile(r"(?:pg|v|postgres(?:ql)?)[-_: ]?(?P<version>\d[\d.]*)|(?P<any>\d+)\.[x*]")


def _unknown(
    reference: str,
    target: str,
    servers: Sequence[Installation],
    aliases: Mapping[str, str],
) -> UsageError:
    """The error about a reference that is no version. ``target``: what it stands for."""
    known = [
        *aliases,
        *(server.name for server in servers),
        *(server.version.major for server in servers),
    ]
    hint, guess = _meant(target.lower(), servers), ""
    if hint is None:
        guess = did_you_mean(target, known)
        hint = (
            "a server is a version (17, 18.4), system:15, a path or an alias of the study; "
            "install one with: teiten pg install 17"
        )
    of = "" if reference.strip() == target else f" (server {reference})"
    return UsageError(f"no PostgreSQL {target!r}{of} here.{guess} {_installed(servers)}", hint)


def _where_to_get(request: VersionRequest, servers: Sequence[Installation]) -> str:
    if request.prefix in _OF_PREFIX:
        return _OF_PREFIX[request.prefix](request)
    if request.major not in PACKAGED:
        return (
            f"the packages known to Teiten hold {PACKAGED[0]} to {PACKAGED[-1]}; a source of your"
            f" own is built with: teiten pg install {request} --build --source …"
        )
    if request.prefix in CLIENTS:
        old = int(request.major.partition(".")[0]) < FIRST_MAJOR_OF_NPM
        client = "maven" if old else request.prefix
        return f"install it with: teiten pg install --client {client} {request}"
    alone = VersionRequest(request.major)
    newest = max((server.version for server in servers if alone.accepts(server)), default=None)
    if newest is not None:
        return (
            f"{request.major} is the newest of them that is installed ({newest}); whether"
            f" packages hold {request} is asked by: teiten pg install {request}"
        )
    return f"install it with: teiten pg install {request}"


def _of_wheels(request: VersionRequest) -> str:
    if any(request.accepts_version(server.version) for server in SERVERS):
        return f"install it with: teiten pg install wheel:{request}"
    return f"wheels hold {LISTED}"


_OF_PREFIX: Mapping[str | None, Callable[[VersionRequest], str]] = {
    "system": lambda _: "teiten pg list shows what is installed",
    "build": lambda request: f"build it with: teiten pg install {request} --build",
    "wheel": _of_wheels,
}


def _meant(target: str, servers: Sequence[Installation]) -> str | None:
    """Suggest what to type instead, of the forms that are given most."""
    if "," in target:
        return (
            "this names one server; two are separated by a space (teiten ab 17 18), and those of"
            " --servers by a comma without a space (--servers 17,18)"
        )
    if target in NEWEST:
        return _newest(servers)
    if _UNRELEASED.fullmatch(target):
        return (
            "no package holds what is not released; built from its source it has the name that you"
            f" give: teiten pg build {target} --source postgresql-{target}.tar.bz2"
        )
    return _number(target)


def _number(target: str) -> str | None:
    """Correct a reference that has a version's number in it, but not its form."""
    worded = _WITH_WORDS.fullmatch(target)
    if worded:
        return f"a version stands alone: {worded['version'] or worded['any']}"
    if target.isdecimal() and 0 < int(target) < FIRST_MAJOR_OF_NPM:
        return (
            "before 10 a major version has two numbers (9.6); the packages known to Teiten hold"
            f" {PACKAGED[0]} to {PACKAGED[-1]}"
        )
    fewer = target.rpartition(".")[0]
    return f"a version has fewer numbers: {fewer}" if parse_request(fewer) is not None else None


def _newest(servers: Sequence[Installation]) -> str:
    plain = [server for server in servers if VersionRequest(server.version.major).accepts(server)]
    if not plain:
        return f"name a version, and install it: teiten pg install {PACKAGED[-1]}"
    newest = max(server.version for server in plain)
    return f"name a version: the newest here is {newest}, so {newest.major}"


def _nearest(request: VersionRequest, servers: Sequence[Installation]) -> str:
    """Find the nearest server of the same major version: another major is another question."""
    same = [server for server in servers if server.version.major == request.major]
    if not same:
        return ""
    minor = same[0].version.number % 100 if request.minor is None else request.minor
    nearest = min(same, key=lambda server: abs(server.version.number % 100 - minor))
    return f" Did you mean {nearest.name!r}?"


def _installed(servers: Sequence[Installation]) -> str:
    if not servers:
        return "Nothing is installed."
    return f"Installed: {', '.join(server.name for server in servers)}."
