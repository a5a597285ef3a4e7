"""Statements in turn: those that are timed one by one run on one server and on the other, and all
of a block share a start, which is the unit of evidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from teiten.kinds.contract import plan_of
from teiten.model.plan import Cell, Plan
from teiten.model.study import CachePolicy, Measure, Study
from teiten.ways.contract import WayRule


class Statements(WayRule):
    name: ClassVar[str] = "statements"
    hint: ClassVar[str] = 'leave it out, or write way = "classic"'
    in_parts: ClassVar[bool] = True
    one_server: ClassVar[bool] = True
    here: ClassVar[bool] = True

    def obstacles(self, study: Study) -> Iterator[str]:
        measure = study.measure
        if measure.caches is not CachePolicy.KEEP:
            yield f"caches={measure.caches.value} asks for cold caches"
        if measure.memory is not None or study.factor("memory") is not None:
            yield "a limit of memory is for one side's server with its load"
        for workload in study.workloads:
            kind = plan_of(workload.kind)
            if not kind.takes_turns:
                yield f"statements can take turns, and {workload.name} {kind.does}"
            elif workload.changes_data:
                yield (
                    f"the workload {workload.name} changes its data, which are restored each time"
                )

    def keys_of_own_servers(self, measure: Measure) -> tuple[str, ...]:
        return ("way",)

    def start_of(self, study: Study, cell: Cell) -> object:
        """All but the statement."""
        brought = plan_of(study.workload(cell.workload).kind).brings
        levels = [level for level in cell.context(study.contrast) if level[0] not in brought]
        return cell.workload, levels

    def pairs_of_a_start(self, measure: Measure) -> int:
        return measure.restart_every

    def described(self, plan: Plan, anew: str, copies: str) -> str:
        names = plan.study.measure.by_session
        servers = "servers that run side by side"
        if names:
            servers = f"one server, whose sessions SET {', '.join(names)} before they are timed"
        return f"statement by statement on {servers}; a start for each block"

    def listed(self, measure: Measure) -> tuple[tuple[str, str], ...]:
        return (("turns", self.name),)


WAY = Statements()
