"""The distribution's source packages, through apt: it knows the user's mirrors, proxies and keys.

What is built is the release that the package holds, without the distribution's patches.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import MachineError, UsageError, first_line
from teiten.execute.postgres.building.origins.contract import (
    Release,
    kept,
    of_package,
    release,
)
from teiten.execute.postgres.building.sources import SourceCode, find_source
from teiten.execute.postgres.provision.packages import (
    ClientOutput,
    PackageError,
    Say,
    find_client,
    get_package,
    run_client,
)
from teiten.execute.postgres.provision.version_requests import VersionRequest
from teiten.host.system.causes import raise_os_errors_as
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source

HINT = (
    "write a line 'deb-src MIRROR RELEASE main' for a release that has it into a file of yours, and"
    " name that with --apt-sources FILE; or name a tarball or a git checkout with --source"
)
GONE = (
    "the mirror's lists name a file that it does not hold: try again when it is up to date, or name"
    " a tarball or a git checkout with --source, or another release with --apt-sources FILE"
)
_STANZA = re.compile(r"^(Package|Version): (\S+)$", re.MULTILINE)
_UPSTREAM = re.compile(r"(?:\d+:)?([^-]+)(?:-.*)?")


@dataclass(frozen=True)
class SourcePackage:
    """A source package of a release of PostgreSQL."""

    name: str
    """``postgresql-17``"""
    version: str
    """The distribution's: ``17.6-1``."""
    postgres: Release


class DistributionSources:
    """``apt-get source``. ``listed``: a file with deb-src lines that is read instead of the
    system's; its lists of packages are Teiten's own, and the system's stay as they are."""

    def __init__(self, workdir: Workdir, listed: Path | None, say: Say) -> None:
        self._workdir = workdir
        self._listed = listed
        self._say = say
        self._options: tuple[str, ...] | None = None
        self._listing: list[SourcePackage] = []
        """Packages that apt listed for the last request; ``lacking`` names them where none fits."""

    def source(self, request: VersionRequest) -> SourceCode | None:
        if request.minor is not None and (there := kept(self._workdir, request)) is not None:
            return there
        try:
            newest = self._newest(request)
            return self._get(newest) if newest is not None else None
        except PackageError as error:
            there = kept(self._workdir, request)
            if there is None:
                raise MachineError(
                    f"the source of PostgreSQL {request} cannot be had from the distribution:"
                    f" {error}",
                    hint_for(str(error)),
                ) from error
            self._say(f"{first_line(error)}; using the tarball kept in {there.path}")
            return there

    def lacking(self) -> str:
        where = f"--apt-sources {self._listed}" if self._listed else "the system's sources"
        there = ", ".join(f"{package.name} {package.version}" for package in self._listing)
        return f"apt has {there or 'no such source package'} in {where}"

    def _newest(self, request: VersionRequest) -> SourcePackage | None:
        name = f"postgresql-{request.major}"
        done = self._apt("apt-cache", "showsrc", "--only-source", name)
        if done.exit_code != 0 and "deb-src" in done.errors:
            raise PackageError("apt knows no source packages (there is no deb-src line)")
        self._listing = packages_in(done.output, name)
        fitting = [package for package in self._listing if package.postgres.fits(request)]
        return max(fitting, key=lambda package: package.postgres, default=None)

    def _get(self, package: SourcePackage) -> SourceCode:
        name = f"{package.name}={package.version}"

        def download(folder: Path) -> ClientOutput:
            self._say(f"getting the source of PostgreSQL {package.postgres} with apt-get ({name})")
            words = ("source", "--download-only", "--only-source", name)
            return self._apt("apt-get", *words, folder=folder)

        tarball = get_package(
            self._workdir, Source.BUILD, name, version=of_package(package.postgres.version),
            files="*.orig.tar.*[!c]", doing="apt-get source", download=download,
        )  # fmt: skip
        return find_source(str(tarball.path))

    def _apt(self, program: str, *words: str, folder: Path | None = None) -> ClientOutput:
        path = find_client(program)
        if self._options is None:
            self._options = self._own_lists() if self._listed is not None else ()
        return run_client([path, "-q", *self._options, *words], folder or self._workdir.packages)

    def _own_lists(self) -> tuple[str, ...]:
        """apt's options for lists of our own, brought up to date once."""
        assert self._listed is not None
        with raise_os_errors_as(f"--apt-sources {self._listed}", HINT, UsageError):
            content = self._listed.read_bytes()
        room = self._workdir.caches / f"apt-{hashlib.sha256(content).hexdigest()[:12]}"
        for folder in ("lists/partial", "archives/partial"):
            (room / folder).mkdir(parents=True, exist_ok=True)
        suffix = ".sources" if b"Types:" in content else ".list"
        own = room / f"teiten{suffix}"  # apt tells the two forms apart by the name
        own.write_bytes(content)
        options = [
            f"-oDir::Etc::SourceList={own}", "-oDir::Etc::SourceParts=-",
            f"-oDir::State::Lists={room / 'lists'}", f"-oDir::Cache={room}",
        ]  # fmt: skip
        self._say(f"asking apt for the source packages of {self._listed}")
        done = run_client([find_client("apt-get"), "-q", *options, "update"], room)
        if done.exit_code != 0:
            raise PackageError(f"apt-get update of {self._listed} failed:\n{done.complaint()}")
        return tuple(options)


def hint_for(complaint: str) -> str:
    """Choose the hint that helps against a complaint of apt's."""
    return GONE if re.search(r"\b404\b", complaint) else HINT


def packages_in(text: str, name: str) -> list[SourcePackage]:
    """Those of a name in the answer of ``apt-cache showsrc``."""
    packages, package = [], ""
    for key, value in _STANZA.findall(text):
        if key == "Package":
            package = value
            continue
        match = _UPSTREAM.fullmatch(value)
        postgres = release(match[1]) if match and package == name else None
        if postgres is not None:
            packages.append(SourcePackage(name, value, postgres))
    return packages
