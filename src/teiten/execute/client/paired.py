"""Load in paired transactions: the native generator (crates/pairs) as a process.

Each client has a connection to every server of the run. It runs its script on one and then on the
others, in random order, with the same random parameters. With one server it is a generator of the
classic load.

The options go to the process's standard input, so that no password stands in its arguments or in a
file; events come as lines of JSON, the pairs as an array in a file.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from teiten.errors import WorkloadError
from teiten.host.facts.native_part import GENERATOR, MODULE, require_pairs
from teiten.host.system.causes import raise_os_errors_as
from teiten.host.system.processes import Child, ending, own_python, spawn
from teiten.model.rows import VariableRows
from teiten.model.study import QueryMode, Script
from teiten.model.units import Seconds

PAIRS_FILE = "pairs.npy"
HEADER_BYTES = 256
"""Size of the header in the file of pairs (crates/pairs/src/record.rs)."""
EVENTS_FILE = "pairs-events.jsonl"
ERRORS_FILE = "pairs-errors.txt"
FOREVER = 1e9
"""Seconds."""
_OS_ERROR = re.compile(r" \(os error \d+\)")
STOP_SECONDS = 15.0
"""How long the generator may take to end after SIGTERM: its own patience, and its requests to
cancel; then SIGKILL."""
PROGRAM = f"""
import sys
sys.path.insert(0, sys.argv[1])
import {MODULE}
sys.exit({MODULE}.{GENERATOR}())
"""

Pairs = npt.NDArray[np.void]
"""For each pair ``start`` and ``latency`` (nanoseconds) and ``sqlstate`` by server, ``client``,
``script``, ``first`` (the server that was first) and ``position`` in its batch."""


@dataclass(frozen=True)
class PairedServer:
    """A server, and who its clients are."""

    host: str
    """A name or address, or the folder of a socket."""
    port: int
    user: str
    database: str
    password: str | None = field(default=None, repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Further settings of the sessions."""
    peer: int | None = None
    """The user (by number) who must own the server behind a socket; None for anyone."""
    require_auth: str | None = None
    """Which ways of authentication are allowed, as libpq's require_auth; None for all."""
    channel_binding: str | None = None
    """Whether channel binding is used, as libpq's channel_binding; None for its default."""
    address: str | None = None
    """The host's, where its name is not to be looked up."""
    encryption: Mapping[str, str] | None = None
    """``mode``, as libpq's sslmode; the files ``roots`` (or "system"), ``certificate`` and ``key``.
    None: in clear."""
    texts: tuple[str, ...] | None = None
    """The texts of the scripts where it runs others than those of the run: one for each."""

    @property
    def options(self) -> dict[str, Any]:
        """The server as the generator reads it."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class PairedRun:
    """The run that the generator is asked for."""

    servers: Sequence[PairedServer]
    """One, or those that take turns: eight at most."""
    scripts: Sequence[tuple[Script, int]]
    """Each with its weight."""
    clients: int
    protocol: QueryMode
    seed: int
    """The seed of random numbers, as pgbench's --random-seed."""
    folder: Path
    """For the pairs, the events and the errors; made where it is missing."""
    duration: Seconds | None = None
    pairs: int | None = None
    """Pairs (transactions, with one server) of each client."""
    threads: int | None = None
    """None for as many as processors, at most one for each client."""
    batch: int = 1
    """Transactions that a client runs on one server before it runs them on the next."""
    in_step: bool = False
    """All clients are on the same server at any time."""
    pin: bool = False
    """All servers' processes of a client run on one processor, the clients' in turn."""
    reconnect: bool = False
    """Each transaction has a connection of its own."""
    max_tries: int = 1
    continue_on_error: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables of the scripts, as pgbench's --define."""
    rows: VariableRows | None = None
    """Values of their variables, of which each transaction draws a row."""

    @property
    def options(self) -> str:
        """For the process, as JSON; with the passwords."""
        plain = ("duration", "pairs", "threads", "batch", "in_step", "max_tries")
        return json.dumps(
            {
                "servers": [server.options for server in self.servers],
                "scripts": [
                    {
                        "name": script.name,
                        "weight": weight,
                        **({} if script.builtin else {"text": script.text}),
                        **self._drawn,
                    }
                    for script, weight in self.scripts
                ],
                "clients": self.clients,
                "protocol": self.protocol.value,
                "seed": self.seed,
                "variables": dict(self.variables),
                "output": str(self.folder / PAIRS_FILE),
                "connections": self._connections,
                "continue_on_error": self.continue_on_error,
                **{name: getattr(self, name) for name in plain},
            }
        )

    @property
    def _connections(self) -> str:
        """The generator's word for whether they stay; those that do not cannot be pinned."""
        return "anew" if self.reconnect else "pinned" if self.pin else "stay"

    @property
    def _drawn(self) -> dict[str, Any]:
        """The rows as the protocol has values: in the statement, or beside it."""
        if self.rows is None:
            return {}
        simple = self.protocol is QueryMode.SIMPLE
        rows = self.rows.literals if simple else self.rows.rows
        return {"rows": {"names": self.rows.names, "rows": rows}}


@dataclass(frozen=True)
class PairedResult:
    """The result of a run."""

    summary: Mapping[str, Any]
    """The generator's own: why it ended, counts, failures by SQLSTATE, clients that aborted."""
    processes: Sequence[Sequence[int]]
    """For each client the servers' processes."""
    started: int
    """Nanoseconds since 1970 at the zero of the pairs' times."""
    pairs: Pairs
    cpu_seconds: float
    """CPU seconds of the generator."""


class PairedProcess:
    """A run of the generator. Start it in the main thread: the kernel ends it with that thread."""

    def __init__(self, run: PairedRun) -> None:
        self.run = run
        self._child: Child | None = None

    @property
    def pid(self) -> int:
        """Raises RuntimeError before ``start``."""
        return self._started.pid

    def start(self) -> None:
        """Start the generator. Raises MachineError where it is not built, WorkloadError where it
        cannot be started."""
        module = _module_folder()
        folder = self.run.folder
        folder.mkdir(parents=True, exist_ok=True)
        with (
            (folder / EVENTS_FILE).open("wb") as output,
            (folder / ERRORS_FILE).open("wb") as errors,
            raise_os_errors_as(
                "the generator of pairs cannot be started",
                "see whether Python's own program may be run here",
                WorkloadError,
            ),
        ):
            process = spawn(
                own_python("-I", "-c", PROGRAM, str(module)),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=errors,
            )
        self._child = Child(process)
        stdin = process.stdin
        if stdin is None:
            raise RuntimeError("the generator has no standard input")
        with contextlib.suppress(BrokenPipeError), stdin:  # it has ended, and says why
            stdin.write(self.run.options.encode())

    def ended_within(self, seconds: float) -> bool:
        """Wait this long at most, and tell whether the generator has ended."""
        return self._started.wait(seconds)

    def transactions(self) -> int:
        """How many pairs (with one server, transactions) are in the file so far."""
        path = self.run.folder / PAIRS_FILE
        written = path.stat().st_size - HEADER_BYTES if path.exists() else 0
        record = 21 * max(2, len(self.run.servers)) + 6  # crates/pairs/src/record.rs
        return max(0, written) // record

    def wait(self, timeout: float | None = None) -> PairedResult:
        """Wait for the end; after ``timeout`` seconds the generator is stopped.

        Raises WorkloadError with the generator's words where it ran nothing.
        """
        if not self._started.wait(FOREVER if timeout is None else timeout):
            self.stop()
        events = self.events()
        if "ended" not in events:
            errors = (self.run.folder / ERRORS_FILE).read_text(encoding="utf-8", errors="replace")
            reason = in_words(errors.strip()) or f"it {ending(self._started.returncode)}"
            raise WorkloadError(
                f"the generator of pairs has failed: {reason}",
                "see the script, and whether the servers take connections",
            )
        return PairedResult(
            summary=events["ended"],
            processes=events["connected"]["processes"],
            started=events["started"]["unix_ns"],
            pairs=np.load(self.run.folder / PAIRS_FILE, allow_pickle=False),
            cpu_seconds=self._started.cpu_seconds,
        )

    def stop(self) -> int:
        """End the generator in order: pairs under way are finished, or cancelled; nothing where it
        has ended, or was not started."""
        if self._child is None:
            return 0
        if not self._child.ended():
            self._child.end(STOP_SECONDS)
        return self._child.returncode or 0

    def events(self) -> dict[str, dict[str, Any]]:
        """Read what the generator has said so far, by event."""
        text = (self.run.folder / EVENTS_FILE).read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        return {line["event"]: line for line in lines}

    @property
    def _started(self) -> Child:
        if self._child is None:
            raise RuntimeError("the generator was not started")
        return self._child


def run_pairs(run: PairedRun, timeout: float | None = None) -> PairedResult:
    """Run to the end; nothing of it is left, however this returns."""
    process = PairedProcess(run)
    process.start()
    try:
        return process.wait(timeout)
    except BaseException:
        process.stop()
        raise


def _module_folder() -> Path:
    """Where the native module is. Raises MachineError where it is not built, or is older."""
    require_pairs()
    module = importlib.import_module(MODULE)
    folder = Path(str(module.__file__)).parent
    return folder.parent if hasattr(module, "__path__") else folder


def in_words(errors: str) -> str:
    """The generator's words without the numbers of the system's errors; 11 (EAGAIN) is what a wait
    for an answer ends with whose time is up."""
    timely = errors.replace(
        "Resource temporarily unavailable (os error 11)", "the server did not answer in time"
    )
    return _OS_ERROR.sub("", timely)
