"""Packages of PostgreSQL binaries: their names on this platform, and those kept for later.

A package is kept as its client made it, with a note beside it (``<file>.json``) that holds its
SHA-512; a file that does not agree with its note is never used.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from teiten.execute.postgres.binaries import hash_file
from teiten.execute.postgres.provision.clients import ClientOutput, PackageError
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source, Version

_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
_PROCESSORS = {
    "x86_64": ("x64", "amd64"),
    "amd64": ("x64", "amd64"),
    "aarch64": ("arm64", "arm64v8"),
    "arm64": ("arm64", "arm64v8"),
    "ppc64le": ("ppc64", "ppc64le"),
    "i686": ("ia32", "i386"),
    "i386": ("ia32", "i386"),
    "armv7l": ("arm", "arm32v7"),
}
"""npm's and Maven's names of a ``platform.machine()``."""
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-(alpha|beta|rc)?\.?(\d+))?")
_STAGES = {"alpha": 0, "beta": 1, "rc": 2, None: 3}


@dataclass(frozen=True)
class PackageVersion:
    """A package's version: PostgreSQL's, then the package's own revision.

    18.4.0-beta.17 (npm) and 10.15.0-1 (Maven) carry PostgreSQL 18.4 and 10.15.
    """

    text: str
    postgres: Version
    order: tuple[int, ...]
    """Grows with the version of PostgreSQL, then with the package's revision."""

    @classmethod
    def parse(cls, text: str) -> PackageVersion | None:
        match = _VERSION.fullmatch(text)
        if match is None:
            return None
        first, second, third = (int(match[group]) for group in (1, 2, 3))
        revision = (_STAGES[match[4]], int(match[5] or 0))
        return cls(text, Version.parse(text), (first, second, third, *revision))


@dataclass(frozen=True)
class Package:
    """A package file in the working folder's room for packages."""

    source: Source
    name: str
    """The client's name of it, with the version."""
    version: PackageVersion
    path: Path
    sha512: str


def platform_name(source: Source) -> str:
    """``linux-x64`` for npm, ``linux-amd64`` for Maven. Raises PackageError where there is none."""
    system, machine = _SYSTEMS.get(sys.platform), platform.machine().lower()
    if system is None or machine not in _PROCESSORS:
        raise PackageError(f"there are no packages for {sys.platform} on {machine}")
    return f"{system}-{_PROCESSORS[machine][0 if source is Source.NPM else 1]}"


def keep_package(workdir: Workdir, source: Source, name: str, version: str, file: Path) -> Package:
    """Move a downloaded file to the packages that are kept, with its note.

    The note is written first: a file that has one is complete, because it is moved in one step.
    """
    parsed = PackageVersion.parse(version)
    if parsed is None:
        raise PackageError(f"{name} has a version that is not PostgreSQL's: {version}")
    room = workdir.packages / source.value
    room.mkdir(parents=True, exist_ok=True)
    target = room / file.name
    sha512 = hash_file(file, "sha512")
    note = {"name": name, "version": version, "sha512": sha512}
    note_file = target.with_name(f"{target.name}.json")
    note_file.write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    file.replace(target)
    return Package(source, name, parsed, target, sha512)


def get_package(
    workdir: Workdir,
    source: Source,
    name: str,
    *,
    version: str,
    files: str,
    download: Callable[[Path], ClientOutput],
    doing: str,
) -> Package:
    """The package of this name: the kept one, else the file of the pattern ``files`` that
    ``download`` puts into a folder, by the command that ``doing`` names. Raises PackageError."""
    kept = newest_kept(workdir, source, lambda package: package.name == name)
    if kept is not None:
        return kept
    with tempfile.TemporaryDirectory(prefix=".get-", dir=workdir.packages) as temporary:
        done = download(Path(temporary))
        downloaded = list(Path(temporary).glob(files))
        if done.exit_code != 0 or len(downloaded) != 1:
            raise PackageError(f"{doing} {name} failed:\n{done.complaint()}")
        return keep_package(workdir, source, name, version, downloaded[0])


def newest_kept(
    workdir: Workdir, source: Source, fits: Callable[[Package], bool] | None = None
) -> Package | None:
    """The newest kept package that fits. One whose file was damaged counts as not there."""
    fitting = [package for package in _kept(workdir, source) if fits is None or fits(package)]
    for package in sorted(fitting, key=lambda kept: kept.version.order, reverse=True):
        if hash_file(package.path, "sha512") == package.sha512:
            return package
    return None


def _kept(workdir: Workdir, source: Source) -> Iterator[Package]:
    for note_file in sorted((workdir.packages / source.value).glob("*.json")):
        file = note_file.with_suffix("")
        try:
            note = json.loads(note_file.read_text(encoding="utf-8"))
            version = PackageVersion.parse(note["version"])
            name, sha512 = str(note["name"]), str(note["sha512"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if version is not None and file.is_file():
            yield Package(source, name, version, file, sha512)
