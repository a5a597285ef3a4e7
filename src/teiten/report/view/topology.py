"""Where the load and the servers were, drawn: machines, load generator, servers, disk."""

from __future__ import annotations

from teiten.kinds.contract_present import presents_in
from teiten.model.distribution import CoordinatorRows
from teiten.model.facts import HostFacts
from teiten.model.study import SERVER
from teiten.report.blocks import Drawing
from teiten.report.charts.base import SIDE_COLOURS
from teiten.report.numbers import bytes_text
from teiten.report.sentences import processor
from teiten.report.sites import (
    client_machine,
    link_text,
    machine_heading,
    node_heading,
    on_nodes,
    parameter_of,
    whereabouts,
)
from teiten.report.topology import Box, Topology, on_white, topology_svg
from teiten.report.view.kit import Kit
from teiten.report.view.nodes import machine_of_node
from teiten.ways.registry import way_of

MOST_SIDES = 6
"""So many are drawn each as a server of its own: as many as have colours of their own."""


def topology(kit: Kit) -> Drawing:
    t, facts = kit.t, kit.analysis.facts
    client = client_machine(kit)
    servers, nodes = _servers(kit)
    disk = facts.disk
    drawn = topology_svg(
        Topology(
            t("topology.title"),
            _machine_box(kit, machine_heading(kit), facts, narrow=client is not None),
            next(iter(presents_in(kit).values())).load(kit),
            link_text(kit),
            servers,
            _turns(kit) if len(servers) > 1 else "",
            Box(
                t("topology.disk"),
                (
                    f"{disk.kind} · {disk.file_system} · {disk.device}",
                    t("topology.space", free=bytes_text(disk.free), total=bytes_text(disk.total)),
                ),
            ),
            nodes,
            _machine_box(kit, *client, narrow=True) if client else None,
        )
    )
    title, note = t("topology.title"), whereabouts(kit)
    return Drawing("topology", title, note, drawn, on_white(drawn))


def _servers(kit: Kit) -> tuple[tuple[tuple[Box, str], ...], tuple[Box, ...]]:
    """One for each side, with its colour, or of many sides for each server; where tables are spread
    over nodes the server that has all of them, the coordinator, and behind it the most nodes of any
    trial."""
    t = kit.t
    spread = on_nodes(kit)
    if not spread:
        names = kit.names
        many = len(names.sides) > MOST_SIDES or bool(kit.study.measure.by_session)
        sides = enumerate((names.servers if many else names.sides).values())
        boxes = ((Box(one.long, _buffers(kit, one.level)), at) for at, one in sides)
        return tuple((box, SIDE_COLOURS[at % len(SIDE_COLOURS)]) for box, at in boxes), ()
    most = max(one.nodes for one in spread)
    engines = t("list.separator").join(dict.fromkeys(one.engine for one in spread))
    own = (*_buffers(kit, None), *machine_of_node(kit))
    apart = any(one.coordinator is CoordinatorRows.APART for one in spread)
    numbers = range(1 if apart else 2, most + 1)
    nodes = tuple(
        Box(node_heading(kit, number) or t("topology.node", number=number), own)
        for number in numbers
    )
    role = "no-rows" if apart else "with-rows"
    if any(one.ran_already for one in spread):
        role = "entry"
    rows = t(f"topology.{role}", engine=engines)
    coordinator = Box(t("topology.coordinator"), (rows, *own))
    alone = len(spread) < len(kit.analysis.plan.trials)
    plain = ((Box(t("topology.plain"), own), SIDE_COLOURS[0]),) if alone else ()
    return (*plain, (coordinator, SIDE_COLOURS[1])), nodes


def _turns(kit: Kit) -> str:
    way = way_of(kit.study.measure)
    if on_nodes(kit) and not way.concurrent:
        return kit.t("topology.turns-nodes")
    return kit.t(f"way.{way.name}.turns")


def _machine_box(kit: Kit, heading: str, facts: HostFacts, *, narrow: bool) -> Box:
    """A machine in a few lines: two that are long, or three that are short."""
    t = kit.t
    cores = t.plural("topology.processors", facts.cpu.logical, model=processor(facts.cpu.model))
    memory = t("topology.memory", size=bytes_text(facts.memory.total))
    system = " · ".join(
        filter(
            None,
            (
                facts.distribution or facts.system,
                facts.kernel,
                facts.virtualisation and t("topology.virtual", kind=facts.virtualisation),
                facts.container and t("topology.container", kind=facts.container),
            ),
        )
    )
    return Box(heading, (cores, memory, system) if narrow else (f"{cores} · {memory}", system))


def _buffers(kit: Kit, side: str | None) -> tuple[str, ...]:
    """The line of shared_buffers: a server's own, where it has one, else what the trials of a side,
    or all of them, have."""
    factors = (kit.study.contrast, SERVER)
    trials = [
        trial
        for trial in kit.analysis.plan.trials
        if side is None or side in map(trial.cell.level, factors)
    ]
    given = {setting.name: setting.value for setting in kit.study.settings}.get("shared_buffers")
    planned = [dict(trial.settings).get("shared_buffers", given) for trial in trials] or [given]
    shared = kit.t("list.separator").join(dict.fromkeys(filter(None, planned)))
    value = shared if side is None else parameter_of(kit, side, "shared_buffers", shared)
    return (f"shared_buffers {value}",) if value else ()
