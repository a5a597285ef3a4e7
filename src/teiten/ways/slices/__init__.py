"""Servers that stay up and are loaded in turn: a trial in slices, or several pairs of a start."""

from __future__ import annotations

from typing import ClassVar

from teiten.model.plan import Plan
from teiten.model.quantities import format_duration
from teiten.model.study import CLASSIC, Measure
from teiten.ways.contract import WayRule


class Slices(WayRule):
    name: ClassVar[str] = "slices"
    recorded_as: ClassVar[str] = CLASSIC
    in_file: ClassVar[bool] = False

    def is_of(self, measure: Measure) -> bool:
        return measure.way == CLASSIC and (measure.slices > 1 or measure.restart_every > 1)

    def keys_of_own_servers(self, measure: Measure) -> tuple[str, ...]:
        return ("slices" if measure.slices > 1 else "restart_every",)

    def parts(self, measure: Measure) -> int:
        return measure.slices if measure.slices > 1 else 0

    def pairs_of_a_start(self, measure: Measure) -> int:
        return measure.restart_every

    def described(self, plan: Plan, anew: str, copies: str) -> str:
        measure, shared = plan.study.measure, plan.pairs_of_a_start
        pairs = "every pair" if shared == 1 else f"{shared} pairs, which count as one"
        cut = ""
        if self.parts(measure):
            cut = f"in {measure.slices} slices of {format_duration(measure.slice_duration)}, "
        return f"{cut}in turn on servers that run side by side; restarted after {pairs}"

    def listed(self, measure: Measure) -> tuple[tuple[str, str], ...]:
        return (("slices", str(measure.slices)), ("restarts", str(measure.restart_every)))


WAY = Slices()
