"""One side after the other: a trial starts its server, and no other runs."""

from __future__ import annotations

from typing import ClassVar

from teiten.model.plan import Plan
from teiten.model.study import Measure
from teiten.ways.contract import WayRule


class Classic(WayRule):
    name: ClassVar[str] = "classic"
    of_two_sides: ClassVar[str] = "one side after the other"
    side_by_side: ClassVar[bool] = False

    def is_of(self, measure: Measure) -> bool:
        return measure.way == self.name and measure.slices == measure.restart_every == 1

    def described(self, plan: Plan, anew: str, copies: str) -> str:
        return ""


WAY = Classic()
