"""Runs pgbench against one server and turns everything that it says into numbers."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Protocol

from teiten.errors import WorkloadError
from teiten.execute.workload.child import Child, Running
from teiten.execute.workload.command import (
    PgbenchRun,
    benchmark_arguments,
    log_prefix,
    script_file_name,
    shown,
    transaction_log_folder,
    trial_arguments,
)
from teiten.execute.workload.followed import FollowedErrors
from teiten.execute.workload.histogram import LatencyHistogram
from teiten.execute.workload.pgbench_log import LogSummary, TransactionLogReader, log_paths
from teiten.execute.workload.pgbench_output import Progress, parse_summary
from teiten.execute.workload.pgbench_result import (
    PgbenchResult,
    log_metrics,
    log_problems,
    problems,
    script_error,
    script_is_wrong,
    summary_metrics,
)
from teiten.execute.workload.shell_commands import refuse_programs
from teiten.host import processes
from teiten.host.signals import KILL

__all__ = [
    "PgbenchProcess",
    "PgbenchResult",
    "PgbenchRun",
    "Progress",
    "try_script",
]

OUTPUT_FILE = "pgbench-output.txt"
ERRORS_FILE = "pgbench-errors.txt"
STOP_SECONDS = 5.0
"""How long pgbench may take to end after SIGTERM, before SIGKILL."""


class LogReader(Protocol):
    """What counts the per-transaction log."""

    @property
    def histogram(self) -> LatencyHistogram: ...
    def stop(self) -> LogSummary: ...


class PgbenchProcess:
    """One run of pgbench. Start it in the main thread: the kernel ends it with that thread."""

    def __init__(self, run: PgbenchRun) -> None:
        self.run = run
        self._arguments = benchmark_arguments(run)
        self._child: Running | None = None
        self._reader: LogReader | None = None
        self._log: LogSummary | None = None
        self._errors = FollowedErrors(run.folder / ERRORS_FILE)
        self._stopped: str | None = None
        self._result: PgbenchResult | None = None

    @property
    def command(self) -> str:
        return shown(self.run.pgbench, self._arguments)

    @property
    def pid(self) -> int:
        """Raises RuntimeError before ``start``."""
        return self._started.pid

    def start(self) -> None:
        """Write the script and start pgbench in the run's folder.

        Raises WorkloadError where pgbench cannot be started.
        """
        self._child = self._launch()
        if self.run.log_sampling_rate is not None:
            self._reader = self._read_log()

    def _launch(self) -> Running:
        return Child(_spawn(self.run, self._arguments))

    def _read_log(self) -> LogReader:
        paths = log_paths(
            transaction_log_folder(self.run),
            log_prefix(self.run.pgbench.version),
            self.pid,
            min(self.run.threads, self.run.clients),
        )
        reader = TransactionLogReader(paths, keep=self.run.keep_log)
        reader.start()
        return reader

    def poll(self) -> Progress | None:
        """The latest line of progress; None before the first one."""
        self._errors.follow()
        return self._errors.latest

    def is_running(self) -> bool:
        return not self._started.ended()

    def ended_within(self, seconds: float) -> bool:
        """Wait this long at most, and tell whether pgbench has ended."""
        return self._started.wait(seconds)

    def wait(self, timeout: float | None = None) -> PgbenchResult:
        """Wait for the end. After ``timeout`` seconds pgbench is stopped, which is a problem.

        Raises WorkloadError, with pgbench's own message, where the script or an option is wrong:
        pgbench failed before any transaction, and not for want of the server.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._started.wait(1.0):
            if deadline is not None and time.monotonic() >= deadline:
                self._end(f"stopped: it had not ended after {timeout:g} s")
        if self._result is None:
            self._result = self._collect()
        return self._result

    def stop(self) -> None:
        """End pgbench with all that it started, and its log's reader; nothing where it ended."""
        self._end("stopped")
        self._stop_reader()

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

    def _stop_reader(self) -> LogSummary | None:
        if self._log is None and self._reader is not None:
            self._log = self._reader.stop()
        return self._log

    def _collect(self) -> PgbenchResult:
        reader, log = self._reader, self._stop_reader()
        self._errors.finish()
        output = (self.run.folder / OUTPUT_FILE).read_text(encoding="utf-8", errors="replace")
        summary = parse_summary(output)
        exit_code = self._started.returncode
        if exit_code is None:
            raise RuntimeError("pgbench has not ended")
        lines = self._errors.lines()
        if self._stopped is None and script_is_wrong(exit_code, summary, lines):
            raise script_error(self.run, lines, self.command)
        metrics = summary_metrics(summary)
        if reader is not None and reader.histogram.count:
            metrics |= log_metrics(reader.histogram, self.run.log_sampling_rate or 1.0)
        return PgbenchResult(
            exit_code=exit_code,
            output=output,
            errors="\n".join(lines),
            command=self.command,
            metrics=metrics,
            series=self._errors.series(),
            cpu_seconds=self._started.cpu_seconds,
            problems=problems(exit_code, summary, lines, self._stopped)
            + log_problems(exit_code, summary, log, self.run.log_sampling_rate),
            statements=summary.statements,
            log=log,
            latencies=reader.histogram if reader is not None else None,
        )


Launch = Callable[[PgbenchRun, tuple[str, ...]], Running]
"""Starts pgbench with these arguments."""


def try_script(run: PgbenchRun, timeout: float = 60.0, launch: Launch | None = None) -> None:
    """Run one single transaction of the script, to find its errors before a campaign starts.

    Of ``run`` the clients, the duration and the log do not matter. ``launch``: None for this
    machine. Raises WorkloadError with pgbench's own message.
    """
    arguments = trial_arguments(run)
    child = Child(_spawn(run, arguments)) if launch is None else launch(run, arguments)
    try:
        ended = child.wait(timeout)
    finally:
        if not child.ended():
            child.end(0.1)
    command = shown(run.pgbench, arguments)
    if not ended:
        raise WorkloadError(
            f"script {run.script.name}: its first transaction had not ended after {timeout:g} s",
            f"see what it waits for, or make it shorter; it was tried with: {command}",
        )
    errors = (run.folder / ERRORS_FILE).read_text(encoding="utf-8", errors="replace")
    if child.returncode != 0:
        raise script_error(run, errors.splitlines(), command)


def _spawn(run: PgbenchRun, arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
    refuse_programs(run.script.name, run.script.text)
    run.folder.mkdir(parents=True, exist_ok=True)
    if not run.script.builtin:
        path = run.folder / script_file_name(run.script)
        path.write_text(run.script.text, encoding="utf-8")
    with _created(run.folder / OUTPUT_FILE) as output, _created(run.folder / ERRORS_FILE) as errors:
        try:
            return processes.spawn(
                (run.pgbench.path, *arguments),
                library_path=run.pgbench.library_path,
                environment=run.environment,
                folder=run.folder,
                stdout=output,
                stderr=errors,
                death_signal=KILL,
                cpus=run.cpus,
            )
        except OSError as error:
            raise WorkloadError(
                f"{run.pgbench.path} cannot be started: {error.strerror or error}",
                "check the installation with `teiten pg list`,"
                " or get pgbench with `teiten pg install`",
            ) from error


def _created(path: Path) -> IO[bytes]:
    return path.open("wb")
