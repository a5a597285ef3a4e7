"""Machines of a trial's nodes where nodes are emulated as machines of their own, and cautions about
a distribution of tables under a load that is not meant for it; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from teiten.engines.registry import engine_of
from teiten.errors import MachineError
from teiten.kinds.contract import plan_of
from teiten.model.distribution import Distribution, SpreadBy
from teiten.model.facts import Caution, HostFacts, LogicalCpu
from teiten.model.nodes import EmulatedNodes, Lack, NodeMachine, NodePart
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.quantities import exact_size, format_size
from teiten.model.settings import size_setting
from teiten.model.study import Study, Workload
from teiten.plan.sites.of import starts

LEAST_FREE = 1.25
"""A node's memory by the shared buffers of its server: the rest is for its processes."""


def emulated(study: Study, lacks: Sequence[Lack]) -> Study:
    """The study on a machine that cannot emulate some parts of a node.

    Raises MachineError where the study insists on one of them.
    """
    if study.nodes is None:
        return study
    nodes = study.nodes.without(lacks)
    if nodes.insist and nodes.lacking:
        part, reason = nodes.lacking[0]
        raise MachineError(
            f"the study insists on emulated nodes, and their {part} cannot be emulated: {reason}",
            "run it as root on Linux with the program ip (iproute2); or plain servers, with less to"
            " say: --set nodes.insist=no",
        )
    return replace(study, nodes=nodes)


def with_machines(
    study: Study, trials: Sequence[PlannedTrial], cpus: Sequence[LogicalCpu]
) -> Iterator[PlannedTrial]:
    """The trials with what each of their nodes has; attached servers are as they are.

    Raises MachineError where the study insists on more.
    """
    for trial in trials:
        started = all(starts(template.installation) for template in trial.templates)
        if study.nodes is not None and study.nodes.insist and not started:
            raise MachineError(
                "the study insists on emulated nodes, and a server of it is attached: Teiten does"
                " not start it",
                "name servers that Teiten starts (--servers 18); or --set nodes.insist=no",
            )
        if study.nodes is None or not study.nodes.in_force or not started:
            yield trial
            continue
        count = len(trial.templates)
        yield replace(trial, machines=tuple(machines(study.nodes, count, cpus)))


def machines(nodes: EmulatedNodes, count: int, cpus: Sequence[LogicalCpu]) -> Iterator[NodeMachine]:
    """Plan the machine of each of ``count`` nodes. Where there are fewer processors than all nodes
    together ask for, the nodes share them in turn."""
    numbers = sorted(cpu.number for cpu in cpus)
    own = 0 if nodes.cpus is None or nodes.lacks(NodePart.CPUS) else min(nodes.cpus, len(numbers))
    throttled = not nodes.lacks(NodePart.STORAGE)
    for node in range(count):
        taken = {numbers[(node * own + processor) % len(numbers)] for processor in range(own)}
        yield NodeMachine(
            network=not nodes.lacks(NodePart.NETWORK),
            memory=nodes.memory_in_force,
            read=nodes.read if throttled else None,
            write=nodes.write if throttled else None,
            cpus=tuple(sorted(taken)),
        )


def check_machines(trial: PlannedTrial, concurrent_trials: int, facts: HostFacts) -> None:
    """Raise MachineError for nodes that together have more memory than the machine, or each of
    which has too little for its server. ``concurrent_trials``: how many such trials share their
    time."""
    memory = next(iter(trial.machines)).memory
    if memory is None:
        return
    together = len(trial.machines) * concurrent_trials
    if memory * together > facts.memory.total:
        raise MachineError(
            f"nodes.memory={exact_size(memory)} for each of {together} nodes: the machine has"
            f" {format_size(facts.memory.total)}",
            "a smaller --node-memory, or fewer nodes",
        )
    buffers = size_setting(dict(trial.settings), "shared_buffers")
    if buffers * LEAST_FREE > memory:
        raise MachineError(
            f"nodes.memory={exact_size(memory)} is too small for {trial.cell}: of it"
            f" {format_size(buffers)} are shared buffers, which leaves too little for the server's"
            " processes",
            "a larger --node-memory, or smaller buffers: --guc shared_buffers=25%",
        )


def node_cautions(plan: Plan, *, buffered_writes: bool) -> Iterator[Caution]:
    """Warn that nodes are emulated, of what is not, and of what is less than it seems.

    ``buffered_writes``: the kernel throttles also what it writes later from the page cache.
    """
    nodes = plan.study.nodes
    trials = [trial for trial in plan.trials if trial.machines]
    if nodes is None:
        return
    for part, reason in nodes.lacking:
        yield Caution.warning(f"nodes-without-{part}", reason=reason)
    if nodes.in_force and len(trials) < len(plan.trials):
        for part in nodes.asked:
            if not nodes.lacks(part):
                yield Caution.warning(
                    f"nodes-without-{part}", reason="attached servers are as they are"
                )
    if not trials:
        return
    largest = max(trials, key=lambda trial: len(trial.machines))
    count = len(largest.machines)
    yield Caution.warning("nodes-emulated", nodes=count)
    sets = [machine.cpus for machine in largest.machines if machine.cpus]
    if len({cpu for cpus in sets for cpu in cpus}) < sum(map(len, sets)):
        yield Caution.warning("nodes-share-processors", nodes=count, cpus=nodes.cpus)
    if largest.machines[0].write is not None and not buffered_writes:
        yield Caution.warning("nodes-write-unthrottled")


BRANCH = re.compile(r"\bbid\b", re.IGNORECASE)
Spread = tuple[Workload, Distribution]


def distribution_cautions(plan: Plan) -> Iterator[Caution]:
    """Each once, of the trials with the most nodes."""
    spread = [
        (plan.study.workload(trial.cell.workload), trial.distribution)
        for trial in plan.trials
        if trial.distribution is not None
    ]
    spread.sort(key=lambda pair: pair[1].nodes, reverse=True)
    yield from _uneven(distribution for _, distribution in spread)
    yield from _of_each_workload("distribution-retries", filter(_fails, spread))
    by_branch = [pair for pair in spread if pair[1].by is SpreadBy.BRANCH]
    for distribution in [planned for _, planned in by_branch if planned.scale < planned.shards][:1]:
        # whole branches lie on one node each, and by hash few are spread unevenly
        values = {"scale": distribution.scale, "shards": distribution.shards}
        yield Caution.warning("distribution-few-branches", **values, nodes=distribution.nodes)
    asking = (pair for pair in by_branch if not _names_branch(pair[0]))
    yield from _of_each_workload("distribution-asks-all", asking, "shards")
    everywhere = (
        (workload, planned)
        for workload, planned in spread
        if planned.by is SpreadBy.REFERENCE and workload.changes_data and planned.nodes > 1
    )
    # every node commits each transaction that changes a branch
    yield from islice(_of_each_workload("distribution-reference", everywhere, "nodes"), 1)


def _of_each_workload(code: str, spread: Iterable[Spread], *values: str) -> Iterator[Caution]:
    """Warn of the first distribution of each workload, with some of its values."""
    first: dict[str, Distribution] = {}
    for workload, planned in spread:
        first.setdefault(workload.name, planned)
    for name, planned in first.items():
        named = {value: getattr(planned, value) for value in ("engine", *values)}
        yield Caution.warning(code, workload=name, **named)


def _uneven(distributions: Iterable[Distribution]) -> Iterator[Caution]:
    """Shards that the nodes do not divide."""
    uneven = {
        (planned.shards, planned.nodes): planned
        for planned in distributions
        if planned.shards % planned.nodes
    }
    for (shards, nodes), planned in sorted(uneven.items()):
        fewest = shards // nodes
        yield Caution.warning(
            "distribution-uneven",
            engine=planned.engine,
            shards=shards,
            nodes=nodes,
            fewest=fewest,
            most=fewest + 1,
        )


def _fails(spread: Spread) -> bool:
    """Whether a load gives up at the first serialization failure of its updates."""
    workload, planned = spread
    fails = workload.changes_data and engine_of(planned.engine).needs_retries
    return fails and plan_of(workload.kind).gives_up(workload)


def _names_branch(workload: Workload) -> bool:
    """pgbench's own scripts look for accounts by their own key alone."""
    texts = workload.options.texts
    return all(not text.builtin and BRANCH.search(text.text) for text in texts)
