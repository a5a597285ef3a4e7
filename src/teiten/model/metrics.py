"""The metrics of a trial and the columns of its series: names, units, and which way is better.

Latencies are stored in seconds, sizes in bytes, CPU as shares of all cores (0 to 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Better(StrEnum):
    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


@dataclass(frozen=True)
class Metric:
    """A number that each trial has one of. ``unit``: tps, s, B, 1 (a count or a share), B/s."""

    name: str
    unit: str
    better: Better = Better.NEITHER


TPS = Metric("tps", "tps", Better.HIGHER)
QUERY_TIME = Metric("query_seconds", "s", Better.LOWER)
"""The median of a trial's timings of its query, without EXPLAIN."""
OVER_TIMEOUT = Metric("over_timeout", "s")
"""The limit that a query exceeded; such a trial has no QUERY_TIME."""
PRIMARY = (TPS.name, QUERY_TIME.name)
"""What a question is about: one of them in every workload."""
LATENCY_MEAN = Metric("latency_mean", "s", Better.LOWER)
LATENCY_STDDEV = Metric("latency_stddev", "s", Better.LOWER)
UNTRIMMED = {
    one.name: Metric(f"{one.name}_untrimmed", one.unit, one.better) for one in (TPS, LATENCY_MEAN)
}
"""The plain means of trials whose number is the trimmed mean of their slices."""

PERCENTILES: tuple[tuple[str, float], ...] = (
    ("latency_p50", 50.0),
    ("latency_p90", 90.0),
    ("latency_p95", 95.0),
    ("latency_p99", 99.0),
    ("latency_p99_9", 99.9),
    ("latency_max", 100.0),
)

METRICS: tuple[Metric, ...] = (
    TPS,
    QUERY_TIME,
    OVER_TIMEOUT,
    Metric("transactions", "1"),
    Metric("failed_transactions", "1"),
    LATENCY_MEAN,
    LATENCY_STDDEV,
    *UNTRIMMED.values(),
    *(Metric(name, "s", Better.LOWER) for name, _ in PERCENTILES),
    Metric("measured_seconds", "s"),
    Metric("connection_seconds", "s"),
    Metric("log_sampling_rate", "1"),
    Metric("cpu_user_share", "1"),
    Metric("cpu_system_share", "1"),
    Metric("cpu_iowait_share", "1"),
    Metric("cpu_steal_share", "1"),
    Metric("cpu_idle_share", "1"),
    Metric("cpu_other_share", "1"),
    Metric("server_cpu_share", "1"),
    Metric("pgbench_cpu_share", "1"),
    Metric("teiten_cpu_share", "1"),
    Metric("context_switches", "1"),
    *(
        Metric(f"client_{name}", "1")
        for name in (
            *(f"cpu_{state}_share" for state in ("user", "system", "iowait", "steal", "idle")),
            "cpu_other_share",
            "pgbench_cpu_share",
            "context_switches",
        )
    ),
    Metric("disk_read_bytes", "B"),
    Metric("disk_written_bytes", "B"),
    Metric("wal_bytes", "B"),
    Metric("wal_bytes_per_transaction", "B"),
    Metric("wal_records", "1"),
    Metric("wal_full_page_images", "1"),
    Metric("checkpoints", "1"),
    Metric("blocks_hit", "1"),
    Metric("blocks_read", "1"),
    Metric("buffers_written_by_backends", "1"),
    Metric("buffers_written_by_checkpointer", "1"),
    Metric("buffers_written_by_bgwriter", "1"),
)

BY_NAME = {metric.name: metric for metric in METRICS}
