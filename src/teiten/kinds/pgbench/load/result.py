"""A pgbench run that ended: its numbers, and what was wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.errors import WorkloadError
from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.client.pgbench_log import LogSummary
from teiten.host.system.signals import KILL
from teiten.kinds.pgbench.load.command import PgbenchRun
from teiten.kinds.pgbench.load.output import Summary, all_errors, blames_connection, first_error
from teiten.kinds.pgbench.metrics import PERCENTILES
from teiten.model.trial import Problem, Series

ENDED_BY_SIGNAL = "ended by signal"
"""How the detail of such a problem begins."""
MICROSECONDS = 1e6
"""In a second."""


@dataclass(frozen=True)
class PgbenchResult:
    """A run that ended, in whatever way."""

    exit_code: int
    """Negative: the signal that ended it."""
    output: str
    errors: str
    """Standard error without the progress lines; a flood of lines is cut in its middle."""
    command: str
    """The command line, as it can be typed in the run's folder."""
    metrics: dict[str, float]
    series: Series
    cpu_seconds: float
    problems: tuple[Problem, ...]
    log: LogSummary | None = None
    latencies: LatencyHistogram | None = None
    """None without a log."""


def summary_metrics(summary: Summary) -> dict[str, float]:
    """The metrics that pgbench printed, by the names of ``model.metrics``."""
    found = {
        "tps": summary.tps,
        "transactions": summary.transactions,
        "failed_transactions": summary.failed,
        "latency_mean": summary.latency_mean,
        "latency_stddev": summary.latency_stddev,
        "measured_seconds": summary.measured_seconds,
        "connection_seconds": summary.connection_seconds,
        "retried_transactions": summary.retried,
        "retries": summary.retries,
    }
    return {name: float(value) for name, value in found.items() if value is not None}


def log_metrics(histogram: LatencyHistogram, rate: float) -> dict[str, float]:
    """Percentiles in seconds, the exact maximum, and which share of transactions they are of.

    From a log of all transactions also mean and standard deviation: pgbench prints whole
    microseconds, which for a mean of 40 µs are steps of 2.5 %, more than the δ of most studies.
    """
    found = {name: histogram.value_at(percent) / MICROSECONDS for name, percent in PERCENTILES}
    found |= {"latency_max": histogram.maximum / MICROSECONDS, "log_sampling_rate": rate}
    if rate >= 1:
        found["latency_mean"] = histogram.mean / MICROSECONDS
        found["latency_stddev"] = histogram.standard_deviation / MICROSECONDS
    return found


def script_is_wrong(exit_code: int, summary: Summary, lines: list[str]) -> bool:
    if exit_code <= 0 or summary.transactions:
        return False
    return first_error(lines) is not None and not blames_connection(lines)


def script_error(run: PgbenchRun, lines: list[str], command: str) -> WorkloadError:
    message = first_error(lines) or "\n".join(lines).strip() or "pgbench failed without a message"
    if blames_connection(lines):
        return WorkloadError(f"pgbench: {message}", f"see the server's log; it ran: {command}")
    return WorkloadError(
        f"script {run.script.name}: {message}",
        f"correct {run.script.name} (or pgbench_options) and try it alone:"
        f" cd {run.folder} && {command}",
    )


def problems(
    exit_code: int, summary: Summary, lines: list[str], stopped: str | None
) -> tuple[Problem, ...]:
    if stopped is not None:
        return (Problem("pgbench-failed", stopped),)
    if exit_code != 0:
        ending = f"exit code {exit_code}" if exit_code > 0 else _by_signal(-exit_code)
        return (Problem("pgbench-failed", "; ".join((ending, *all_errors(lines)[:3]))),)
    if not summary.transactions:
        return (Problem("pgbench-failed", "no transaction was completed"),)
    return ()


def _by_signal(number: int) -> str:
    """Nobody here has sent it: what we stop ourselves is told as that."""
    said = f"{ENDED_BY_SIGNAL} {number}"
    if number == KILL:
        return f"{said} (by another program, or by the kernel for lack of memory)"
    return said


def log_problems(
    exit_code: int, summary: Summary, log: LogSummary | None, rate: float | None
) -> tuple[Problem, ...]:
    if log is None:
        return ()
    if log.error is not None:
        detail = f"the transaction log could not be read: {log.error}"
        return (Problem("pgbench-failed", detail),)
    if exit_code == 0 and rate == 1 and log.counted != summary.transactions:
        # pgbench does not tell when it cannot write, for example on a full disk
        detail = f"the log has {log.counted} of {summary.transactions} transactions"
        return (Problem("pgbench-failed", detail),)
    return ()
