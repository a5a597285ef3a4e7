"""Like builds: several versions by one compiler with one set of options and flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from teiten.errors import UsageError
from teiten.execute.postgres.building.build import BuildOrder
from teiten.execute.postgres.building.origins.contract import SourceOrigin, release
from teiten.execute.postgres.building.origins.distribution import DistributionSources
from teiten.execute.postgres.building.origins.mirror import Mirror
from teiten.execute.postgres.building.origins.named import NamedSources
from teiten.execute.postgres.building.preparing import Prepared, prepare_build
from teiten.execute.postgres.building.prerequisites import ICU_BY_DEFAULT
from teiten.execute.postgres.building.sources import SourceCode
from teiten.execute.postgres.provision.staging import Say
from teiten.execute.postgres.provision.version_requests import VersionRequest, parse_request
from teiten.host.system.paths import Workdir
from teiten.model.build import BuildSpec
from teiten.model.installation import Source

ICU_SINCE = 10
"""Before, configure does not know it."""


@dataclass(frozen=True)
class Sources:
    """Where the sources come from; of several ways the first that has a version gives it."""

    named: tuple[str, ...] = ()
    """``--source``"""
    mirror: str | None = None
    apt_sources: Path | None = None
    """A file with deb-src lines; None: the system's, where nothing else is named."""

    def origins(self, workdir: Workdir, say: Say) -> list[SourceOrigin]:
        origins: list[SourceOrigin] = []
        if self.named:
            origins.append(NamedSources(self.named))
        if self.mirror is not None:
            origins.append(Mirror(workdir, self.mirror, say))
        if self.apt_sources is not None or not origins:
            origins.append(DistributionSources(workdir, self.apt_sources, say))
        return origins


def request_of(text: str) -> VersionRequest:
    """A version to be built. Raises UsageError."""
    request = parse_request(text)
    if request is None or request.prefix not in (None, Source.BUILD.value):
        raise UsageError(
            f"{text!r} cannot be built: it is no version of PostgreSQL",
            "name a major version (17) or a minor one (17.6); builds with names and flags of their"
            " own: teiten pg build",
        )
    return request


def find_sources(
    requests: Sequence[VersionRequest], origins: Sequence[SourceOrigin]
) -> list[SourceCode]:
    """A source for each. Raises UsageError where there is none for one of them."""
    return [_source(request, origins) for request in requests]


def prepare_like(
    sources: Sequence[SourceCode], configure: tuple[str, ...], cflags: str | None
) -> list[BuildOrder]:
    """One order for each source, all with the same compiler, options and flags.

    Raises UsageError and MachineError as ``prepare_build`` does.
    """
    prepared = [_prepared(source, configure, cflags) for source in sources]
    if _icu(prepared):
        prepared = [
            build if build.source.version.major_number >= ICU_BY_DEFAULT
            else _prepared(build.source, (*configure, "--with-icu"), cflags)
            for build in prepared
        ]  # fmt: skip
    return [BuildOrder(name_of(build.source), build) for build in prepared]


def name_of(source: SourceCode) -> str:
    """``build:17.6``, ``build:19rc1``"""
    return f"{Source.BUILD}:{release(source.version_text) or source.version}"


def _prepared(source: SourceCode, configure: tuple[str, ...], cflags: str | None) -> Prepared:
    return prepare_build(BuildSpec(source.described, configure, cflags), source)


def _icu(prepared: Sequence[Prepared]) -> bool:
    """Whether the newer ones have ICU by default, and an older one can be given it."""
    majors = [build.source.version.major_number for build in prepared]
    newer = [build for build in prepared if build.source.version.major_number >= ICU_BY_DEFAULT]
    decided = any(
        option.partition("=")[0] in ("--with-icu", "--without-icu")
        for build in newer
        for option in build.tools.configure
    )
    return bool(newer) and not decided and all(major >= ICU_SINCE for major in majors)


def _source(request: VersionRequest, origins: Sequence[SourceOrigin]) -> SourceCode:
    for origin in origins:
        source = origin.source(replace(request, prefix=None))
        if source is not None:
            return source
    raise UsageError(
        f"no source of PostgreSQL {request}: {'; '.join(origin.lacking() for origin in origins)}",
        "name a tarball, a tree or a git checkout with --source, a mirror with --mirror URL, or a"
        " file with deb-src lines with --apt-sources FILE",
    )
