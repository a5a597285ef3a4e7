"""Which share of the transactions the log should hold.

Measured by benchmarks/transaction_log.py (pgbench 18, select-only with prepared statements,
4 clients on a 2-core virtual machine): a line costs pgbench 0.26 µs of CPU in a tight loop, but
1.0 µs between queries, when the caches hold something else; Teiten's reader takes 0.08 µs in a
tight loop, and 0.3 µs then. Where only a share is logged, drawing costs 0.04 µs per transaction.

The shortest transaction costs 25 to 38 µs of CPU in all, so that a log of all of them takes 3 to
5 % of the CPU (two times 40 pairs: 1.049 [0.990, 1.113] and 1.031 [0.982, 1.083] on a machine that
others used too); one of a millisecond, as in the reports' read workload, loses 0.1 %. So real work
is logged whole, and only of the shortest transactions a share is taken.
"""

from __future__ import annotations

import math

from teiten.execute.bench import Bench
from teiten.host.facts.cpus import allowed_processors
from teiten.model.plan import PlannedTrial

LINE_SECONDS = 1.3e-6
"""CPU time per logged transaction, of pgbench and of the reader."""
DRAW_SECONDS = 0.04e-6
"""CPU time per transaction for the decision whether it is logged."""
LARGEST_CPU_SHARE = 0.01
"""The share of all cores that the log may take: half of METHOD.md's default δ."""
SMALLEST_RATE = 0.01
SAMPLING = "log-sampling"
"""The kind of the event that records the share of transactions that pgbench logs."""


class SamplingRates:
    """By context: decided once, so that both sides of a contrast log alike."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._rates: dict[str, float] = {}

    def of(self, trial: PlannedTrial, warm_up_tps: float, cores: float | None) -> float:
        """The share of transactions that pgbench logs (0 to 1), by a context's first warm-up, also
        when the campaign is resumed. ``cores``: of pgbench's host; None for this machine's."""
        contrast, record = self._bench.plan.study.contrast, self._bench.record
        levels = (f"{name}={level}" for name, level in trial.cell.context(contrast))
        context = " ".join((trial.cell.workload, *levels))
        if not self._rates:
            for event in record.events():
                if event.kind == SAMPLING:
                    self._rates[event.detail["context"]] = event.detail["rate"]
        if context not in self._rates:
            rate = suggested_sampling_rate(warm_up_tps, cores)
            self._rates[context] = rate
            record.record_event(SAMPLING, context=context, rate=rate, tps=warm_up_tps)
        return self._rates[context]


def suggested_sampling_rate(tps: float, cores: float | None = None) -> float:
    """The largest share of transactions, in steps of 1 %, with whose log at so many transactions
    per second it takes at most LARGEST_CPU_SHARE of ``cores`` (default: those of this process)."""
    if tps <= 0:
        return 1.0
    usable = cores if cores is not None else allowed_processors()
    seconds = LARGEST_CPU_SHARE * usable / tps
    if seconds >= LINE_SECONDS:
        return 1.0
    rate = math.floor((seconds - DRAW_SECONDS) / LINE_SECONDS * 100) / 100
    return max(SMALLEST_RATE, rate)
