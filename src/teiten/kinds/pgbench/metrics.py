"""The numbers of a trial under a load of pgbench; latencies in seconds."""

from __future__ import annotations

from teiten.model.metrics import (
    CPU_PER_TRANSACTION,
    MEASURED_SECONDS,
    TRANSACTIONS,
    Better,
    Metric,
)

TPS = Metric("tps", "tps", Better.HIGHER, judged=True)
LATENCY_MEAN = Metric("latency_mean", "s", Better.LOWER)
LATENCY_STDDEV = Metric("latency_stddev", "s", Better.LOWER)
RETRIED = Metric("retried_transactions", "1", Better.LOWER)
"""Those that were tried again after a serialization failure or a deadlock."""
RETRIES = Metric("retries", "1", Better.LOWER)
TRIMMED = {
    metric.name: Metric(f"{metric.name}_trimmed", metric.unit, metric.better)
    for metric in (TPS, LATENCY_MEAN)
}
"""The trimmed means of a trial's slices, beside the plain ones, which are judged."""

PERCENTILES: tuple[tuple[str, float], ...] = (
    ("latency_p50", 50.0),
    ("latency_p90", 90.0),
    ("latency_p95", 95.0),
    ("latency_p99", 99.0),
    ("latency_p99_9", 99.9),
    ("latency_max", 100.0),
)

LATENCY_TYPICAL = Metric("latency_typical", "s", Better.LOWER)
"""A side's typical latency in paired transactions: the ratio of the sides' is the median of the
ratios of the pairs."""
MEAN_BY_TYPICAL = Metric("mean_by_typical", "1", Better.LOWER)
"""The mean time of a transaction by the typical one's: higher with more, or longer, slow ones."""
WITHIN = Metric("throughput_variance_of_a_second", "1")
"""The variance of ln(B/A) that one second of a start of paired transactions has."""
CARRY_OVER_THROUGHPUT = Metric("left_behind_throughput", "1")
"""By what the new side seems faster because of what each leaves behind for the other; a ratio."""
CARRY_OVER_TYPICAL = Metric("left_behind_typical", "1")

INDEX_LOOKUPS = Metric("index_lookups", "1")
"""Scans of the tables' indexes, those of the warm-up among them."""
HEAP_FETCHES = Metric("heap_fetches_per_lookup", "1", Better.LOWER)
"""Rows that each of them fetched from its table; of an index-only scan on visible pages none."""

METRICS: tuple[Metric, ...] = (
    TPS,
    TRANSACTIONS,
    Metric("failed_transactions", "1"),
    RETRIED,
    RETRIES,
    LATENCY_MEAN,
    LATENCY_STDDEV,
    *TRIMMED.values(),
    *(Metric(name, "s", Better.LOWER) for name, _ in PERCENTILES),
    MEASURED_SECONDS,
    Metric("connection_seconds", "s"),
    Metric("log_sampling_rate", "1"),
    INDEX_LOOKUPS,
    HEAP_FETCHES,
    LATENCY_TYPICAL,
    MEAN_BY_TYPICAL,
    WITHIN,
    CARRY_OVER_THROUGHPUT,
    CARRY_OVER_TYPICAL,
)
CONTRASTED = (
    *(TPS.name, CPU_PER_TRANSACTION.name, LATENCY_TYPICAL.name, MEAN_BY_TYPICAL.name),
    *(TRIMMED[TPS.name].name, LATENCY_MEAN.name, "latency_p95", "latency_p99"),
)
