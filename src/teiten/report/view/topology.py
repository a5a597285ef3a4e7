"""Where the load and the servers were, drawn: machines, load generator, servers, disk."""

from __future__ import annotations

from teiten.model.facts import HostFacts
from teiten.report.blocks import Drawing
from teiten.report.charts.base import SIDE_COLOURS
from teiten.report.numbers import bytes_text
from teiten.report.sentences import processor
from teiten.report.sites import (
    client_machine,
    link_text,
    machine_heading,
    parameter_of,
    whereabouts,
)
from teiten.report.topology import Box, Topology, on_white, topology_svg
from teiten.report.view.kit import Kit


def topology(kit: Kit) -> Drawing:
    t, facts, plan = kit.t, kit.analysis.facts, kit.analysis.plan
    client = client_machine(kit)
    settings = dict(plan.trials[0].settings) if plan.trials else {}
    shared = settings.get("shared_buffers") or next(
        (one.value for one in kit.study.settings if one.name == "shared_buffers"), None
    )
    servers = tuple(
        (
            Box(side.long, _buffers(kit, side.level, shared)),
            SIDE_COLOURS[at % len(SIDE_COLOURS)],
        )
        for at, side in enumerate(kit.names.sides.values())
    )
    disk = facts.disk
    drawn = topology_svg(
        Topology(
            t("topology.title"),
            _machine_box(kit, machine_heading(kit), facts, narrow=client is not None),
            next(iter(kit.kinds.values())).load(kit),
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
            _machine_box(kit, *client, narrow=True) if client else None,
        )
    )
    title, note = t("topology.title"), whereabouts(kit)
    return Drawing("topology", title, note, drawn, on_white(drawn))


def _turns(kit: Kit) -> str:
    if kit.study.measure.paired:
        return kit.t("topology.turns-paired")
    side_by_side = kit.study.measure.side_by_side
    return kit.t("topology.turns-side-by-side" if side_by_side else "topology.turns")


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


def _buffers(kit: Kit, side: str, shared: str | None) -> tuple[str, ...]:
    """The line of shared_buffers: the server's own, where it has one, else the study's value."""
    value = parameter_of(kit, side, "shared_buffers", shared)
    return (f"shared_buffers {value}",) if value else ()
