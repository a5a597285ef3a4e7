"""Whether a memory that a study limits suffices for what its trials run, and is there; pure.

A limit holds a server, its load generator and the page cache of their files together. Servers that
run side by side have one each.
"""

from __future__ import annotations

from collections.abc import Iterator

from teiten.errors import MachineError
from teiten.model.facts import HostFacts
from teiten.model.levels import every_level
from teiten.model.memory import MACHINE, memory_of
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.quantities import exact_size, format_size, parse_size
from teiten.model.settings import size_setting
from teiten.model.study import Study
from teiten.model.units import Bytes
from teiten.plan.estimate import within
from teiten.plan.nodes import check_machines
from teiten.ways.registry import servers_of_a_start


def least_memory(study: Study) -> Bytes:
    """The smallest memory in force of any trial of a study whose machine is known."""
    levels = every_level(study, "memory")
    limits = [parse_size(level) for level in levels if level != MACHINE]
    return min([memory_of(study), *limits])


def limits_of(plan: Plan) -> tuple[Bytes, ...]:
    """Every limit of a plan's trials once, the smallest first."""
    return tuple(sorted({limit for trial in plan.trials for limit in trial.memory_limits}))


def check_limits(plan: Plan, facts: HostFacts) -> None:
    """Raise MachineError for a limit above the machine's memory, or below what a trial needs."""
    for trial in _of_each_kind(plan):
        if trial.memory_limits:
            _check_huge_pages(trial, facts)
        if trial.machines:
            check_machines(trial, servers_of_a_start(plan.study), facts)
        limit = trial.memory_limit
        if limit is None:
            continue
        _check_machine(plan.study, limit, facts)
        needed = within(plan.study, trial)
        if needed > limit:
            raise _too_small(trial, limit, needed)


def _of_each_kind(plan: Plan) -> Iterator[PlannedTrial]:
    yield from {(trial.kind, trial.load.connections): trial for trial in plan.trials}.values()


def _check_machine(study: Study, limit: Bytes, facts: HostFacts) -> None:
    total, count = facts.memory.total, servers_of_a_start(study)
    if limit * count > total:
        each = "" if count == 1 else f" for each of {count} servers side by side"
        raise MachineError(
            f"memory={exact_size(limit)}{each}: the machine has {format_size(total)}",
            f"a smaller limit, or --memory {MACHINE} for all that there is",
        )


def _check_huge_pages(trial: PlannedTrial, facts: HostFacts) -> None:
    """Huge pages that are reserved count to no control group (Linux, hugetlb in cgroup-v2.rst)."""
    asked = dict(trial.settings).get("huge_pages", "try").lower()
    if facts.memory.huge_pages_free and asked not in ("off", "false", "no", "0"):
        raise MachineError(
            f"{facts.memory.huge_pages_free} huge pages are free, and with huge_pages={asked} the"
            " server would have its shared buffers in them, outside of the limit of memory",
            "--guc huge_pages=off, or give the pages back: sysctl -w vm.nr_hugepages=0; with huge"
            " pages measure without a limit: --memory machine",
        )


def _too_small(trial: PlannedTrial, limit: Bytes, needed: Bytes) -> MachineError:
    buffers = size_setting(dict(trial.settings), "shared_buffers")
    clients = trial.load.connections
    load = "1 client" if clients == 1 else f"{clients} clients"
    return MachineError(
        f"memory={exact_size(limit)} is too small for {trial.cell}: the server takes about"
        f" {format_size(needed)}, {format_size(needed - limit)} more"
        f" ({format_size(buffers)} of shared buffers, {load}), and leaves nothing for the page"
        " cache",
        "a larger --memory, a smaller share of shared_buffers, or fewer clients",
    )
