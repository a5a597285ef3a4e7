"""What is known of a workload of queries before it runs."""

from __future__ import annotations

from teiten.kinds.queries.metrics import CONTRASTED, METRICS

__all__ = ["CONTRASTED", "METRICS"]
