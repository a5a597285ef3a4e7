"""Which share of the transactions the log should hold.

Measured by benchmarks/transaction_log.py (pgbench 18, one core of a 2-core virtual machine): a line
costs pgbench 0.28 µs of CPU, and Teiten's reader 0.08 µs; where only a share is logged, the
drawing costs 0.04 µs for every transaction. The shortest transaction with a server behind it
(select-only, prepared) costs 25 µs of CPU in all, so a log of all transactions takes 1.4 % of the
CPU at worst, from both sides of a contrast alike. So real servers are logged whole; a share is
taken only beyond that, for example from scripts that hardly touch the server.
"""

from __future__ import annotations

import math
import os

LINE_SECONDS = 0.36e-6
"""CPU time per logged transaction, of pgbench and of the reader."""
DRAW_SECONDS = 0.04e-6
"""CPU time per transaction for the decision whether it is logged."""
LARGEST_CPU_SHARE = 0.02
"""What the log may take of all cores; METHOD.md's default δ."""
SMALLEST_RATE = 0.01


def suggested_sampling_rate(tps: float, cores: float | None = None) -> float:
    """The share of transactions to log at this many transactions per second, 1.0 for all.

    The largest one, in steps of 1 %, with which the log takes at most LARGEST_CPU_SHARE of
    ``cores`` (default: those that this process may use). Use the same rate for both sides of a
    contrast.
    """
    if tps <= 0:
        return 1.0
    usable = cores if cores is not None else usable_cores()
    seconds = LARGEST_CPU_SHARE * usable / tps
    if seconds >= LINE_SECONDS:
        return 1.0
    rate = math.floor((seconds - DRAW_SECONDS) / LINE_SECONDS * 100) / 100
    return max(SMALLEST_RATE, rate)


def usable_cores() -> int:
    """The processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
