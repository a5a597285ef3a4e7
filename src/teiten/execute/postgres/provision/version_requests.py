"""Versions as a person asks for them: ``17``, ``18.4``, ``9.6``, ``npm:17``, ``wheel:18``,
``system:15``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from teiten.model.installation import Installation, Source, Version

PREFIXES = {
    "system": frozenset({Source.SYSTEM, Source.PATH}),
    "npm": frozenset({Source.NPM}),
    "maven": frozenset({Source.MAVEN}),
    "wheel": frozenset({Source.WHEEL}),
    "build": frozenset({Source.BUILD}),
}
ONLY_BY_PREFIX = frozenset({Source.BUILD, Source.WHEEL})
"""A version alone never means one of these: a build has flags of its own, a wheel may lack
contrib."""
PACKAGED = ("9.6", *(str(major) for major in range(10, 19)))
"""Major versions that npm and Maven hold; what else they may have by now, they are asked."""
_FORM = re.compile(r"(?:(?P<prefix>[a-z]+):)?(?P<numbers>\d+(?:\.\d+){0,2})")


@dataclass(frozen=True)
class VersionRequest:
    """A major version, perhaps a minor one, perhaps from where."""

    major: str
    """``17``, or ``9.6`` for the versions before 10."""
    minor: int | None = None
    """None: the newest."""
    prefix: str | None = None
    """A key of PREFIXES."""

    def accepts_version(self, version: Version) -> bool:
        return version.major == self.major and self.minor in (None, version.number % 100)

    def accepts(self, installation: Installation) -> bool:
        """Whether an installation may stand for the request, those of ONLY_BY_PREFIX
        only where it names them."""
        sources = PREFIXES[self.prefix] if self.prefix else frozenset(Source) - ONLY_BY_PREFIX
        return self.accepts_version(installation.version) and installation.source in sources

    def __str__(self) -> str:
        return self.major if self.minor is None else f"{self.major}.{self.minor}"


def parse_request(text: str) -> VersionRequest | None:
    """Read a request; None where the text has not the form of one."""
    match = _FORM.fullmatch(text.strip())
    if match is None or (match["prefix"] is not None and match["prefix"] not in PREFIXES):
        return None
    numbers = match["numbers"].split(".")
    split = 2 if int(numbers[0]) < 10 else 1
    major, rest = ".".join(numbers[:split]), numbers[split:]
    if len(major.split(".")) < split or len(rest) > 1 or int(numbers[0]) == 0:
        return None
    return VersionRequest(major, int(rest[0]) if rest else None, match["prefix"])
