"""Paired transactions in step: all clients are on the same side at any time."""

from __future__ import annotations

from typing import ClassVar

from teiten.model.plan import Plan
from teiten.ways.pairs import PairedTransactions


class InStep(PairedTransactions):
    name: ClassVar[str] = "in-step"
    of_two_sides: ClassVar[str] = "as pairs, but all clients are on one side at a time"
    in_step: ClassVar[bool] = True

    def described(self, plan: Plan, anew: str, copies: str) -> str:
        return f"{super().described(plan, anew, copies)}, all clients on one side at a time"


WAY = InStep()
