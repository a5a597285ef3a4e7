"""The numbers of a trial that times one query; times in seconds."""

from __future__ import annotations

from teiten.model.metrics import MEASURED_SECONDS, Better, Metric

OVER_TIMEOUT = Metric("over_timeout", "s")
"""The limit that a query exceeded; such a trial has no QUERY_TIME."""
QUERY_TIME = Metric("query_seconds", "s", Better.LOWER, judged=True, exceeded=OVER_TIMEOUT.name)
"""The median of a trial's timings of its query, without EXPLAIN."""

METRICS: tuple[Metric, ...] = (QUERY_TIME, OVER_TIMEOUT, MEASURED_SECONDS)
CONTRASTED = (QUERY_TIME.name,)
