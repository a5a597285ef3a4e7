"""Load programs on this host: started, followed, their transaction logs counted, and ended."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from teiten.errors import TeitenError
from teiten.execute.client.log_folder import LogFiles, log_paths, new_log_folder
from teiten.execute.client.shell_commands import refuse_programs
from teiten.execute.postgres.beside import at_home
from teiten.execute.postgres.marker import Kind, mark, remove_marked
from teiten.execute.sites.remote.agent.forms import Message
from teiten.execute.sites.remote.agent.room import AgentFolder
from teiten.host.system import processes
from teiten.host.system.processes import Child
from teiten.host.system.signals import KILL

STOP_SECONDS = 5.0
READ_EVERY = 1.0
CHUNK = 1 << 20
ERRORS, OUTPUT, PASSWORDS = "errors", "output", "passwords"
LOG = "transactions"


class LogCounter:
    """Counts pgbench's log while it is written: how often each latency, in bounded disk space.

    Its memory grows with the number of different latencies (whole microseconds), not with that of
    the transactions.
    """

    def __init__(self, paths: list[Path]) -> None:
        self.counts: Counter[bytes] = Counter()
        self.error: str | None = None
        self._files = LogFiles(paths, self._count)
        self._last = 0.0

    def read(self, *, now: bool = False) -> None:
        """Take what is new, once a second at most."""
        if self.error is not None or (not now and time.monotonic() - self._last < READ_EVERY):
            return
        self._last = time.monotonic()
        try:
            self._files.read()
        except (OSError, ValueError, IndexError) as error:
            self.error = f"{type(error).__name__}: {error}"

    def close(self) -> None:
        self._files.close(delete=False)

    def _count(self, lines: bytes) -> None:
        self.counts.update(line.split(b" ", 3)[2] for line in lines.splitlines())


@dataclass
class ProgramRun:
    """One run of a program."""

    child: Child
    folder: Path
    log_folder: Path | None
    counter: LogCounter | None


class Loads:
    """Runs programs; each run in a private folder that goes with it."""

    def __init__(self, room: AgentFolder) -> None:
        self._room = room
        self._runs: dict[int, ProgramRun] = {}
        self._numbers = 0

    def start(  # noqa: PLR0917 - a request's values, by name
        self,
        program: str,
        arguments: list[str],
        library_path: str | None,
        environment: Mapping[str, str],
        files: list[list[str]],
        password_line: str | None,
        log: dict[str, Any] | None,
        as_server: bool,
    ) -> dict[str, Any]:
        """Start a program in a folder of its own; ``as_server``: as the servers' user, in
        its home.

        ``files``: name and text of each; ``password_line``: of pgpass, readable by us alone
        and gone with the run; ``log``: ``prefix``, ``threads``, and whether its folder can be
        ``chosen`` (pgbench 10).
        """
        for name, text in files:
            refuse_programs(name, text)
        folder = self._new_folder()
        log_folder = new_log_folder() if log and log["chosen"] else None
        given = dict(environment)
        try:
            for name, text in files:
                (folder / name).write_text(text, encoding="utf-8")
            if password_line is not None:
                given["PGPASSFILE"] = str(_private(folder / PASSWORDS, password_line))
            prefix = str((log_folder or folder) / LOG)
            with (
                (folder / OUTPUT).open("wb") as output,
                (folder / ERRORS).open("wb") as errors,
                at_home(environment) if as_server else nullcontext(folder) as where,
            ):
                process = processes.spawn(
                    [program, *_with_prefix(arguments, prefix)],
                    library_path=Path(library_path) if library_path else None,
                    environment=given,
                    user=self._room.user if as_server else None,
                    folder=where,
                    stdout=output,
                    stderr=errors,
                    death_signal=KILL,
                )
        except BaseException:
            _delete(folder, log_folder)
            raise
        counter = None
        if log is not None:
            own = log_folder or folder
            counter = LogCounter(log_paths(own, log["prefix"], process.pid, log["threads"]))
        self._numbers += 1
        self._runs[self._numbers] = ProgramRun(Child(process), folder, log_folder, counter)
        return {"run": self._numbers, "pid": process.pid}

    def poll(self, run: int, errors_from: int) -> Message:
        """Whether it goes on; standard error from there on is the payload."""
        load = self._runs[run]
        ended = load.child.ended()
        if load.counter is not None:
            load.counter.read(now=ended)
        with (load.folder / ERRORS).open("rb") as errors:
            errors.seek(errors_from)
            new = errors.read(CHUNK)
        code = load.child.process.returncode if ended else None
        state = {"ended": ended, "code": code, "cpu_seconds": load.child.cpu_seconds}
        return Message({"gives": state}, new)

    def stop(self, run: int) -> None:
        """End it with all that it started."""
        load = self._runs.get(run)
        if load is not None:
            _end(load)

    def collect(self, run: int) -> Message:
        """Read what a program that has ended leaves, and delete its folder: how often each latency
        (microseconds) was logged, None without a log; standard output is the payload."""
        load, latencies = self._runs[run], None
        if load.counter is not None:
            load.counter.read(now=True)
            counted = load.counter.counts.items()
            logged = {int(key): count for key, count in counted if key.lstrip(b"-").isdigit()}
            latencies = {
                "values": list(logged),
                "counts": list(logged.values()),
                "error": load.counter.error,
            }
        output = (load.folder / OUTPUT).read_bytes()
        self._remove(run)
        return Message({"gives": latencies}, output)

    def end(self) -> None:
        for load in self._runs.values():
            load.child.process.kill()
        for run in tuple(self._runs):
            with contextlib.suppress(Exception):
                self._remove(run)

    def _remove(self, run: int) -> None:
        load = self._runs.pop(run)
        _end(load)
        if load.counter is not None:
            load.counter.close()
        _delete(load.folder, load.log_folder)

    def _new_folder(self) -> Path:
        """Where the sweep looks, and nobody else does."""
        parent = self._room.workdir.clusters
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="load-", dir=parent))
        mark(folder, Kind.CLUSTER, "a run of pgbench")
        return folder


def _end(load: ProgramRun) -> None:
    if not load.child.ended():
        load.child.end(STOP_SECONDS)


def _delete(folder: Path, log_folder: Path | None) -> None:
    with contextlib.suppress(OSError, TeitenError):
        remove_marked(folder)
    if log_folder is not None:
        with contextlib.suppress(OSError):
            remove_marked(log_folder)


def _private(path: Path, text: str) -> Path:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    return path


def _with_prefix(arguments: list[str], prefix: str) -> list[str]:
    """The log's folder is chosen here."""
    option = "--log-prefix="
    return [option + prefix if word.startswith(option) else word for word in arguments]
