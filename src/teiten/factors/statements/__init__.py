"""Statements of one workload in several forms, on the same server."""

from __future__ import annotations

from teiten.factors.contract import FactorRule, WrittenStudy
from teiten.model.study import Factor
from teiten.suggest import did_you_mean


class StatementsFactor(FactorRule):
    name = "statements"
    rank = 45
    of_workloads = True

    def check_study(self, written: WrittenStudy, factor: Factor) -> None:
        """Every workload has statements for every level."""
        for workload in written.workloads:
            known = workload.options.statement_levels
            for level in factor.levels:
                if level not in known:
                    raise written.error(
                        ("factors", self.name),
                        f"the workload {workload.name} has no statements {level!r}."
                        f"{did_you_mean(level, known)}",
                        'write [workloads.statements] with NAME = "file.sql" lines',
                    )


FACTOR = StatementsFactor()
