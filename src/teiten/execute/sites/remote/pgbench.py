"""pgbench on the client host, as a process of this machine: followed, and its log counted there."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from teiten.execute.sites.remote.hosts import Host
from teiten.kinds.pgbench.load.command import (
    LOG_PREFIX_OPTION_SINCE,
    PgbenchRun,
    log_prefix,
    script_file_name,
)
from teiten.execute.client.histogram import LatencyHistogram
from teiten.kinds.pgbench.load.process import ERRORS_FILE, OUTPUT_FILE, LogReader, PgbenchProcess
from teiten.execute.client.pgbench_log import LogSummary

LOOK_EVERY = 0.5
"""Seconds between two looks: each is a message to the client host."""
NEAR_THE_END = 0.05
"""The same from when the end is due, which the window of telemetry ends with."""


class RemoteChild:
    """A run of pgbench on a host; what it writes is copied into the run's folder here."""

    def __init__(
        self, host: Host, run: PgbenchRun, arguments: tuple[str, ...], password_line: str | None
    ) -> None:
        """Start it. Raises MachineError where it cannot be started."""
        self._host = host
        self._folder = run.folder
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in (OUTPUT_FILE, ERRORS_FILE):
            (self._folder / name).write_bytes(b"")
        script = None if run.script.builtin else [script_file_name(run.script), run.script.text]
        if script is not None:
            (self._folder / script[0]).write_text(script[1], encoding="utf-8")
        started = host.call(
            "loads.start",
            program=str(run.pgbench.path),
            arguments=list(arguments),
            library_path=str(run.pgbench.library_path) if run.pgbench.library_path else None,
            environment=dict(run.environment),
            script=script,
            password_line=password_line,
            log=_log(run),
        )
        self.pid: int = started["pid"]
        self.returncode: int | None = None
        self.cpu_seconds = 0.0
        self.latencies: dict[str, Any] | None = None
        """Of the log, once it has ended."""
        self._number: int = started["run"]
        self._position = 0
        self._looked = 0.0
        self._due = time.monotonic() + run.duration

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
            with (self._folder / ERRORS_FILE).open("ab") as errors:
                errors.write(new)
            self._position += len(new)
        return state, new

    def _take_end(self, state: dict[str, Any]) -> None:
        output = self._host.link.ask("loads.output", run=self._number)[1]
        (self._folder / OUTPUT_FILE).write_bytes(output)
        self.latencies = self._host.call("loads.latencies", run=self._number)
        self.cpu_seconds = float(state["cpu_seconds"])
        self._host.call("loads.remove", run=self._number)
        self.returncode = int(state["code"])


class RemoteLog:
    """The per-transaction log, which the client host has counted."""

    def __init__(self, child: RemoteChild) -> None:
        self._child = child
        self._summary: LogSummary | None = None
        self.histogram = LatencyHistogram()

    def stop(self) -> LogSummary:
        """The counts; pgbench must have ended."""
        if self._summary is None:
            self._summary = self._take(self._child.latencies)
        return self._summary

    def _take(self, found: dict[str, Any] | None) -> LogSummary:
        if found is None:
            return LogSummary(0, 0, 0, 0, 0, True, 0.0, "pgbench was cut off")
        self.histogram.record_counted(
            np.array(found["values"], dtype=np.int64), np.array(found["counts"], dtype=np.int64)
        )
        return LogSummary(
            counted=self.histogram.count,
            failed=found["failed"],
            skipped=found["skipped"],
            bytes_read=found["bytes_read"],
            peak_disk_bytes=found["peak"],
            space_given_back=found["punches"],
            cpu_seconds=found["cpu_seconds"],
            error=found["error"],
        )


class RemotePgbench(PgbenchProcess):
    """One run of pgbench on the client host."""

    def __init__(self, run: PgbenchRun, host: Host, password_line: str | None) -> None:
        super().__init__(run)
        self._host = host
        self._password_line = password_line
        self._remote: RemoteChild | None = None

    def _launch(self) -> RemoteChild:
        self._remote = RemoteChild(self._host, self.run, self._arguments, self._password_line)
        return self._remote

    def _read_log(self) -> LogReader:
        if self._remote is None:
            raise RuntimeError("pgbench was not started")
        return RemoteLog(self._remote)


def _log(run: PgbenchRun) -> dict[str, Any] | None:
    if run.log_sampling_rate is None:
        return None
    return {
        "prefix": log_prefix(run.pgbench.version),
        "threads": min(run.threads, run.clients),
        "chosen": run.pgbench.version >= LOG_PREFIX_OPTION_SINCE,
    }
