"""A pgbench run that ended: what it printed, its numbers, and what was wrong with it.

Formats are those of pgbench 9.6 to 18. Latencies are printed in milliseconds and returned in
seconds; NaN stands for what is not printed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
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


def parse_summary(text: str, *, reconnect: bool = False) -> dict[str, float]:
    """Read the metrics that pgbench printed at its end, by their names; its standard output may be
    empty or cut off. TPS are without the time of the initial connections where both are there;
    with that of all connections where each transaction has one (``reconnect``)."""
    transactions = _count(text, "number of transactions actually processed: ")
    excluding, including = _tps(text)
    tps = including if excluding is None or reconnect else excluding
    connecting = _milliseconds(text, "initial connection time = ")
    if connecting is None and transactions and excluding and including:  # before pgbench 14
        connecting = max(0.0, transactions / including - transactions / excluding)
    printed = {
        "tps": tps,
        "transactions": transactions,
        "failed_transactions": _count(text, "number of failed transactions: "),
        "latency_mean": _milliseconds(text, "latency average(?: =|:) "),
        "latency_stddev": _milliseconds(text, "latency stddev(?: =|:) "),
        # what pgbench divided by: of all transactions, without connecting
        "measured_seconds": transactions / tps if transactions and tps else None,
        "connection_seconds": connecting,
        "retried_transactions": _count(text, "number of transactions retried: "),
        "retries": _count(text, "total number of retries: "),
    }
    return {name: value for name, value in printed.items() if value is not None}


def parse_progress(line: str) -> ProgressLine | None:
    """Read a line of ``-P``; None for any other line."""
    match = _PROGRESS.match(line)
    if match is None:
        return None
    tps = float(match[2])
    none = tps == 0  # newer versions print latencies of 0.000 here, older ones NaN
    return ProgressLine(
        seconds=float(match[1]),
        tps=tps,
        latency=math.nan if none else _seconds(match[3]),
        latency_stddev=math.nan if none else _seconds(match[4]),
        failed=float(match[5] or math.nan),
    )


def _tps(text: str) -> tuple[float | None, float | None]:
    """TPS without and with connecting; with -C there is only the one that includes it."""
    without = ("without", "excluding")
    tps = {match[2].startswith(without): _finite(match[1]) for match in _TPS.finditer(text)}
    return tps.get(True), tps.get(False)


def _count(text: str, label: str) -> float | None:
    match = re.search(rf"^{label}(\d+)", text, re.MULTILINE)
    return float(match[1]) if match else None


def _milliseconds(text: str, label: str) -> float | None:
    match = re.search(rf"^{label}({_NUMBER}) ms", text, re.MULTILINE)
    return _seconds(match[1]) if match and _finite(match[1]) is not None else None


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
    """The first error message with its continuation lines, without pgbench's prefix."""
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

    output: str
    command: str
    """The command line, as it can be typed in the run's folder."""
    metrics: dict[str, float]
    series: Series
    cpu_seconds: float
    problems: tuple[Problem, ...]
    latencies: LatencyHistogram | None
    """None without a log."""


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


def script_is_wrong(exit_code: int, printed: Mapping[str, float], lines: list[str]) -> bool:
    if exit_code <= 0 or printed.get("transactions"):
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
    exit_code: int, printed: Mapping[str, float], lines: list[str], stopped: str | None
) -> tuple[Problem, ...]:
    if stopped is not None:
        return (Problem("pgbench-failed", stopped),)
    if exit_code != 0:
        ending = f"exit code {exit_code}" if exit_code > 0 else _by_signal(-exit_code)
        return (Problem("pgbench-failed", "; ".join((ending, *all_errors(lines)[:3]))),)
    if not printed.get("transactions"):
        return (Problem("pgbench-failed", "no transaction was completed"),)
    return ()


def _by_signal(number: int) -> str:
    """Nobody here has sent it: what we stop ourselves is told as that."""
    ending = f"{ENDED_BY_SIGNAL} {number}"
    if number == KILL:
        return f"{ending} (by another program, or by the kernel for lack of memory)"
    return ending


def log_problems(
    exit_code: int, printed: Mapping[str, float], log: LogSummary | None, rate: float | None
) -> tuple[Problem, ...]:
    if log is None:
        return ()
    if log.error is not None:
        detail = f"the transaction log could not be read: {log.error}"
        return (Problem("pgbench-failed", detail),)
    transactions = printed.get("transactions", 0.0)
    if exit_code == 0 and rate == 1 and log.counted != transactions:
        # pgbench does not tell when it cannot write, for example on a full disk
        detail = f"the log has {log.counted} of {transactions:.0f} transactions"
        return (Problem("pgbench-failed", detail),)
    return ()
