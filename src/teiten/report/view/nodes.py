"""Resources of nodes that were emulated as machines of their own, for the evidence."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.model.nodes import NodeMachine
from teiten.model.plan import PlannedTrial
from teiten.report.numbers import bytes_text
from teiten.report.view.kit import Kit

CHECKED = "nodes-emulated"
"""The event of emulated nodes that were seen to hold."""


def emulates_nodes(kit: Kit) -> bool:
    return any(trial.machines for trial in kit.analysis.plan.trials)


def machine_of_node(kit: Kit) -> tuple[str, ...]:
    """List what each node has for itself where nodes are emulated; empty elsewhere."""
    machine = next(
        (trial.machines[0] for trial in kit.analysis.plan.trials if trial.machines), None
    )
    if machine is None:
        return ()
    found = (
        ("memory", machine.memory and bytes_text(machine.memory)),
        ("read", machine.read and f"{bytes_text(machine.read)}/s"),
        ("write", machine.write and f"{bytes_text(machine.write)}/s"),
    )
    return tuple(kit.t(f"topology.node-{name}", value=value) for name, value in found if value)


def node_rows(kit: Kit) -> Iterator[tuple[str, str]]:
    """A row of the environment's table; none where nodes are plain servers."""
    trials = [trial for trial in kit.analysis.plan.trials if trial.machines]
    if trials:
        most = max(trials, key=lambda one: len(one.machines))
        said = [kit.t("nodes.each"), *_had(kit, most), *_checked(kit), *_peak(kit)]
        yield kit.t("nodes.emulated"), kit.t("list.strong").join(said)


def _had(kit: Kit, trial: PlannedTrial) -> Iterator[str]:
    t, first = kit.t, trial.machines[0]
    if first.memory is not None:
        yield t("nodes.memory", memory=bytes_text(first.memory))
    if first.read is not None:
        yield t("nodes.read", rate=bytes_text(first.read))
    if first.write is not None:
        yield t("nodes.write", rate=bytes_text(first.write))
    sets = dict.fromkeys(_cpus(machine) for machine in trial.machines if machine.cpus)
    if sets:
        yield t("nodes.cpus", cpus=" / ".join(sets))


def _cpus(one: NodeMachine) -> str:
    return ", ".join(map(str, one.cpus))


def _checked(kit: Kit) -> Iterator[str]:
    """Tell what was seen of the emulated nodes before the first trial."""
    events = [event.detail for event in kit.analysis.events if event.kind == CHECKED]
    for found in events[-1:]:
        if found.get("addresses"):
            yield kit.t("nodes.addresses", addresses=", ".join(found["addresses"]))
        if found.get("counted") is not None:
            sizes = {name: bytes_text(found[name]) for name in ("read", "counted")}
            yield kit.t("nodes.checked.read", version=found["cgroup"], **sizes)


def _peak(kit: Kit) -> Iterator[str]:
    """The most memory that any node used in any trial, as the kernel counted."""
    planned = {trial.number for trial in kit.analysis.plan.trials if trial.machines}
    peaks = [
        node["memory"]["peak"]
        for trial in kit.analysis.trials
        if trial.number in planned
        for node in trial.facts.get("nodes", {"1": trial.facts}).values()
        if "peak" in node.get("memory", {})
    ]
    if peaks:
        yield kit.t("nodes.peak", peak=bytes_text(max(peaks)))
