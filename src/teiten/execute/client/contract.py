"""Load programs, and the place where they run, as loads need them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.client.pgbench_log import LogSummary
from teiten.model.installation import Pgbench
from teiten.model.units import Seconds


@dataclass(frozen=True)
class TransactionLog:
    """A log of pgbench's form, which is counted while the program writes it."""

    prefix: str
    """How the names of its files begin; the program's process id follows, and a thread's number."""
    threads: int
    """Each writes a file."""
    folder: Path
    """Where it is written by a program that runs here."""
    chosen: bool
    """The program can be told the folder, by ``--log-prefix``."""

    @property
    def form(self) -> dict[str, Any]:
        """Say what an agent needs to know of it."""
        return {"prefix": self.prefix, "threads": self.threads, "chosen": self.chosen}


@dataclass(frozen=True)
class Program:
    """A program that loads a server, and what it needs."""

    name: str
    """For messages and facts: ``pgbench``."""
    path: Path
    arguments: tuple[str, ...]
    folder: Path
    """Our folder, where its outputs are kept. It is made where it is missing."""
    output: str
    """The file of its standard output, in ``folder``."""
    errors: str
    """The file of its standard error, in ``folder``."""
    due: Seconds
    """When its end is expected, after its start."""
    library_path: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    password_line: str | None = field(default=None, repr=False)
    files: tuple[tuple[str, str], ...] = ()
    """Names and texts, in its working folder."""
    cpus: tuple[int, ...] = ()
    """The processors that it is pinned to; empty for all."""
    groups: tuple[Path, ...] = ()
    """Control groups of its host that it is a member of."""
    log: TransactionLog | None = None


class LogReader(Protocol):
    """The reader that counts a program's transaction log."""

    @property
    def histogram(self) -> LatencyHistogram: ...
    def stop(self) -> LogSummary:
        """Read what is left after the program's end."""


class Running(Protocol):
    """A program that was started, wherever it runs."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of all its threads, user and system; exact after its end."""

    @property
    def log(self) -> LogReader | None:
        """None where it writes none."""

    def ended(self) -> bool: ...
    def wait(self, seconds: float) -> bool:
        """Wait this long at most; whether it has ended."""

    def end(self, patience: float) -> None:
        """End it with all that it started: asked first, killed after ``patience`` seconds."""


Spawn = Callable[[Program], Running]
"""Starts a program. Raises WorkloadError, or MachineError, where it cannot be started."""


class Client(Protocol):
    """Where load programs run."""

    @property
    def cores(self) -> float | None:
        """Cores of its host; None for those of this machine that this process may use."""

    @property
    def log_folder(self) -> Path | None:
        """For transaction logs, in memory; None where they go into the program's folder, or where
        the host chooses."""

    def pgbench(self, ours: Pgbench) -> Pgbench:
        """The campaign's pgbench, as it is found there. Raises MachineError."""

    def spawn(self, program: Program) -> Running: ...
