"""Paired transactions: clients alternate independently of one another, as long as they are no more
than the processors.

Beyond, a transaction waits for a processor, and if the other side's transactions run at the same
time, that wait says how the scheduler divides the processors among the sides, and not what a side
does: more clients are in step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from teiten.kinds.contract import plan_of
from teiten.model.plan import Plan
from teiten.model.settings import ABOUT_FLUSHES
from teiten.model.starts import FIRST_SECONDS, of_sides
from teiten.model.study import GUC_PREFIX, CachePolicy, Measure, Study
from teiten.model.units import Share
from teiten.ways.contract import WayRule
from teiten.ways.registry import concurrent_trials, ways_by_clients

OF_ONE_LOAD = ("cores", "memory", "query_mode")
"""Factors that set, for one side, what one load of both sides has but once."""


MOST_SIDES = 8
"""The most servers of a start (crates/pairs/src/record.rs)."""


class PairedTransactions(WayRule):
    """Each client takes turns on the servers of all sides, transaction by transaction."""

    hint: ClassVar[str] = (
        "leave it out, or have the sides loaded one after the other: --way classic"
    )
    most_sides: ClassVar[int | None] = MOST_SIDES
    in_parts: ClassVar[bool] = True
    concurrent: ClassVar[bool] = True
    disturbed_share: ClassVar[Share] = Share(1.0)
    """Other programs hit all sides of a start alike. They widen the interval, and discarding what
    they hit would favour the side that leaves them fewer idle processors."""
    unit: ClassVar[str] = "start"
    reused_unit: ClassVar[str] = "round"

    def obstacles(self, study: Study) -> Iterator[str]:
        measure = study.measure
        if measure.slices > 1:
            yield "slices are turns of one side at a time"
        if measure.restart_every > 1:
            yield "restart_every keeps servers up for several pairs"
        if measure.caches is not CachePolicy.KEEP:
            yield f"caches={measure.caches.value} asks for cold caches"
        if measure.memory is not None:
            yield "a limit of memory is for one side's server with its load"
        of_aliases = {name for _, levels in study.server_levels for name, _ in levels}
        of_sides = {study.contrast, *of_aliases}
        varied = of_sides.intersection(OF_ONE_LOAD)
        fixed = {factor.name for factor in study.factors} & {"cores", "memory"}
        for name in sorted(varied | fixed):
            yield f"{name} is set for each side's load by itself"
        flushes = of_sides & {GUC_PREFIX + name for name in ABOUT_FLUSHES}
        for name in sorted(flushes) if study.writes else ():
            yield (
                f"sides that differ in {name.removeprefix(GUC_PREFIX)} write to one disk, where the"
                " side that flushes holds up the other"
            )
        for workload in study.workloads:
            reason = plan_of(workload.kind).unpaired(workload)
            if reason is not None:
                yield reason

    def sized(self, measure: Measure, processors: int) -> Measure:
        return replace(super().sized(measure, processors), processors=processors)

    def timed(self, measure: Measure, sides: int) -> Measure:
        """The first starts have a usual length; that of later ones follows from what these show,
        where nothing is fixed."""
        if measure.duration is not None:
            return measure
        lengthens = measure.sequential is not None
        return replace(measure, duration=of_sides(FIRST_SECONDS, sides), lengthens=lengthens)

    def described(self, plan: Plan, anew: str, copies: str) -> str:
        sides = concurrent_trials(plan.study)
        servers = "both servers" if sides == 2 else f"all {sides} servers in turn"
        start = "pair" if sides == 2 else "start"
        return f"in paired transactions on {servers}, {anew} for each {start}{copies}"


class PairsWay(PairedTransactions):
    name: ClassVar[str] = "pairs"
    of_two_sides: ClassVar[str] = (
        "each client alternates between both sides (more clients than processors: as in-step), the"
        " default of ab where it can be had"
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
