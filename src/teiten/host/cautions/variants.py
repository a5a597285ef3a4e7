"""Cautions of what a study varies: where a level has no effect here, or means less than it seems.

Pure: plan and facts in, cautions out. What cannot run at all is an error of ``plan.checks``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from teiten.model.facts import Caution, HostFacts, LogicalCpu
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.settings import ABOUT_FLUSHES
from teiten.model.study import GUC_PREFIX, SERVER
from teiten.ways.registry import way_of

ONLY_FOR_WRITES = ABOUT_FLUSHES | {
    "checkpoint_timeout",
    "full_page_writes",
    "max_wal_size",
    "wal_buffers",
    "wal_compression",
    "wal_level",
}
ONLY_FOR_READS = frozenset(
    {
        "effective_io_concurrency",
        "io_combine_limit",
        "io_max_concurrency",
        "io_method",
        "io_workers",
        "maintenance_io_concurrency",
    }
)
"""Parameters that only have an effect on reads of pages from outside shared buffers."""
UNSAFE = ("fsync", "full_page_writes")
"""Off, a crash of the machine destroys the data."""

Found = Iterable[Caution]


def variant_cautions(plan: Plan, facts: HostFacts) -> Iterator[Caution]:
    """Everything that a plan's factors give reason to say."""
    for rule in RULES:
        yield from rule(plan, facts)


def order_of_servers(plan: Plan) -> tuple[Caution, ...]:
    """A note where the newer version stands first: the first is taken as old, whatever it is."""
    if plan.study.contrast != SERVER or len(plan.servers) < 2:
        return ()
    (old, first), *others = plan.servers
    newer = [level for level, server in others if server.version < first.version]
    if not newer:
        return ()
    return (Caution.note("servers-order", old=old, new=", ".join(newer)),)


def pinned_apart(plan: Plan) -> bool:
    """Server and pgbench never share a processor."""
    return all(trial.server_cpus and not _shares(trial) for trial in plan.trials)


def _shared_cores(plan: Plan, facts: HostFacts) -> Found:
    if any(_shares(trial) for trial in plan.trials):
        most = max(len(trial.server_cpus) for trial in plan.trials)
        yield Caution.warning("cores-shared", cores=most, here=len(facts.cpu.cpus))


def _hardware_threads(plan: Plan, facts: HostFacts) -> Found:
    core_of = _by_number(facts, lambda cpu: (cpu.package, cpu.core))
    doubled = [
        len(trial.server_cpus)
        for trial in plan.trials
        if len({core_of[cpu] for cpu in trial.server_cpus}) < len(trial.server_cpus)
    ]
    if doubled:
        yield Caution.note("cores-hardware-threads", cores=min(doubled))
    for trial in plan.trials:
        server = {core_of[cpu] for cpu in trial.server_cpus}
        if not _shares(trial) and server & {core_of[cpu] for cpu in trial.client_cpus}:
            yield Caution.warning("cores-pgbench-beside")
            return


def _nodes(plan: Plan, facts: HostFacts) -> Found:
    node_of = _by_number(facts, lambda cpu: cpu.node)
    spread = [
        len(trial.server_cpus)
        for trial in plan.trials
        if len({node_of[cpu] for cpu in trial.server_cpus}) > 1
    ]
    if spread:
        yield Caution.note("cores-nodes", cores=min(spread))


def _without_effect(plan: Plan, _facts: HostFacts) -> Found:
    for name in _varied(plan):
        if name in ONLY_FOR_WRITES and not plan.study.writes:
            yield Caution.warning("parameter-needs-writes", name=name)
        if name in ONLY_FOR_READS and plan.study.measure.prewarm:
            yield Caution.warning("parameter-needs-reads", name=name)


def _one_disk(plan: Plan, _facts: HostFacts) -> Found:
    """Where sides that flush differently ran at the same time, as in campaigns of earlier versions,
    each has the other's queue."""
    if way_of(plan.study.measure).concurrent and plan.study.writes:
        for name in sorted(ABOUT_FLUSHES.intersection(_varied(plan))):
            yield Caution.warning("parameter-shared-disk", name=name)


def _huge_pages(plan: Plan, facts: HostFacts) -> Found:
    levels = _varied(plan).get("huge_pages", set())
    if "try" in levels and not facts.memory.huge_pages_free:
        yield Caution.warning("huge-pages-try")


def _unsafe(plan: Plan, _facts: HostFacts) -> Found:
    used = {(name, value) for trial in plan.trials for name, value in trial.settings}
    for name in UNSAFE:
        if any((name, value) in used for value in ("off", "false", "no", "0")):
            yield Caution.warning("parameter-unsafe", name=name)


def _storages(plan: Plan, facts: HostFacts) -> Found:
    """Emulated ones, and such as lie on one device."""
    named = {name for trial in plan.trials if trial.placement for name in trial.placement.used}
    devices = {directory.path: directory.disk.device for directory in facts.directories}
    together: dict[str, list[str]] = {}
    for storage_class in plan.study.storage:
        if storage_class.name not in named:
            continue
        if storage_class.emulation is not None:
            yield Caution.warning("storage-emulated", name=storage_class.name)
        elif storage_class.path in devices:
            together.setdefault(devices[storage_class.path], []).append(storage_class.name)
    for device, names in together.items():
        if len(names) > 1:
            yield Caution.warning("storage-shared", names=", ".join(names), device=device)


RULES: tuple[Callable[[Plan, HostFacts], Found], ...] = (
    _shared_cores,
    _hardware_threads,
    _nodes,
    _without_effect,
    _one_disk,
    _huge_pages,
    _unsafe,
    _storages,
)


def _varied(plan: Plan) -> dict[str, set[str]]:
    """The parameters that differ between trials, as a factor or on the sides, with their values."""
    names = [factor.name for factor in plan.study.factors if len(factor.levels) > 1]
    names += [name for _, levels in plan.study.server_levels for name, _ in levels]
    wanted = {name.removeprefix(GUC_PREFIX) for name in names if name.startswith(GUC_PREFIX)}
    values: dict[str, set[str]] = {name: set() for name in sorted(wanted)}
    for trial in plan.trials:
        for name, value in trial.settings:
            if name in values:
                values[name].add(value.lower())
    return values


def _shares(trial: PlannedTrial) -> bool:
    return bool(set(trial.server_cpus) & set(trial.client_cpus))


def _by_number(facts: HostFacts, of: Callable[[LogicalCpu], object]) -> dict[int, object]:
    return {cpu.number: of(cpu) for cpu in facts.cpu.cpus}
