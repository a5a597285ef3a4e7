"""Builds of PostgreSQL from the command line, and those that a study needs."""

from __future__ import annotations

import hashlib
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from teiten.cli.campaign.attached import attach
from teiten.cli.console import Console
from teiten.cli.main import Session
from teiten.cli.plan.site import PlanningSite
from teiten.errors import UsageError
from teiten.execute.postgres.building.build import build_all, check_build_name
from teiten.execute.postgres.building.preparing import (
    Prepared,
    builds_of,
    foretold,
    foretold_seconds,
    origins_of,
    prepare_build,
    prepare_like,
    request_of,
    source_of,
)
from teiten.execute.postgres.building.running import Watch
from teiten.execute.postgres.building.sources import SourceCode
from teiten.execute.postgres.inspection import reported_build
from teiten.execute.postgres.installations import (
    find_installations,
    managed_installations,
    resolve,
)
from teiten.execute.postgres.provision.install import PGBENCH, install, install_pgbench
from teiten.host.cautions.builds import build_cautions
from teiten.host.facts.cpus import allowed_processors
from teiten.host.system.signals import one_interruption
from teiten.model.attached import is_address
from teiten.model.build import BuildSpec, PlannedBuild
from teiten.model.installation import Installation
from teiten.model.plan import Needs
from teiten.model.quantities import rough_duration
from teiten.model.study import SERVER, Study
from teiten.model.units import Bytes, Seconds
from teiten.report.texts import caution_text

LIKE_FLAGS = "-O2"
"""Compiler flags that PostgreSQL's configure takes by itself, and distributions build with."""
SHORT = 10
"""Digits of a commit in a name."""
PLAIN_EVERY = 30.0
"""Seconds between two lines of progress where there is no terminal."""


def spec_of(source: str, configure: Sequence[str], cflags: str | None, *, meson: bool) -> BuildSpec:
    """Specify the build that the flags ask for. Raises UsageError where options cannot be read."""
    options: list[str] = []
    for text in configure:
        try:
            options += shlex.split(text)
        except ValueError as error:
            raise UsageError(
                f"--configure {text}: {error}",
                "quote as for a shell: --configure \"CC='gcc -m64'\"",
            ) from error
    for option in options:
        if option.startswith(("--prefix", "CFLAGS=", "DESTDIR=", "-Dc_args", "-Dprefix")):
            raise UsageError(
                f"--configure {option}: this is Teiten's to set",
                "give compiler flags with --cflags; where it is installed follows from its name",
            )
    return BuildSpec(source, tuple(options), cflags, meson)


def build_one(
    session: Session, name: str, spec: BuildSpec, jobs: int | None = None
) -> Installation:
    """Build under a name, with progress; an installation that is the same build is returned."""
    check_build_name(name)
    return _build(session, {name: prepare_build(spec)}, jobs)[0]


def build_commit(
    session: Session, spec: BuildSpec, commit: str, jobs: int | None = None
) -> Installation:
    """Build a commit of the checkout that is the source of ``spec``; its name tells commit and
    options."""
    options = " ".join([*spec.configure, spec.cflags or "", "meson" if spec.meson else ""]).strip()
    tag = f"-{hashlib.sha256(options.encode()).hexdigest()[:4]}" if options else ""
    name = f"commit-{commit[:SHORT]}{tag}"
    return build_one(session, name, replace(spec, source=f"{spec.source}@{commit}"), jobs)


def _build(
    session: Session, orders: Mapping[str, Prepared], jobs: int | None = None
) -> list[Installation]:
    used = jobs or allowed_processors()
    about = Seconds(foretold_seconds(session.workdir, used) * len(orders))
    session.console.detail(f"building takes about {rough_duration(about)} here")
    with one_interruption(), _shown(session.console, about) as watching:
        made = build_all(
            orders, session.workdir, jobs=used, say=session.console.say, watching=watching
        )
    for built in made:
        if built.build is not None:
            reported, version = reported_build(built)
            for caution in build_cautions(built.name, built.build, reported, version):
                session.console.warn(*caution_text(caution, "en"))
    return made


@contextmanager
def _shown(console: Console, about: float) -> Iterator[Callable[[str], Watch]]:
    """Who watches the build of a name."""
    if console.draws:
        build, files = TextColumn("{task.fields[build]} {task.description}"), "{task.fields[files]}"
        columns = (build, BarColumn(), TextColumn(files), TimeElapsedColumn())
        with Progress(*columns, console=console.people, transient=True) as progress:
            yield lambda name: _bar(progress, name)
    else:
        begin = time.monotonic()
        yield lambda name: _lines(console, name, begin, about)


def _bar(progress: Progress, name: str) -> Watch:
    task = progress.add_task("", total=None, files="", build=name)

    def drawn(step: str, done: int, total: int) -> None:
        files = f"{done} of about {total} files" if total else ""
        progress.update(task, description=step, files=files, completed=done, total=total or None)

    return drawn


def _lines(console: Console, name: str, begin: float, about: float) -> Watch:
    last = begin

    def watch(step: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if total and now - last >= PLAIN_EVERY:
            last = now
            console.say(
                f"{name}: {step}: {done} of about {total} files, {rough_duration(now - begin)}"
                f" of about {rough_duration(max(about, now - begin))}"
            )

    return watch


def newest_server(session: Session) -> Installation:
    """The newest server here. Raises UsageError without one."""
    installations = find_installations(session.workdir)
    servers = [installation for installation in installations if installation.postgres is not None]
    if not servers:
        raise UsageError("there is no PostgreSQL server here", "install one: teiten pg install 18")
    return max(servers, key=lambda server: server.version)


class StudyServers:
    """The servers of a study: found here, built from source, or foretold where that comes later."""

    def __init__(
        self, session: Session, study: Study, site: PlanningSite, *, building: bool
    ) -> None:
        self._site = site
        self._session = session
        self._study = study
        self.planned: tuple[PlannedBuild, ...] = ()
        self._sources: dict[str, SourceCode] = {}
        self._built = {name: self._build(name, spec, building) for name, spec in study.builds}
        self.installations = find_installations(session.workdir)

    @cached_property
    def resolved(self) -> tuple[tuple[str, Installation], ...]:
        """Each level of the factor server with its installation. Raises UsageError."""
        aliases = dict(self._study.server_aliases)
        return tuple((level, self._resolve(level, aliases)) for level in self._study.levels(SERVER))

    def _resolve(self, level: str, aliases: Mapping[str, str]) -> Installation:
        named = aliases.get(level, level)
        if is_address(named):
            return attach(self._session, self._study, level, named)
        there = self._site.server(named)
        built = self._built.get(named)
        return there or built or resolve(level, self.installations, aliases)

    def with_builds(self, needs: Needs) -> Needs:
        """Add the builds, which come first, one after another, to what a campaign needs."""
        if not self.planned:
            return needs
        most = max(build.disk for build in self.planned)
        return replace(
            needs,
            seconds=Seconds(needs.seconds + sum(build.seconds for build in self.planned)),
            disk=Bytes(max(needs.disk, most)),
        )

    def _build(self, name: str, spec: BuildSpec, building: bool) -> Installation:
        session = self._session
        if spec.source is None:
            raise UsageError(
                f"the study {self._study.name} builds {name} from source, and none is named",
                "--source TARBALL, a folder, or GIT_CHECKOUT@REF (a tarball comes for example from:"
                " apt-get source postgresql-15)",
            )
        prepared = prepare_build(spec, self._sources.get(spec.source))
        self._sources[spec.source] = prepared.source
        present = builds_of(managed_installations(session.workdir)).get(prepared.key)
        if present is not None:
            return present
        full_name = f"{name}-{prepared.key[:8]}"
        if building:
            check_build_name(full_name)
            return _build(session, {full_name: prepared})[0]
        seconds = foretold_seconds(session.workdir, allowed_processors())
        described, disk = prepared.described, prepared.needed_bytes
        self.planned = (*self.planned, PlannedBuild(name, described, seconds, disk))
        return foretold(session.workdir, full_name, prepared)


OF_BUILDS = ("named", "mirror", "apt_sources", "configure", "cflags", "jobs")
OF_PACKAGES = ("client", "newest")
FLAGS = {"named": "--source", "apt_sources": "--apt-sources"}
"""Flags of the parameters whose flag is not their name."""


def installed(
    session: Session, versions: Sequence[str], given: Mapping[str, Any]
) -> list[Installation]:
    """``given``: the flags of the verb by the names of its parameters. Raises UsageError where some
    of them do not go together."""
    wrong = [name for name in (OF_PACKAGES if given["building"] else OF_BUILDS) if given[name]]
    if wrong:
        flag = FLAGS.get(wrong[0], f"--{wrong[0]}")
        raise UsageError(
            f"{flag} is {'for packages, not for --build' if given['building'] else 'for --build'}",
            f"leave {flag} out" if given["building"] else f"teiten pg install --build {flag} …",
        )
    say, workdir = session.console.say, session.workdir
    done = [install_pgbench(workdir, say=say)] if PGBENCH in versions else []
    servers = [version for version in versions if version != PGBENCH]
    if not given["building"]:
        how = {"client": given["client"], "newest": given["newest"], "say": say}
        return [*(install(version, workdir, **how) for version in servers), *done]
    spec = spec_of("", given["configure"], given["cflags"], meson=False)
    requests = [request_of(version) for version in servers]
    workdir.prepare()
    origins = origins_of(workdir, say, given["named"], given["mirror"], given["apt_sources"])
    code = [source_of(request, origins) for request in requests]
    orders = prepare_like(code, spec.configure, spec.cflags or LIKE_FLAGS)
    return [*_build(session, orders, given["jobs"]), *done]
