"""The contract of an origin of sources.

Tarballs that were downloaded, kept as packages are: building again needs no network.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from teiten.execute.postgres.building.sources import SourceCode, find_source
from teiten.execute.postgres.provision.packages import Package, newest_kept
from teiten.execute.postgres.provision.version_requests import VersionRequest
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source, Version

_RELEASE = re.compile(r"\d+\.\d+(?:\.\d+)?")
_PRE_RELEASE = re.compile(r"(\d+)[~.]?(beta|rc)(\d+)", re.IGNORECASE)
"""``19beta1``; of Debian ``19~rc1``; of a tag ``19.RC1``."""
FINAL = (1, "", 0)


@dataclass(frozen=True, order=True)
class Release:
    """A release or pre-release, ordered as they were released: 19beta2, 19rc1, 19.0, 19.1."""

    version: Version
    stage: tuple[int, str, int] = FINAL
    """The stage of a pre-release: 0, ``beta`` or ``rc``, and its number."""

    def fits(self, request: VersionRequest) -> bool:
        """A pre-release may stand for its major version, and for no minor one."""
        final = self.stage == FINAL or request.minor is None
        return final and request.accepts_version(self.version)

    def __str__(self) -> str:
        _, kind, number = self.stage
        return f"{self.version.major}{kind}{number}" if kind else str(self.version)


class SourceOrigin(Protocol):
    """One way to sources."""

    def source(self, request: VersionRequest) -> SourceCode | None:
        """The newest release that fits; None where this way has none.

        Raises UsageError for what was named wrongly, MachineError where it cannot be had.
        """
        ...

    def lacking(self) -> str:
        """Say what this origin has instead: half a sentence."""
        ...


def release(text: str) -> Release | None:
    """Parse the number of a release or pre-release; None for a branch or anything else."""
    if _RELEASE.fullmatch(text):
        return Release(Version.parse(text))
    match = _PRE_RELEASE.fullmatch(text)
    if match is None:
        return None
    return Release(Version.parse(match[1]), (0, match[2].lower(), int(match[3])))


def of_package(version: Version) -> str:
    """A version of three numbers, as packages have it: ``17.6.0``."""
    text = str(version)
    return text if text.count(".") == 2 else f"{text}.0"


def kept(
    workdir: Workdir,
    request: VersionRequest,
    fits: Callable[[Package], bool] = lambda _package: True,
) -> SourceCode | None:
    """The newest kept tarball of a version, whole as it was downloaded."""
    package = newest_kept(
        workdir,
        Source.BUILD,
        lambda source: request.accepts_version(source.version.postgres) and fits(source),
    )
    return find_source(str(package.path)) if package is not None else None
