"""Load programs on the client host, as processes of this machine: followed, and their logs counted
there."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from teiten.execute.client.contract import Program
from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.client.pgbench_log import LogSummary
from teiten.execute.sites.remote.hosts import Host
from teiten.execute.sites.remote.packages import Programs
from teiten.model.installation import Pgbench

LOOK_EVERY = 0.5
"""Seconds between two looks: each is a message to the client host."""
NEAR_THE_END = 0.05
"""Seconds between two looks from when the end is due, which ends the window of telemetry."""


class RemoteChild:
    """A program on a host; what it writes is copied into its folder here."""

    def __init__(self, host: Host, program: Program, *, as_server: bool = False) -> None:
        """Start it, perhaps as the servers' user. Raises MachineError where it cannot be
        started."""
        self._host = host
        self._program = program
        self._output = program.folder / program.output
        self._errors = program.folder / program.errors
        program.folder.mkdir(parents=True, exist_ok=True)
        for path in (self._output, self._errors):
            path.write_bytes(b"")
        for name, text in program.files:
            (program.folder / name).write_text(text, encoding="utf-8")
        started = host.call(
            "loads.start",
            program=str(program.path),
            arguments=list(program.arguments),
            library_path=str(program.library_path) if program.library_path else None,
            environment=dict(program.environment),
            files=[list(file) for file in program.files],
            password_line=program.password_line,
            log=program.log and program.log.form,
            as_server=as_server,
        )
        self.pid: int = started["pid"]
        self.returncode: int | None = None
        self.cpu_seconds = 0.0
        self._number: int = started["run"]
        self._position = 0
        self._looked = 0.0
        self._due = time.monotonic() + program.due
        self.log: RemoteLog | None = RemoteLog() if program.log is not None else None

    def ended(self) -> bool:
        """Whether it has ended; its outputs are complete here then. Raises HostLostError."""
        if self.returncode is None:
            self._looked = time.monotonic()
            state, new = self._poll()
            if state["ended"]:
                while new:
                    _, new = self._poll()
                self._take_end(state)
        return self.returncode is not None

    def wait(self, seconds: float) -> bool:
        """Wait this long at most; whether it has ended."""
        deadline = time.monotonic() + seconds
        while True:
            now = time.monotonic()
            every = LOOK_EVERY if now < self._due else NEAR_THE_END
            due = self.returncode is not None or now - self._looked >= every
            if due and self.ended():
                return True
            if now >= deadline:
                return False
            time.sleep(max(0.01, min(deadline - now, every)))

    def end(self, patience: float) -> None:
        """End it with all that it started."""
        del patience  # the agent has its own
        self._host.call("loads.stop", run=self._number)
        self.ended()

    def _poll(self) -> tuple[dict[str, Any], bytes]:
        state, new = self._host.link.ask("loads.poll", run=self._number, errors_from=self._position)
        if new:
            with self._errors.open("ab") as errors:
                errors.write(new)
            self._position += len(new)
        return state, new

    def _take_end(self, state: dict[str, Any]) -> None:
        self.returncode = int(state["code"])  # first: once collected, the agent knows it no longer
        latencies, output = self._host.link.ask("loads.collect", run=self._number)
        self._output.write_bytes(output)
        if self.log is not None:
            self.log.take(latencies)
        self.cpu_seconds = float(state["cpu_seconds"])


class RemoteLog:
    """The per-transaction log, which the client host has counted."""

    def __init__(self) -> None:
        self.histogram = LatencyHistogram()
        self._summary = LogSummary(0, "pgbench was cut off")

    def take(self, counted: dict[str, Any]) -> None:
        """Take the counts of a program that has ended."""
        self.histogram.record(
            np.array(counted["values"], dtype=np.int64), np.array(counted["counts"], dtype=np.int64)
        )
        self._summary = LogSummary(self.histogram.count, counted["error"])

    def stop(self) -> LogSummary:
        """The counts; pgbench must have ended."""
        return self._summary


class RemoteClient:
    """The client host."""

    log_folder = None
    """The host chooses it."""

    def __init__(self, host: Host, programs: Programs, cores: float) -> None:
        self._host, self._programs = host, programs
        self.cores: float | None = cores

    def pgbench(self, ours: Pgbench) -> Pgbench:
        return self._programs.pgbench(ours)

    def spawn(self, program: Program) -> RemoteChild:
        return RemoteChild(self._host, program)
