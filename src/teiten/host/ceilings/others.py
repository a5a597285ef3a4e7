"""How much of the processors other programs, or the hypervisor, took while something ran."""

from __future__ import annotations

import os
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class CpuClock:
    """CPU seconds since the machine started, and of this program with its ended children."""

    total: float
    busy: float
    """In programs and the kernel, and stolen; without interrupts, which nobody owns."""
    own: float


def read_clock() -> CpuClock:
    times = psutil.cpu_times()._asdict()
    busy = sum(times.get(name, 0.0) for name in ("user", "nice", "system", "steal"))
    idle = sum(times.get(name, 0.0) for name in ("idle", "iowait", "irq", "softirq"))
    own = os.times()
    return CpuClock(
        busy + idle, busy, own.user + own.system + own.children_user + own.children_system
    )


def others_share(before: CpuClock, after: CpuClock) -> float:
    """The share of all processors that others took between two moments."""
    total = after.total - before.total
    if total <= 0:
        return 0.0
    others = (after.busy - before.busy) - (after.own - before.own)
    return min(1.0, max(0.0, others / total))
