"""What is known of a load of pgbench before it runs."""

from __future__ import annotations

from teiten.kinds.pgbench.metrics import CONTRASTED, METRICS

__all__ = ["CONTRASTED", "METRICS"]
