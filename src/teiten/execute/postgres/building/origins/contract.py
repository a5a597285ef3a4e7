"""What gives the sources of versions."""

from __future__ import annotations

import re
from typing import Protocol

from teiten.execute.postgres.building.sources import SourceCode
from teiten.execute.postgres.provision.version_requests import VersionRequest
from teiten.model.installation import Version

RELEASE = re.compile(r"\d+\.\d+(?:\.\d+)?")
"""The number of a release; of a beta there is none."""


class SourceOrigin(Protocol):
    """One way to sources."""

    def source(self, request: VersionRequest) -> SourceCode | None:
        """The newest release that fits; None where this way has none.

        Raises UsageError for what was named wrongly, MachineError where it cannot be had.
        """
        ...

    def lacking(self) -> str:
        """What this way has instead, for a person: half a sentence."""
        ...


def release(text: str) -> Version | None:
    """The version of a release's number; None for a beta, a branch or anything else."""
    return Version.parse(text) if RELEASE.fullmatch(text) else None
