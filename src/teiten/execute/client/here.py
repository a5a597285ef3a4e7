"""Load programs on this machine."""

from __future__ import annotations

import subprocess
from contextlib import nullcontext

from teiten.errors import WorkloadError
from teiten.execute.client.contract import LogReader, Program
from teiten.execute.client.log_folder import log_paths, new_log_folder
from teiten.execute.client.pgbench_log import TransactionLogReader
from teiten.execute.postgres.beside import at_home
from teiten.execute.postgres.marker import remove_marked
from teiten.host.system import processes
from teiten.host.system.causes import raise_os_errors_as
from teiten.host.system.processes import Child
from teiten.host.system.signals import KILL
from teiten.host.system.users import ServerUser
from teiten.model.installation import Pgbench


class ChildHere(Child):
    """A program of this machine, with the reader of its log. Start it in the main thread: the
    kernel ends it with that thread."""

    def __init__(self, program: Program, user: ServerUser | None = None) -> None:
        """Start it, as another ``user`` in the home that its environment names, and in no folder of
        ours. Raises WorkloadError where it cannot be started."""
        super().__init__(_started(program, user))
        self.log: LogReader | None = None
        if program.log is not None:
            paths = log_paths(program.log.folder, program.log.prefix, self.pid, program.log.threads)
            reader = TransactionLogReader(paths)
            reader.start()
            self.log = reader


class Here:
    """This machine as the client; ``close`` gives the log's folder back."""

    cores: float | None = None

    def __init__(self) -> None:
        self.log_folder = new_log_folder()

    def pgbench(self, ours: Pgbench) -> Pgbench:
        return ours

    def spawn(self, program: Program) -> ChildHere:
        return ChildHere(program)

    def close(self) -> None:
        if self.log_folder is not None:
            remove_marked(self.log_folder)
            self.log_folder = None


def _started(program: Program, user: ServerUser | None) -> subprocess.Popen[bytes]:
    folder = program.folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in program.files:
        (folder / name).write_text(text, encoding="utf-8")
    with (
        (folder / program.output).open("wb") as output,
        (folder / program.errors).open("wb") as errors,
        raise_os_errors_as(
            f"{program.path} cannot be started",
            "check the installation with `teiten pg list`, or get pgbench with `teiten pg install`",
            WorkloadError,
        ),
        nullcontext(folder) if user is None else at_home(program.environment) as where,
    ):
        return processes.spawn(
            (program.path, *program.arguments),
            library_path=program.library_path,
            environment=program.environment,
            user=user,
            folder=where,
            stdout=output,
            stderr=errors,
            death_signal=KILL,
            cpus=program.cpus,
            groups=program.groups,
        )
