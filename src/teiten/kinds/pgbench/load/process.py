"""Runs pgbench against one server and turns everything that it says into numbers."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import astuple
from pathlib import Path

import numpy as np

from teiten.errors import WorkloadError
from teiten.execute.client.contract import Program, Running, Spawn, TransactionLog
from teiten.execute.client.here import ChildHere
from teiten.execute.client.shell_commands import refuse_programs
from teiten.kinds.pgbench.load.command import (
    PgbenchRun,
    benchmark_arguments,
    script_file_name,
    shown,
    transaction_log,
    trial_arguments,
)
from teiten.kinds.pgbench.load.output import (
    PgbenchResult,
    ProgressLine,
    log_metrics,
    log_problems,
    parse_progress,
    parse_summary,
    problems,
    script_error,
    script_is_wrong,
)
from teiten.kinds.pgbench.model import REHEARSAL
from teiten.model.study import Script
from teiten.model.trial import Series
from teiten.model.units import Seconds

OUTPUT_FILE = "pgbench-output.txt"
ERRORS_FILE = "pgbench-errors.txt"
STOP_SECONDS = 5.0
"""How long pgbench may take to end after SIGTERM, before SIGKILL."""
LOOK_EVERY = 0.2
"""Seconds between looks at the load's program and the servers while they run."""
GRACE = 60.0
"""Seconds that it may take beyond the planned ones: connecting, and its last transactions."""


class PgbenchProcess:
    """One run of pgbench. Start it in the main thread: the kernel ends it with that thread."""

    def __init__(self, run: PgbenchRun, spawn: Spawn = ChildHere) -> None:
        """``spawn``: where it is to run."""
        self.run = run
        self._spawn = spawn
        self._arguments = benchmark_arguments(run)
        self._command = shown(run.pgbench, self._arguments)
        self._child: Running | None = None
        self._errors = FollowedErrors(run.folder / ERRORS_FILE)
        self._stopped: str | None = None

    @property
    def pid(self) -> int:
        """Raises RuntimeError before ``start``."""
        return self._started.pid

    def start(self) -> None:
        """Write the script and start pgbench. Raises WorkloadError where that cannot be done."""
        self._child = self._spawn(_program(self.run, self._arguments, transaction_log(self.run)))

    def poll(self) -> ProgressLine | None:
        """The latest line of progress; None before the first one."""
        return self._errors.follow()

    def ended_within(self, seconds: float) -> bool:
        """Wait this long at most, and tell whether pgbench has ended."""
        return self._started.wait(seconds)

    def wait(self, timeout: float | None = None, *, waited: float = 0.0) -> PgbenchResult:
        """Wait for the end. After ``timeout`` seconds pgbench is stopped, which is a problem, whose
        words count ``waited`` seconds as well.

        Raises WorkloadError, with pgbench's own message, where the script or an option is wrong:
        pgbench failed before any transaction, and not for want of the server.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._started.wait(1.0):
            if deadline is not None and time.monotonic() >= deadline:
                self._end(f"stopped: it had not ended after {waited + (timeout or 0):.3g} s")
        return self._collect()

    def stop(self) -> None:
        """End pgbench with all that it started, and its log's reader; nothing where it ended."""
        self._end("stopped")
        if self._child is not None and self._child.log is not None:
            self._child.log.stop()

    @property
    def _started(self) -> Running:
        if self._child is None:
            raise RuntimeError("pgbench was not started")
        return self._child

    def _end(self, why: str) -> None:
        child = self._child
        if child is None or child.ended():
            return
        self._stopped = why
        child.end(STOP_SECONDS)

    def _collect(self) -> PgbenchResult:
        child, rate = self._started, self.run.log_sampling_rate
        reader, exit_code = child.log, child.returncode
        assert exit_code is not None, "pgbench has ended"
        log = None if reader is None else reader.stop()
        self._errors.finish()
        output = (self.run.folder / OUTPUT_FILE).read_text(encoding="utf-8", errors="replace")
        printed = parse_summary(output, reconnect=self.run.reconnect)
        lines = self._errors.lines()
        if self._stopped is None and script_is_wrong(exit_code, printed, lines):
            raise script_error(self.run, lines, self._command)
        logged = {}
        if reader is not None and reader.histogram.count:
            logged = log_metrics(reader.histogram, rate or 1.0)
        return PgbenchResult(
            output=output,
            command=self._command,
            metrics=printed | logged,
            series=self._errors.series(),
            cpu_seconds=child.cpu_seconds,
            problems=problems(exit_code, printed, lines, self._stopped)
            + log_problems(exit_code, printed, log, rate),
            latencies=None if reader is None else reader.histogram,
        )


def try_script(run: PgbenchRun, timeout: Seconds = REHEARSAL, spawn: Spawn = ChildHere) -> None:
    """Run one single transaction of the script, to find its errors before a campaign starts.
    Raises WorkloadError with pgbench's own message."""
    arguments = trial_arguments(run)
    child = spawn(_program(run, arguments, None))
    try:
        ended = child.wait(timeout)
    finally:
        if not child.ended():
            child.end(0.1)
    command = shown(run.pgbench, arguments)
    if not ended:
        raise too_long(run.script, timeout, f"; it was tried with: {command}")
    errors = (run.folder / ERRORS_FILE).read_text(encoding="utf-8", errors="replace")
    if child.returncode != 0:
        raise script_error(run, errors.splitlines(), command)


def too_long(script: Script, seconds: Seconds, more: str = "") -> WorkloadError:
    """A script whose first transaction has not ended."""
    return WorkloadError(
        f"script {script.name}: its first transaction had not ended after {seconds:g} s",
        f"see what it waits for, or make it shorter{more}",
    )


def _program(run: PgbenchRun, arguments: tuple[str, ...], log: TransactionLog | None) -> Program:
    refuse_programs(run.script.name, run.script.text)
    script = () if run.script.builtin else ((script_file_name(run.script), run.script.text),)
    return Program(
        name="pgbench",
        path=run.pgbench.path,
        arguments=arguments,
        folder=run.folder,
        output=OUTPUT_FILE,
        errors=ERRORS_FILE,
        due=run.duration,
        library_path=run.pgbench.library_path,
        environment=run.address.environment,
        password_line=run.address.password_line,
        files=script,
        cpus=run.cpus,
        log=log,
    )


CHUNK_BYTES = 1 << 16
KEPT_LINES = 200
"""Lines other than progress that are kept at the beginning, and again at the end: a script can
raise a warning per transaction. The file keeps them all."""
LINE_LIMIT = 2000
COLUMNS = ("tps", "latency_mean", "latency_stddev", "failed")
"""The columns of the progress, in the order of ``ProgressLine``, whose first field is the time."""


class FollowedErrors:
    """The progress lines as numbers, and the other lines, in bounded memory."""

    def __init__(self, path: Path) -> None:
        self.progress: list[ProgressLine] = []
        self._path = path
        self._position = 0
        self._partial = b""
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=KEPT_LINES)
        self._dropped = 0

    def follow(self) -> ProgressLine | None:
        """Take the lines that were completed since the last time; the latest one of progress."""
        if not self._path.exists():
            return None
        with self._path.open("rb") as file:
            file.seek(self._position)
            while chunk := file.read(CHUNK_BYTES):
                self._position += len(chunk)
                *complete, rest = (self._partial + chunk).split(b"\n")
                self._partial = rest[:LINE_LIMIT]
                for line in complete:
                    self._take(line)
        return self.progress[-1] if self.progress else None

    def finish(self) -> None:
        """Take the rest, with a last line that may be cut off."""
        self.follow()
        if self._partial:
            self._take(self._partial)
            self._partial = b""

    def lines(self) -> list[str]:
        """All lines but those of progress, cut in the middle where they are too many."""
        dropped = [f"[{self._dropped} lines left out]"] if self._dropped else []
        return [*self._first, *dropped, *self._last]

    def series(self) -> Series:
        """The progress as the series ``pgbench``: latencies in seconds, NaN where missing."""
        lines = np.array([astuple(line) for line in self.progress], np.float64)
        seconds, *columns = lines.reshape(-1, len(COLUMNS) + 1).T.copy()
        return Series("pgbench", seconds, dict(zip(COLUMNS, columns, strict=True)))

    def _take(self, raw: bytes) -> None:
        line = raw[:LINE_LIMIT].decode("utf-8", errors="replace").rstrip("\r")
        progress = parse_progress(line)
        if progress is not None:
            self.progress.append(progress)
        elif len(self._first) < KEPT_LINES:
            self._first.append(line)
        else:
            self._dropped += len(self._last) == KEPT_LINES
            self._last.append(line)
