"""Into how many shards an engine that makes shards divides each table; pure."""

from __future__ import annotations

from typing import Any

from teiten.engines.registry import engine_of
from teiten.errors import UsageError
from teiten.factors.nodes import OfNodes
from teiten.model.plan import PlannedTrial

MOST = 4096


class ShardsFactor(OfNodes):
    name = "shards"
    says = "says into how many shards tables are divided"
    rank = 64

    def level(self, value: Any) -> str:
        text = str(value).strip()
        if not text.isdecimal() or not 1 <= int(text) <= MOST:
            raise ValueError(f"must be a number of shards from 1 to {MOST}, not {text!r}")
        return str(int(text))

    def check_trial(self, trial: PlannedTrial) -> None:
        """Every node has one at least, and the engine knows of shards."""
        planned = trial.distribution
        if planned is None or trial.cell.level(self.name) is None:
            return
        if not planned.shards:
            raise UsageError(
                f"{planned.engine} makes no shards: each node has one part of every table",
                "leave the factor shards out, or --set engine=citus",
            )
        if planned.shards < planned.nodes:
            usual = engine_of(planned.engine).shards(planned.nodes)
            raise UsageError(
                f"{planned.shards} shards leave some of {planned.nodes} nodes without rows",
                f"--set shards={usual}, or leave it out",
            )


FACTOR = ShardsFactor()
