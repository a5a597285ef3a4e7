"""The folder in which the servers' user builds something, and the log of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from teiten.errors import BuildError, UsageError
from teiten.execute.postgres.building.running import (
    BuildStep,
    CompileProgress,
    EndedError,
    Watch,
    run_step,
)
from teiten.execute.postgres.inspection import folder_name
from teiten.execute.postgres.marker import Kind, mark, remove_marked
from teiten.execute.postgres.provision.unpack import UnsafeArchiveError
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user


class BuildTree:
    """A marked folder whose parts become the user's; what is in the folder itself stays what it
    is."""

    def __init__(self, folder: Path, prefix: Path, log: Path, watch: Watch) -> None:
        """``prefix``: where the installation will be; compiled in."""
        self.folder, self.prefix, self.log = folder, prefix, log
        self.user, self._watch = server_user(), watch
        self.source, self.objects = folder / "source", folder / "objects"
        self.home, self.destination = folder / "home", folder / "destination"
        """``DESTDIR``: below it the prefix, as if it were the root."""
        self.installed = self.destination.joinpath(*prefix.parts[1:])
        self._parts = (self.source, self.objects, self.destination, self.home)

    @classmethod
    @contextmanager
    def made(
        cls, workdir: Workdir, key: str, name: str, prefix: Path, watch: Watch
    ) -> Iterator[BuildTree]:
        """Make a tree, and remove it in the end; the log stays where the build has failed. ``key``,
        ``name``: of what is built."""
        folder = workdir.builds / f"tree-{key}-{os.getpid()}"
        tree = cls(folder, prefix, workdir.builds / f"{folder_name(name)}.log", watch)
        folder.mkdir(parents=True)
        try:
            mark(folder, Kind.BUILD, name)
            for part in (folder, *tree._parts):
                part.mkdir(exist_ok=True)
                part.chmod(0o755)
            yield tree
        except (KeyboardInterrupt, EndedError):
            tree.log.unlink(missing_ok=True)
            raise
        finally:
            with suppress(OSError, UsageError):
                remove_marked(folder)
        tree.log.unlink(missing_ok=True)

    def give(self, title: str) -> None:
        """Give the parts, with the source in them, to the user, and begin the log."""
        for part in self._parts:
            with HeldFolder.open_itself(part) as held:
                held.give_all(self.user)
        self.log.write_text(f"{title}\n", encoding="utf-8")
        self.log.chmod(0o644)

    def run(
        self, step: BuildStep, folder: Path, progress: CompileProgress, **environment: str
    ) -> None:
        """Run a command in one of the parts. Raises as ``run_step``."""
        home = str(self.home)
        run_step(
            step,
            folder=folder,
            log=self.log,
            user=self.user,
            progress=progress,
            watch=self._watch,
            environment={"HOME": home, "TMPDIR": home, **environment},
        )

    @contextmanager
    def result(self, builder: str, absent: str, unusable: str) -> Iterator[HeldFolder]:
        """Hold what was installed. Raises BuildError, with one of two hints, where it is absent, or
        holds what may not be copied."""
        try:
            with HeldFolder.open_itself(self.installed) as held:
                yield held
        except (FileNotFoundError, UnsafePlaceError) as error:
            raise BuildError(f"{builder} installed nothing in {self.prefix}", absent) from error
        except UnsafeArchiveError as error:
            raise BuildError(f"what was built is not usable: {error}", unusable) from error
