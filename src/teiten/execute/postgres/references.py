"""Which installation a study means by ``17``, ``18.4``, ``system:15``, a path or an alias."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from teiten.errors import UsageError
from teiten.execute.postgres.binaries import BinaryCache, BrokenBinaryError, find_binary
from teiten.execute.postgres.inspection import inspect_folder
from teiten.execute.postgres.missing import no_version, unknown
from teiten.execute.postgres.provision.version_requests import parse_request
from teiten.given_paths import expanded
from teiten.model.installation import Installation, Source


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
    except BrokenBinaryError as error:
        raise UsageError(
            f"the PostgreSQL in {path} cannot be run: {error}",
            "run the program by hand to see why, or name another installation",
        ) from error
    return replace(installation, name=str(path))
