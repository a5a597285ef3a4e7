"""A pgbench run that ended: what it printed, its numbers, and what was wrong with it.

Formats are those of pgbench 9.6 to 18. Latencies are printed in milliseconds and returned in
seconds; NaN stands for what is not printed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from teiten.errors import WorkloadError
from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.client.pgbench_log import LogSummary
from teiten.host.system.signals import KILL
from teiten.kinds.pgbench.load.command import PgbenchRun
from teiten.kinds.pgbench.metrics import PERCENTILES
from teiten.model.trial import Problem, Series

_NUMBER = r"-?(?:[0-9.]+|nan|inf)"
_TPS = re.compile(rf"^tps = ({_NUMBER}) ?\(([^)]*)\)", re.MULTILINE | re.IGNORECASE)
_PROGRESS = re.compile(
    rf"^progress: ({_NUMBER}) s, ({_NUMBER}) tps, lat ({_NUMBER}) ms stddev ({_NUMBER})"
    r"(?:, (\d+) failed)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ProgressLine:
    """A line of ``-P``: one interval."""

    seconds: float
    """Since the start, at the interval's end."""
    tps: float
    latency: float
    """Mean, in seconds; NaN where no transaction ended."""
    latency_stddev: float
    failed: float
    """Failed transactions of the interval; NaN before pgbench 15, which does not count them."""


@dataclass(frozen=True)
class Summary:
    """The summary that pgbench prints at its end; None for what it did not print."""

    script: str | None
    transactions: int | None
    failed: int | None
    skipped: int | None
    latency_mean: float | None
    latency_stddev: float | None
    connection_seconds: float | None
    """Until all clients were connected; before pgbench 14 from the two TPS lines' difference."""
    tps: float | None
    """Without the time of the initial connections."""
    retried: int | None = None
    """Transactions that were tried again after a serialization failure or a deadlock; None where
    pgbench was not told to try again."""
    retries: int | None = None
    """How often, all together."""

    @property
    def measured_seconds(self) -> float | None:
        """The time that pgbench divided by: of all transactions, without connecting."""
        if not self.transactions or not self.tps:
            return None
        return self.transactions / self.tps


def parse_summary(text: str) -> Summary:
    """Read pgbench's standard output; it may be empty or cut off."""
    transactions = _integer(text, r"number of transactions actually processed: (\d+)")
    excluding, including = _tps(text)
    connection = _milliseconds(text, r"initial connection time = ")
    if connection is None:
        connection = _connection_seconds(transactions, excluding, including)
    return Summary(
        script=_first(text, r"^transaction type: (.*)$"),
        transactions=transactions,
        failed=_integer(text, r"number of failed transactions: (\d+)"),
        skipped=_integer(text, r"number of transactions skipped: (\d+)"),
        latency_mean=_milliseconds(text, r"latency average(?: =|:) "),
        latency_stddev=_milliseconds(text, r"latency stddev(?: =|:) "),
        connection_seconds=connection,
        tps=excluding if excluding is not None else including,
        retried=_integer(text, r"number of transactions retried: (\d+)"),
        retries=_integer(text, r"total number of retries: (\d+)"),
    )


def parse_progress(line: str) -> ProgressLine | None:
    """Read a line of ``-P``; None for any other line."""
    match = _PROGRESS.match(line)
    if match is None:
        return None
    tps = float(match[2])
    failed = float(match[5]) if match[5] is not None else math.nan
    none = tps == 0  # newer versions print latencies of 0.000 here, older ones NaN
    return ProgressLine(
        seconds=float(match[1]),
        tps=tps,
        latency=math.nan if none else _seconds(match[3]),
        latency_stddev=math.nan if none else _seconds(match[4]),
        failed=failed,
    )


def _tps(text: str) -> tuple[float | None, float | None]:
    """TPS without and with connecting; with -C there is only the one that includes it."""
    excluding = including = None
    for match in _TPS.finditer(text):
        if match[2].startswith(("without", "excluding")):
            excluding = _finite(match[1])
        else:
            including = _finite(match[1])
    return excluding, including


def _connection_seconds(
    transactions: int | None, excluding: float | None, including: float | None
) -> float | None:
    if not transactions or not excluding or not including:
        return None
    return max(0.0, transactions / including - transactions / excluding)


def _first(text: str, pattern: str) -> str | None:
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else None


def _integer(text: str, pattern: str) -> int | None:
    digits = _first(text, "^" + pattern)
    return int(digits) if digits is not None else None


def _milliseconds(text: str, label: str) -> float | None:
    milliseconds = _first(text, rf"^{label}({_NUMBER}) ms")
    if milliseconds is None or _finite(milliseconds) is None:
        return None
    return _seconds(milliseconds)


def _seconds(milliseconds: str) -> float:
    """By the decimal exponent, for a division would round a second time."""
    value = float(milliseconds)
    return float(f"{milliseconds}e-3") if math.isfinite(value) else math.nan


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


_PREFIX = re.compile(r"^(?:\S*/)?pgbench(?:\.exe)?: (?:(?:error|fatal|hint|detail|warning): )?")
_ERROR = re.compile(
    r"^(?:\S*/)?pgbench(?:\.exe)?: (?:error|fatal): "
    r"|^(?:\S*/)?pgbench(?:\.exe)?: (?:unrecognized|invalid|option)"
    r"|^client \d+ (?:script \d+ )?(?:aborted|sending)"  # pgbench before 12 has no prefix
    r"|: syntax error in command"
    r"|^(?:ERROR|FATAL|PANIC): |^connection to database "
)
_NEW_MESSAGE = re.compile(r"^(?:\S*/)?pgbench(?:\.exe)?: |^client \d+ |^progress: ")
_FOLLOWS = ("Run was aborted; the above results are incomplete",)
_CONNECTION = re.compile(
    r"connection to (?:server|database)|could not connect|server closed the connection|"
    r"terminating connection|perhaps the backend died|could not send|could not receive|"
    r"the database system is|connection not open|no connection to the server|"
    r"too many clients|connection slots|could not create connection|SSL SYSCALL",
    re.IGNORECASE,
)
MAXIMUM_LINES = 12
"""The most lines of one message; a message of libpq or of a script has fewer."""


_NO_RELATION = re.compile(r'relation "(.+?)" does not exist')


def other_tables(message: str) -> str | None:
    """The way out for a script that asks for tables that are not there; None for other errors."""
    if not _NO_RELATION.search(message):
        return None
    return (
        "the script runs on pgbench's tables where the study has no others; on yours:"
        " --set data.script=tables.sql (plain SQL, or a dump of pg_dump's)"
    )


def first_error(lines: Sequence[str]) -> str | None:
    """The first error message with its continuation lines, without pgbench's prefix.

    None where no line is an error.
    """
    start = next((at for at, line in enumerate(lines) if _ERROR.search(line)), None)
    if start is None:
        return None
    message = [_PREFIX.sub("", lines[start])]
    for line in lines[start + 1 : start + MAXIMUM_LINES]:
        if _NEW_MESSAGE.match(line):
            break
        message.append(line)
    return "\n".join(message).rstrip()


def all_errors(lines: Sequence[str]) -> tuple[str, ...]:
    """The first lines of all error messages, but for those that only repeat that there was one."""
    first_lines = (_PREFIX.sub("", line) for line in lines if _ERROR.search(line))
    return tuple(line for line in first_lines if not line.startswith(_FOLLOWS))


def blames_connection(lines: Sequence[str]) -> bool:
    """Whether the server was not there, or went away: then the script is not to blame."""
    return any(_CONNECTION.search(line) for line in lines)


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
    printed = {
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
    return {name: float(value) for name, value in printed.items() if value is not None}


def log_metrics(histogram: LatencyHistogram, rate: float) -> dict[str, float]:
    """Percentiles in seconds, the exact maximum, and which share of transactions they are of.

    From a log of all transactions also mean and standard deviation: pgbench prints whole
    microseconds, which for a mean of 40 µs are steps of 2.5 %, more than the δ of most studies.
    """
    metrics = {name: histogram.value_at(percent) / MICROSECONDS for name, percent in PERCENTILES}
    metrics |= {"latency_max": histogram.maximum / MICROSECONDS, "log_sampling_rate": rate}
    if rate >= 1:
        metrics["latency_mean"] = histogram.mean / MICROSECONDS
        metrics["latency_stddev"] = histogram.standard_deviation / MICROSECONDS
    return metrics


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
    ending = f"{ENDED_BY_SIGNAL} {number}"
    if number == KILL:
        return f"{ending} (by another program, or by the kernel for lack of memory)"
    return ending


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
