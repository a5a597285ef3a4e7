"""Numbers that pgbench prints: formats of pgbench 9.6 to 18.

Latencies are printed in milliseconds and returned in seconds; NaN stands for what is not printed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

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
    found = _first(text, "^" + pattern)
    return int(found) if found is not None else None


def _milliseconds(text: str, label: str) -> float | None:
    found = _first(text, rf"^{label}({_NUMBER}) ms")
    if found is None or _finite(found) is None:
        return None
    return _seconds(found)


def _seconds(milliseconds: str) -> float:
    """By the decimal exponent, for a division would round a second time."""
    value = float(milliseconds)
    return float(f"{milliseconds}e-3") if math.isfinite(value) else math.nan


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None
