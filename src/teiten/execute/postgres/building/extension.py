"""A commit of an extension, built by PGXS into a copy of a server.

The copy is an installation as any other, with a key of its own: of the server's, the commit's tree
and the compiler. The server itself is never changed.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path

from teiten.errors import BuildError, MachineError, UsageError
from teiten.execute.postgres.access import require_access
from teiten.execute.postgres.building.preparing import builds_of
from teiten.execute.postgres.building.prerequisites import compiler_line
from teiten.execute.postgres.building.running import BuildStep, CompileProgress
from teiten.execute.postgres.building.sources import git, unpack_commit
from teiten.execute.postgres.building.tree import BuildTree
from teiten.execute.postgres.inspection import (
    Receipt,
    folder_name,
    inspect_folder,
    inspect_managed,
    write_receipt,
)
from teiten.execute.postgres.installations import managed_installations
from teiten.execute.postgres.modules import module_tools
from teiten.execute.postgres.provision.packages import Say
from teiten.execute.postgres.provision.staging import (
    check_server,
    exclusive,
    give_name,
    require_space,
    staged,
)
from teiten.execute.postgres.provision.unpack import UnsafeArchiveError, copy_tree
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.model.build import BuildFacts
from teiten.model.installation import Installation, Source
from teiten.model.units import Seconds

RECIPE = 1
"""Raise it when extensions are built in another way, so that old copies are not taken for the
same."""
DIGITS = 10
"""Digits of a commit in a name."""
WITH_PGXS = "a server with PGXS in one folder: teiten pg install {major} --build"


@dataclass(frozen=True)
class ExtensionCommit:
    """A commit of an extension's checkout."""

    checkout: Path
    commit: str
    """The whole hash."""

    @property
    def tree(self) -> str:
        """Git's hash of all that is in it."""
        return git(self.checkout, "rev-parse", f"{self.commit}^{{tree}}").strip()

    def name_on(self, server: Installation, key: str) -> str:
        """``fastcount-1a2b3c4d5e-on-18.4-0f1e``; the key tells servers of one version apart."""
        plain = re.sub(r"[^A-Za-z0-9._]", "-", self.checkout.name).lstrip("-._")
        commit = self.commit[:DIGITS]
        return f"{plain or 'extension'}-{commit}-on-{server.version}-{key[:4]}"


def with_extension(
    server: Installation, extension: ExtensionCommit, workdir: Workdir, *, jobs: int, say: Say
) -> Installation:
    """A copy of a server with a commit of an extension; one that is the same is returned.

    Raises UsageError for a server without PGXS, BuildError where the extension does not build.
    """
    tools = module_tools(server)
    if tools.pg_config is None:
        lacking = tools.lacking.en if tools.lacking else "it has no PGXS"
        raise UsageError(
            f"no extension can be built for {server.name}: {lacking}",
            WITH_PGXS.format(major=server.version.major),
        )
    key = _key(server, extension)
    present = builds_of(managed_installations(workdir)).get(key)
    if present is not None:
        say(f"{present.name} is built already")
        return present
    return _ExtensionBuilding(server, extension, key, workdir, tools.pg_config, jobs, say).build()


def _key(server: Installation, extension: ExtensionCommit) -> str:
    identity = {
        "recipe": RECIPE,
        "server": server.fingerprint if server.build is None else server.build.key,
        "extension": extension.tree,
        "compiler": compiler_line("cc"),
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class _ExtensionBuilding:
    server: Installation
    extension: ExtensionCommit
    key: str
    workdir: Workdir
    pg_config: Path
    jobs: int
    say: Say

    @property
    def name(self) -> str:
        return self.extension.name_on(self.server, self.key)

    @property
    def root(self) -> Path:
        """The folder of the server that is copied."""
        return self.server.bin_directory.parent

    def build(self) -> Installation:
        begin, workdir = time.monotonic(), self.workdir
        require_access(workdir.builds, server_user())
        key = self.extension.commit[:DIGITS]
        with BuildTree.made(workdir, key, self.name, self.root, lambda *_: None) as tree:
            self._compile(tree)
            seconds = Seconds(time.monotonic() - begin)
            with exclusive(workdir):
                installation = self._install(tree, seconds)
        self.say(f"built {self.name} in {seconds:.0f} s")
        return installation

    def _compile(self, tree: BuildTree) -> None:
        unpack_commit(self.extension.checkout, self.extension.commit, tree.source)
        if not (tree.source / "Makefile").is_file():
            raise UsageError(
                f"{self.extension.checkout} has no Makefile at {self.extension.commit[:DIGITS]}",
                "--extension names a checkout whose Makefile uses PGXS",
            )
        tree.give(self.name)
        self.say(f"building {self.name}")
        variables = (f"PG_CONFIG={self.pg_config}", "USE_PGXS=1", "with_llvm=no")
        for step in (
            BuildStep("compile", ("make", f"-j{self.jobs}", *variables), counts=True),
            BuildStep("install", ("make", "install", f"DESTDIR={tree.destination}", *variables)),
        ):
            tree.run(step, tree.source, CompileProgress())

    def _install(self, tree: BuildTree, seconds: Seconds) -> Installation:
        size = sum(path.lstat().st_size for path in self.root.rglob("*"))
        require_space(self.workdir.installations, f"installing {self.name}", 2 * size)
        with staged(self.workdir) as staging:
            self._copy(tree, staging)
            write_receipt(staging, self._receipt(staging, seconds))
            final = self.workdir.installations / folder_name(self.name)
            give_name(staging, final)
        return inspect_managed(final)

    def _copy(self, tree: BuildTree, staging: Path) -> None:
        """The server, and over it what the extension installs: libraries, scripts, programs of its
        own, but none in the place of the server's."""
        try:
            with HeldFolder.open_itself(self.root) as held:
                copy_tree(held, staging)
        except (UnsafeArchiveError, UnsafePlaceError) as error:
            raise MachineError(
                f"{self.root} cannot be copied: {error}",
                WITH_PGXS.format(major=self.server.version.major),
            ) from error
        programs = self.server.bin_directory.name
        absent = "its Makefile has to use PGXS of the PG_CONFIG that it is given"
        with tree.result("the extension", absent, "") as made:
            for folder, name, _ in made.walk():
                relative = Path(made.relative(folder, name))
                if not (staging / relative).is_file():
                    continue
                if relative.parts[0] == programs:
                    raise BuildError(
                        f"the extension installs {relative}, a program that the server has",
                        "an extension is measured on the server that it is built for: leave"
                        " the program out of its Makefile",
                    )
                (staging / relative).unlink()
            copy_tree(made, staging)

    def _receipt(self, staging: Path, seconds: Seconds) -> Receipt:
        programs = self.server.bin_directory.name
        copied = inspect_folder((staging / programs).resolve(), Source.BUILD)
        described = f"{self.extension.checkout} ({self.extension.commit[:12]})"
        of_server = self.server.build
        facts = BuildFacts(
            key=self.key,
            source=f"{described} on {self.server.name}",
            digest=self.extension.tree,
            commit=self.extension.commit,
            configure=of_server.configure if of_server else (),
            cflags=of_server.cflags if of_server else None,
            meson=False,
            compiler=compiler_line("cc"),
            jobs=self.jobs,
            seconds=seconds,
            relink_seconds=of_server.relink_seconds if of_server else None,
        )
        return Receipt(
            name=self.name,
            source=Source.BUILD,
            package=described,
            sha512=self.extension.tree,
            server_version=check_server(
                replace(copied, library_path=staging / "lib"), self.workdir, server_user()
            ),
            bin_directory=programs,
            build=facts,
        )
