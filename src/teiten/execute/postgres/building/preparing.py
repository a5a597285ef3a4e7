"""Builds before they are made: source, tools, key, duration and commands; and several versions
alike, by one compiler with one set of options and flags."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from teiten.errors import UsageError
from teiten.execute.postgres.building.origins.contract import SourceOrigin, release
from teiten.execute.postgres.building.origins.distribution import DistributionSources
from teiten.execute.postgres.building.origins.mirror import Mirror
from teiten.execute.postgres.building.origins.named import NamedSources
from teiten.execute.postgres.building.prerequisites import ICU_BY_DEFAULT, Tools, find_tools
from teiten.execute.postgres.building.running import BuildStep
from teiten.execute.postgres.building.sources import SourceCode, find_source
from teiten.execute.postgres.building.tree import BuildTree
from teiten.execute.postgres.inspection import WANTED, folder_name
from teiten.execute.postgres.installations import managed_installations
from teiten.execute.postgres.provision.packages import Say
from teiten.execute.postgres.provision.version_requests import VersionRequest, parse_request
from teiten.host.system.paths import Workdir
from teiten.model.build import BuildSpec
from teiten.model.installation import Installation, Source
from teiten.model.units import MIB, Bytes, Seconds

RECIPE = 1
"""Raise it when builds are made in another way, so that old ones are not taken for the same."""
OBJECTS = 500 * MIB
"""Bytes of objects and of what is installed (15.18 with LTO on x86-64: 140 MiB; several times that
with -g)."""
CPU_SECONDS = 360.0
"""Seconds of a core, where no build has been timed here yet (15.18, gcc 12, a small server)."""
ICU_SINCE = 10
"""Before, configure does not know it."""


@dataclass(frozen=True)
class Prepared:
    """A build of which everything is known but its result."""

    source: SourceCode
    spec: BuildSpec
    tools: Tools
    key: str

    @property
    def described(self) -> str:
        """For a person: version, source and options."""
        options = [*self.spec.configure]
        if self.spec.cflags is not None:
            options.append(f"CFLAGS={self.spec.cflags}")
        with_options = f" with {' '.join(options)}" if options else ""
        how = " by meson" if self.spec.meson else ""
        return (
            f"PostgreSQL {self.source.version_text} from {self.source.described}{how}{with_options}"
        )

    @property
    def needed_bytes(self) -> Bytes:
        """Disk while it runs: the source, its objects, and the installation."""
        return Bytes(self.source.bytes + OBJECTS)


def prepare_build(spec: BuildSpec, source: SourceCode | None = None) -> Prepared:
    """Look at source, if it was not found before, compiler and libraries. Raises UsageError and
    MachineError."""
    assert spec.source is not None
    source = source or find_source(spec.source)
    tools = find_tools(source, spec)
    return Prepared(source, spec, tools, build_key(source, spec, tools))


def builds_of(own: Iterable[Installation]) -> dict[str, Installation]:
    """The installations that were built, whatever their names, by the keys of their builds."""
    return {installation.build.key: installation for installation in own if installation.build}


def foretold_seconds(workdir: Workdir, jobs: int) -> Seconds:
    """Estimate the next build's duration from those here."""
    known = [own.build for own in managed_installations(workdir) if own.build is not None]
    processor_seconds = [build.seconds * build.jobs for build in known] or [CPU_SECONDS]
    return Seconds(fmean(processor_seconds) / jobs)


def foretold(workdir: Workdir, name: str, prepared: Prepared) -> Installation:
    """Describe a build before it is made: for a plan that starts nothing."""
    programs = workdir.installations / folder_name(name) / "bin"
    return Installation(
        name=name,
        version=prepared.source.version,
        source=Source.BUILD,
        bin_directory=programs,
        fingerprint=prepared.key,
        contrib=frozenset(WANTED),
        postgres=programs / "postgres",
        initdb=programs / "initdb",
        pgbench=programs / "pgbench",
        psql=programs / "psql",
        managed=True,
    )


def origins_of(
    workdir: Workdir,
    say: Say,
    named: Sequence[str],
    mirror: str | None = None,
    apt_sources: Path | None = None,
) -> list[SourceOrigin]:
    """Where sources come from; of several ways the first that has a version gives it.

    ``named``: of ``--source``. ``apt_sources``: a file with deb-src lines; None for the system's,
    where nothing else is named.
    """
    origins: list[SourceOrigin] = []
    if named:
        origins.append(NamedSources(named))
    if mirror is not None:
        origins.append(Mirror(workdir, mirror, say))
    if apt_sources is not None or not origins:
        origins.append(DistributionSources(workdir, apt_sources, say))
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
    return replace(request, prefix=None)


def source_of(request: VersionRequest, origins: Sequence[SourceOrigin]) -> SourceCode:
    """Raises UsageError where there is none."""
    for origin in origins:
        source = origin.source(request)
        if source is not None:
            return source
    raise UsageError(
        f"no source of PostgreSQL {request}: {'; '.join(origin.lacking() for origin in origins)}",
        "name a tarball, a tree or a git checkout with --source, a mirror with --mirror URL, or a"
        " file with deb-src lines with --apt-sources FILE",
    )


def prepare_like(
    sources: Sequence[SourceCode], configure: tuple[str, ...], cflags: str | None
) -> dict[str, Prepared]:
    """The builds of these sources by their names, all with the same compiler, options and flags.

    Raises UsageError and MachineError as ``prepare_build`` does.
    """

    def prepared(source: SourceCode, *further: str) -> Prepared:
        spec = BuildSpec(source.described, (*configure, *further), cflags)
        return prepare_build(spec, source)

    builds = [prepared(source) for source in sources]
    if _icu(builds):
        builds = [
            build if build.source.version.major_number >= ICU_BY_DEFAULT
            else prepared(build.source, "--with-icu")
            for build in builds
        ]  # fmt: skip
    return {name_of(build.source): build for build in builds}


def name_of(source: SourceCode) -> str:
    """``build:17.6``, ``build:19rc1``"""
    return f"{Source.BUILD}:{release(source.version_text) or source.version}"


def _icu(builds: Sequence[Prepared]) -> bool:
    """Whether the newer ones have ICU by default, and an older one can be given it."""
    majors = [build.source.version.major_number for build in builds]
    newer = [build for build in builds if build.source.version.major_number >= ICU_BY_DEFAULT]
    decided = any(
        option.partition("=")[0] in ("--with-icu", "--without-icu")
        for build in newer
        for option in build.tools.configure
    )
    return bool(newer) and not decided and all(major >= ICU_SINCE for major in majors)


def build_key(source: SourceCode, spec: BuildSpec, tools: Tools) -> str:
    """Hash what two equal builds have in common (SHA-256)."""
    identity = {
        "recipe": RECIPE,
        "source": source.digest,
        "configure": tools.configure,
        "cflags": spec.cflags,
        "meson": spec.meson,
        "compiler": tools.compiler_version,
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def steps(spec: BuildSpec, tools: Tools, tree: BuildTree, jobs: int) -> tuple[BuildStep, ...]:
    """The commands in order, run in the folder of the objects."""
    return _meson(spec, tools, tree, jobs) if spec.meson else _make(spec, tools, tree, jobs)


def _make(spec: BuildSpec, tools: Tools, tree: BuildTree, jobs: int) -> tuple[BuildStep, ...]:
    configure = [str(tree.source / "configure"), f"--prefix={tree.prefix}", *tools.configure]
    if not any(option.startswith("CC=") for option in tools.configure):
        configure.append(f"CC={tools.compiler}")
    if spec.cflags is not None:
        configure.append(f"CFLAGS={spec.cflags}")
    install = f"DESTDIR={tree.destination}"
    return (
        BuildStep("configure", tuple(configure)),
        BuildStep("compile", ("make", f"-j{jobs}"), counts=True),
        BuildStep("compile contrib", ("make", f"-j{jobs}", "-C", "contrib"), counts=True),
        BuildStep("install", ("make", "install", install)),
        BuildStep("install contrib", ("make", "-C", "contrib", "install", install)),
    )


def _meson(spec: BuildSpec, tools: Tools, tree: BuildTree, jobs: int) -> tuple[BuildStep, ...]:
    own = [option for option in tools.configure if not option.startswith("CC=")]
    setup = [
        "meson", "setup", f"--prefix={tree.prefix}", "--libdir=lib",
        "--auto-features=disabled", *own,
    ]  # fmt: skip
    if spec.cflags is not None:
        setup += [f"-Dc_args={spec.cflags}", f"-Dc_link_args={spec.cflags}"]
    return (
        BuildStep("configure", (*setup, str(tree.objects), str(tree.source))),
        BuildStep("compile", ("ninja", f"-j{jobs}"), counts=True),
        BuildStep("install", ("meson", "install", "--no-rebuild", f"--destdir={tree.destination}")),
    )
