"""Building PostgreSQL: from a source and options to an installation with a name."""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import filelock

from teiten.errors import BuildError, UsageError
from teiten.execute.postgres.access import require_access
from teiten.execute.postgres.binaries import BrokenBinaryError
from teiten.execute.postgres.building.preparing import Prepared, builds_of, steps
from teiten.execute.postgres.building.relinking import (
    LinkCommand,
    find_link,
    forget_objects,
    keeping,
    link_again,
    write_command,
)
from teiten.execute.postgres.building.running import (
    BuildStep,
    CompileProgress,
    Watch,
    builds_at_once,
    ended_by,
    together,
)
from teiten.execute.postgres.building.sources import unpack
from teiten.execute.postgres.building.tree import BuildTree
from teiten.execute.postgres.inspection import (
    Receipt,
    folder_name,
    inspect_folder,
    inspect_managed,
    write_receipt,
)
from teiten.execute.postgres.installations import managed_installations
from teiten.execute.postgres.marker import remove_marked
from teiten.execute.postgres.provision.packages import Say
from teiten.execute.postgres.provision.staging import (
    check_server,
    exclusive,
    give_name,
    require_space,
    staged,
    writing,
)
from teiten.execute.postgres.provision.unpack import copy_tree
from teiten.execute.postgres.provision.version_requests import parse_request
from teiten.execute.postgres.sweep import sweep
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.model.build import BuildFacts
from teiten.model.installation import Installation, Source
from teiten.model.units import Seconds

LOG = "build.log"
KEPT_LOGS = 20
"""The number of logs of failed builds that are kept."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,59}")


def check_build_name(name: str) -> None:
    """Raise UsageError for a name that cannot be one of a server."""
    if _NAME.fullmatch(name) is None or parse_request(name) is not None or name == "pgbench":
        raise UsageError(
            f"{name!r} cannot name a build",
            "use letters, digits, '.', '-', '_' and '+', a letter or digit first, and no version"
            " number alone: teiten pg build o3-native --source …",
        )


def build_all(
    orders: Mapping[str, Prepared],
    workdir: Workdir,
    *,
    jobs: int,
    say: Say,
    watching: Callable[[str], Watch],
) -> list[Installation]:
    """Build them, as many at a time as the jobs allow, or take the installation that is the same
    build already; in the order of ``orders``, whose names were checked.

    ``watching``: who watches the build of a name. Raises UsageError for a name that is taken by
    another installation, BuildError where a source does not build, MachineError where the machine
    does not suffice. Whatever happens, only a whole and checked installation gets a name; where one
    fails the others are ended, and what was whole before stays.
    """
    with writing(), _one_at_a_time(workdir, say):
        own = managed_installations(workdir)
        there = {name: builds_of(own).get(order.key) for name, order in orders.items()}
        for name, present in there.items():
            if present is not None:
                _say_present(present, name, say)
        missing = {name: order for name, order in orders.items() if there[name] is None}
        for name in missing:
            _refuse_taken(name, own)
        if missing:
            there |= _build_missing(missing, workdir, jobs, say, watching)
        return [installation for installation in there.values() if installation is not None]


def _build_missing(
    missing: Mapping[str, Prepared],
    workdir: Workdir,
    jobs: int,
    say: Say,
    watching: Callable[[str], Watch],
) -> dict[str, Installation]:
    require_access(workdir.builds, server_user())
    at_once = builds_at_once(len(missing), jobs)
    sizes = sorted((order.needed_bytes for order in missing.values()), reverse=True)
    require_space(workdir.builds, "building", sum(sizes[:at_once]))
    jobs_each = max(1, jobs // at_once)
    for note in dict.fromkeys(note for order in missing.values() for note in order.tools.notes):
        say(note)
    for order in missing.values():
        say(f"building {order.described}, {jobs_each} jobs")
    several, ending = len(missing) > 1, threading.Event()
    buildings = [
        _Building(
            name, order, workdir, jobs_each,
            _saying(name, say) if several else say, ended_by(ending, watching(name)),
        )
        for name, order in missing.items()
    ]  # fmt: skip
    if several:
        made = together([building.build for building in buildings], ending, at_once)
    else:  # in this thread, which hears Ctrl-C wherever it is
        made = [buildings[0].build()]
    return dict(zip(missing, made, strict=True))


def _saying(name: str, say: Say) -> Say:
    return lambda text: say(f"{name}: {text}")


@dataclass(frozen=True)
class _Building:
    """One build on its way. What it watches may raise, and so end it."""

    name: str
    prepared: Prepared
    workdir: Workdir
    jobs: int
    say: Say
    watch: Watch

    @property
    def final(self) -> Path:
        return self.workdir.installations / folder_name(self.name)

    def build(self) -> Installation:
        begin, key = time.monotonic(), self.prepared.key[:12]
        with BuildTree.made(self.workdir, key, self.name, self.final, self.watch) as tree:
            self.say(f"unpacking {self.prepared.source.described}")
            unpack(self.prepared.source, tree.source)
            tree.give(self.prepared.described)
            progress = CompileProgress()
            for step in steps(self.prepared.spec, self.prepared.tools, tree, self.jobs):
                self._run(step, tree, progress)
            command = self._keep_objects(tree)
            seconds = Seconds(time.monotonic() - begin)
            installation = self._install(tree, seconds, command)
        self.say(f"built {installation.name} in {seconds:.0f} s, in {self.final}")
        return installation

    def _run(self, step: BuildStep, tree: BuildTree, progress: CompileProgress) -> None:
        compiler = {"CC": self.prepared.tools.compiler} if self.prepared.spec.meson else {}
        self.say(step.name)
        tree.run(step, tree.objects, progress, **compiler)

    def _keep_objects(self, tree: BuildTree) -> LinkCommand | None:
        """Pack what links the server again into what was installed; None where make's words are
        not understood, as meson's are not."""
        with tree.log.open(encoding="utf-8", errors="replace") as lines:
            command = find_link(lines)
        if command is not None:
            self._run(keeping(command, tree.objects, tree.installed), tree, CompileProgress())
        return command

    def _install(
        self, tree: BuildTree, seconds: Seconds, command: LinkCommand | None
    ) -> Installation:
        see = f"see {tree.log}"
        with exclusive(self.workdir):
            _refuse_taken(self.name, managed_installations(self.workdir))
            with staged(self.workdir) as staging:
                # so that the servers' user may read it, and has none of it open
                with tree.result("the build", see, see) as made:
                    copy_tree(made, staging)
                relink = None if command is None else self._relink_seconds(tree, staging, command)
                write_receipt(staging, self._receipt(tree, staging, seconds, relink))
                shutil.copyfile(tree.log, staging / LOG)
                give_name(staging, self.final)
        return inspect_managed(self.final)

    def _relink_seconds(
        self, tree: BuildTree, staging: Path, command: LinkCommand
    ) -> Seconds | None:
        """Link it in another order once: what that takes; None where it cannot be done, which
        is no failure of the build."""
        write_command(staging, command)
        folder = self.workdir.builds / f"linked-{self.prepared.key[:12]}-{os.getpid()}"
        try:
            made = link_again(
                _inspected(tree, staging), 1, folder, tree.user, lambda: self.watch("link", 0, 0)
            )
        except BuildError as error:
            self.say(f"its objects are not kept, because it cannot be linked again: {error}")
            forget_objects(staging)
            return None
        remove_marked(made.folder)
        return made.seconds

    def _receipt(
        self, tree: BuildTree, staging: Path, seconds: Seconds, relink: Seconds | None
    ) -> Receipt:
        prepared = self.prepared
        installation = _inspected(tree, staging)
        if installation.postgres is None or installation.initdb is None:
            raise BuildError("the build made no server with initdb", f"see {tree.log}")
        self.say("checking it with a throw-away cluster")
        # Its prefix is not yet there, so the libraries are named.
        version = check_server(
            replace(installation, library_path=staging / "lib"), self.workdir, tree.user
        )
        return Receipt(
            name=self.name,
            source=Source.BUILD,
            package=prepared.source.described,
            sha512=prepared.source.digest,
            server_version=version,
            build=BuildFacts(
                key=prepared.key,
                source=prepared.source.described,
                digest=prepared.source.digest,
                commit=prepared.source.commit,
                configure=prepared.tools.configure,
                cflags=prepared.spec.cflags,
                meson=prepared.spec.meson,
                compiler=prepared.tools.compiler_version,
                jobs=self.jobs,
                seconds=seconds,
                relink_seconds=relink,
            ),
        )


def _inspected(tree: BuildTree, staging: Path) -> Installation:
    try:
        return inspect_folder((staging / "bin").resolve(), Source.BUILD)
    except BrokenBinaryError as error:
        raise BuildError(f"what was built does not run: {error}", f"see {tree.log}") from error


@contextmanager
def _one_at_a_time(workdir: Workdir, say: Say) -> Iterator[None]:
    """The working folder's builds, ours alone; says where it has to wait."""
    workdir.prepare()
    lock = filelock.FileLock(workdir.builds / ".lock")
    try:
        held = lock.acquire(timeout=0)
    except filelock.Timeout:
        say("another Teiten builds here; waiting for it")
        held = lock.acquire()
    with held:
        _remove_left(workdir, say)
        yield


def _remove_left(workdir: Workdir, say: Say) -> None:
    """Remove what a Teiten that was killed left of its build, and the oldest logs."""
    for line in sweep(workdir):
        say(line)
    logs = sorted(workdir.builds.glob("*.log"), key=lambda path: path.stat().st_mtime)
    for log in logs[:-KEPT_LOGS]:
        log.unlink(missing_ok=True)


def _say_present(present: Installation, name: str, say: Say) -> None:
    if present.name == name:
        say(f"{name} is built already, from the same source with the same options and compiler")
    else:
        say(f"the same build is installed already as {present.name}")


def _refuse_taken(name: str, own: Iterable[Installation]) -> None:
    for installation in own:
        if name in (installation.name, folder_name(installation.name)):
            raise UsageError(
                f"there is another installation {installation.name},"
                f" in {installation.bin_directory.parent}",
                f"choose another name, or remove it first: teiten pg remove {installation.name}",
            )
