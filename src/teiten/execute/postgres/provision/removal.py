"""Removing installations that Teiten made, and nothing else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from teiten.errors import UsageError
from teiten.execute.postgres.provision.staging import exclusive, managed_installations
from teiten.execute.postgres.provision.version_requests import parse_request
from teiten.host.system.paths import Workdir
from teiten.model.installation import Installation, Source
from teiten.suggest import did_you_mean

PGBENCH = "pgbench"


def remove(
    name: str,
    workdir: Workdir,
    others: Sequence[Installation] = (),
    check: Callable[[Installation, Path], None] = lambda _one, _folder: None,
) -> Installation:
    """Remove one of Teiten's own installations, named as ``teiten pg list`` does, or by version.

    ``others``: what else is on the machine, to say why it is not removed. ``check``: raises where
    the chosen one, and its folder, must stay. Raises UsageError.
    """
    with exclusive(workdir):
        own = managed_installations(workdir)
        chosen = _chosen(name, own)
        if chosen is None:
            raise _not_removable(name, own, others)
        folder = _folder(chosen, workdir)
        check(chosen, workdir.installations / folder)
        leaving = workdir.installations / f".removed-{folder}-{os.getpid()}"
        (workdir.installations / folder).rename(leaving)
        shutil.rmtree(leaving)
        return chosen


def _folder(installation: Installation, workdir: Workdir) -> str:
    """The name of the folder that the programs are in, however deep."""
    root = workdir.installations.resolve()
    return installation.bin_directory.relative_to(root).parts[0]


def _chosen(name: str, own: Sequence[Installation]) -> Installation | None:
    exact = [installation for installation in own if installation.name == name]
    if exact:
        return exact[0]
    request = parse_request(name)
    servers = [installation for installation in own if installation.postgres is not None]
    fitting = [
        installation
        for installation in servers
        if request is not None and request.accepts(installation)
    ]
    if name == PGBENCH:
        fitting = [
            installation
            for installation in own
            if installation.source is Source.WHEEL and installation.postgres is None
        ]
    if len(fitting) > 1:
        names = ", ".join(installation.name for installation in fitting)
        raise UsageError(
            f"{name!r} names several installations: {names}",
            "name the one to remove",
        )
    return fitting[0] if fitting else None


def _not_removable(
    name: str, own: Sequence[Installation], others: Sequence[Installation]
) -> UsageError:
    request = parse_request(name)
    for installation in others:
        named = name in (
            installation.name,
            str(installation.bin_directory),
            str(installation.bin_directory.parent),
        )
        if named or (request is not None and request.accepts(installation)):
            return UsageError(
                f"{installation.name} in {installation.bin_directory} was not installed by Teiten",
                "Teiten removes only its own; use what installed it",
            )
    guess = did_you_mean(name, [installation.name for installation in own])
    return UsageError(
        f"Teiten installed no PostgreSQL {name!r}.{guess}", "teiten pg list shows what is there"
    )
