"""Which installation a study means by ``17``, ``18.4``, ``system:15``, a path or an alias.

Messages about a server that is not here: only what can succeed is suggested.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from teiten.errors import UsageError
from teiten.execute.postgres.binaries import BinaryCache, BrokenBinaryError, find_binary
from teiten.execute.postgres.inspection import ExchangeableError, inspect_folder
from teiten.execute.postgres.provision.obtain import CLIENTS, FIRST_MAJOR_OF_NPM
from teiten.execute.postgres.provision.version_requests import (
    PACKAGED,
    VersionRequest,
    parse_request,
)
from teiten.execute.postgres.provision.wheel import SERVERS
from teiten.given_paths import expanded
from teiten.model.installation import Installation, Source
from teiten.suggest import did_you_mean


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
            raise no_version(request, target, servers)
        return max(fitting, key=_preference)
    if _looks_like_path(target):
        return _at_path(expanded(target), servers)
    raise unknown(reference, target, servers, aliases)


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
        installation = inspect_folder(program.parent, Source.NAMED, BinaryCache(None))
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


def no_version(request: VersionRequest, target: str, servers: Sequence[Installation]) -> UsageError:
    """Make the error about a version that no installation here has."""
    return UsageError(
        f"no PostgreSQL {target!r} here.{_nearest(request, servers)} {_installed(servers)}",
        _where_to_get(request, servers),
    )


def unknown(
    reference: str,
    target: str,
    servers: Sequence[Installation],
    aliases: Mapping[str, str],
) -> UsageError:
    """Make the error about a reference that is no version. ``target``: what it stands for."""
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
    newest = max(
        (server for server in servers if alone.accepts(server)), default=None, key=_version
    )
    if newest is not None:
        return (
            f"{request.major} is the newest of them that is installed ({newest.version}); whether"
            f" packages hold {request} is asked by: teiten pg install {request}"
        )
    return f"install it with: teiten pg install {request}"


def _of_wheels(request: VersionRequest) -> str:
    if any(request.accepts_version(server.version) for server in SERVERS):
        return f"install it with: teiten pg install wheel:{request}"
    there = ", ".join(f"wheel:{server}" for server in sorted(server.version for server in SERVERS))
    return f"wheels hold {there}"


_OF_PREFIX: Mapping[str | None, Callable[[VersionRequest], str]] = {
    "system": lambda _: "teiten pg list shows what is installed",
    "build": lambda request: f"build it with: teiten pg install {request} --build",
    "wheel": _of_wheels,
}


def _version(installation: Installation) -> int:
    return installation.version.number


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
    newest = max(plain, key=_version)
    return f"name a version: the newest here is {newest.version}, so {newest.version.major}"


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
