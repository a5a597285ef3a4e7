"""Paired transactions: clients alternate independently of one another, as long as they are no more
than the processors.

Beyond, a transaction waits for a processor, and if the other side's transactions run at the same
time, that wait says how the scheduler divides the processors among the sides, and not what a side
does: more clients are in step.
"""

from __future__ import annotations

from typing import ClassVar

from teiten.model.plan import Plan
from teiten.model.study import Measure
from teiten.ways.paired import PairedTransactions
from teiten.ways.registry import ways_by_clients


class PairsWay(PairedTransactions):
    name: ClassVar[str] = "pairs"
    of_two_sides: ClassVar[str] = (
        "transactions alternate between both sides, more clients than processors all on one side at"
        " a time, the default of ab where it can be had"
    )

    def of_clients(self, measure: Measure, clients: int) -> str:
        processors = measure.processors
        return "in-step" if processors is not None and clients > processors else self.name

    def described(self, plan: Plan, anew: str, copies: str) -> str:
        mixed = super().described(plan, anew, copies)
        clients = [str(count) for count, way in ways_by_clients(plan).items() if way.in_step]
        if not clients:
            return mixed
        processors = plan.study.measure.processors or 1
        counted = "1 processor" if processors == 1 else f"{processors} processors"
        beyond = f"more than the {counted}"
        if plan.servers_elsewhere and processors == 1:
            beyond = "and nobody knows the processors there"
        return (
            f"{mixed}; with {', '.join(clients)} clients, {beyond}, all are on one side at a time:"
            " on both at once they would tell how the scheduler divides the processors, and not the"
            " throughput"
        )


WAY = PairsWay()
