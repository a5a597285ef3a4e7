"""How many cores the server may use, and which processors it and pgbench then get; pure.

Physical cores come first, those of one NUMA node before those of the next, so that n cores are n
whole cores near their memory as long as there are any; second hardware threads come last. pgbench
gets processors that the server has at no level, so that its own share is the same at all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from teiten.errors import MachineError, UsageError
from teiten.factors.contract import FactorRule, Need
from teiten.model.facts import HostFacts, LogicalCpu
from teiten.model.plan import Plan
from teiten.model.saturation import doublings
from teiten.model.setup import PlannedCell, Setup, every_level, level_of
from teiten.model.study import Study
from teiten.study.values import count

SHARE_OF_PGBENCH = 4
"""Derived levels leave one of this many physical cores to pgbench."""
FEWEST_TO_DIVIDE = 3
"""Below it, server and pgbench share: a core taken from two would leave nothing to vary."""


@dataclass(frozen=True)
class Pinning:
    """The processors of one trial, by their numbers, ascending. Both empty: nothing is pinned."""

    server: tuple[int, ...] = ()
    client: tuple[int, ...] = ()

    @property
    def shared(self) -> bool:
        return bool(set(self.server) & set(self.client))


def in_order(cpus: Sequence[LogicalCpu]) -> tuple[LogicalCpu, ...]:
    """The order in which the server gets them."""
    threads: dict[tuple[int, int], int] = defaultdict(int)
    ranked: list[tuple[int, int, int, int, LogicalCpu]] = []
    for cpu in sorted(cpus, key=lambda cpu: cpu.number):
        thread = threads[_core(cpu)]
        threads[_core(cpu)] += 1
        ranked.append((thread, cpu.node, cpu.package, cpu.number, cpu))
    return tuple(cpu for *_, cpu in sorted(ranked, key=lambda ranks: ranks[:-1]))


def pin(cpus: Sequence[LogicalCpu], cores: int, most: int) -> Pinning:
    """The processors of a trial on ``cores``, in a study whose largest level is ``most``.

    Where the largest level leaves none, pgbench shares the server's at every level: were it alone
    at some, the server would have less of its cores at the others.
    """
    ordered = in_order(cpus)
    server, rest = ordered[:cores], ordered[most:]
    taken = {_core(cpu) for cpu in ordered[:most]}
    apart = [cpu for cpu in rest if _core(cpu) not in taken]
    return Pinning(_numbers(server), _numbers(apart or rest or server))


def automatic_cores(facts: HostFacts) -> tuple[str, ...]:
    """1, 2, 4 … up to the physical cores, less a quarter for pgbench where there are three.

    Raises MachineError where the machine cannot pin, or has one processor alone.
    """
    cpus = in_order(facts.cpu.cpus)[: facts.cpu.logical]
    if not cpus:
        raise _cannot_pin(facts)
    if len(cpus) < 2:
        raise MachineError(
            f"cores: this program may use 1 processor{_why_fewer(facts, 1)}: there is nothing to"
            " vary",
            "run this on a machine with two cores or more",
        )
    physical = len({_core(cpu) for cpu in cpus})
    left = max(1, physical // SHARE_OF_PGBENCH) if physical >= FEWEST_TO_DIVIDE else 0
    top = physical - left if physical > 1 else len(cpus)
    return tuple(dict.fromkeys(map(str, (*doublings(top), top))))


def _cannot_pin(facts: HostFacts) -> MachineError:
    if facts.system == "Linux":
        return MachineError(
            "cores: this machine does not tell which processors it has",
            "run this where /sys/devices/system/cpu can be read, or leave the factor cores out",
        )
    return MachineError(
        f"cores: {facts.system} cannot pin a program to processors",
        "run this on Linux, or leave the factor cores out",
    )


def _core(cpu: LogicalCpu) -> tuple[int, int]:
    return cpu.package, cpu.core


def _numbers(cpus: Sequence[LogicalCpu]) -> tuple[int, ...]:
    return tuple(sorted(cpu.number for cpu in cpus))


def _why_fewer(facts: HostFacts, here: int) -> str:
    if facts.cpu.quota_cores is not None and here < len(facts.cpu.cpus):
        return f" (its control group's quota is {facts.cpu.quota_cores:g} cores)"
    if here < facts.cpu.online:
        return f" (its affinity mask or cpuset; {facts.cpu.online} are online)"
    return ""


class Cores(FactorRule):
    name = "cores"
    rank = 50
    automatic = True
    automatic_contrast = True
    needs: ClassVar[frozenset[Need]] = frozenset({Need.START, Need.HERE})

    def level(self, value: Any) -> str:
        return str(count(value, self.name))

    def sized(self, study: Study, facts: HostFacts) -> Study:
        factor = study.factor(self.name)
        if factor is None or factor.levels:
            return study
        return study.with_levels(self.name, automatic_cores(facts))

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        most = max(int(cores) for cores in every_level(cell.study, self.name))
        pinned = pin(cell.cpus, int(level), most)
        return replace(setup, server_cpus=pinned.server, client_cpus=pinned.client)

    def check_plan(self, plan: Plan, facts: HostFacts) -> None:
        """MachineError where the machine cannot pin, or has too few; UsageError where only some
        trials are pinned."""
        cores = [level_of(plan.study, trial.cell, self.name) for trial in plan.trials]
        levels = [int(level) for level in cores if level is not None]
        if not levels:
            return
        if len(levels) < len(cores):
            raise UsageError(
                f"cores is set to {levels[0]} on one side and not on the other",
                "pin both, so that pgbench has the same processors: --set-a cores=1 --set-b"
                " cores=2",
            )
        if not facts.cpu.cpus:
            raise _cannot_pin(facts)
        here = min(len(facts.cpu.cpus), facts.cpu.logical)
        if max(levels) > here:
            processors = "1 processor" if here == 1 else f"{here} processors"
            raise MachineError(
                f"cores={max(levels)}: this program may use {processors}{_why_fewer(facts, here)}",
                f"choose levels from 1 to {here}, or auto: --set cores=auto",
            )


FACTOR = Cores()
