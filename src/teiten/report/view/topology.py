"""Where the load and the servers were, drawn: machines, load generator, servers, disk; as SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from markupsafe import Markup

from teiten.kinds.contract_present import presents_in
from teiten.model.distribution import CoordinatorRows
from teiten.model.facts import HostFacts
from teiten.model.study import GUC_PREFIX, SERVER
from teiten.model.text import shortened
from teiten.report.blocks import Box, Drawing
from teiten.report.charts.base import FONT, SIDE_COLOURS, text_width
from teiten.report.names import Side
from teiten.report.numbers import bytes_text
from teiten.report.sentences import processor
from teiten.report.sites import (
    client_machine,
    link_text,
    machine_heading,
    node_heading,
    on_nodes,
    shared_buffers_of,
    whereabouts,
)
from teiten.report.view.kit import Kit
from teiten.report.view.variants import machine_of_node
from teiten.ways.registry import way_of

MOST_SIDES = 6
"""So many are drawn each as a server of its own: as many as have colours of their own."""


def topology(kit: Kit) -> Drawing:
    t, facts = kit.t, kit.analysis.facts
    client, disk = client_machine(kit), facts.disk
    servers, nodes = _servers(kit)
    space = t("topology.space", free=bytes_text(disk.free), total=bytes_text(disk.total))
    title, way = t("topology.title"), way_of(kit.study.measure)
    of_nodes = on_nodes(kit) and not way.concurrent
    turns = "topology.turns-nodes" if of_nodes else f"way.{way.name}.turns"
    drawn = _drawn(
        Topology(
            title,
            _machine_box(kit, machine_heading(kit), facts, narrow=client is not None),
            next(iter(presents_in(kit).values())).load(kit),
            link_text(kit),
            servers,
            t(turns) if len(servers) > 1 else "",
            Box(
                t("topology.disk"),
                (f"{disk.kind} · {disk.file_system} · {disk.device}", space),
            ),
            nodes,
            _machine_box(kit, *client, narrow=True) if client else None,
        )
    )
    paper = Markup('<rect width="100%" height="100%" fill="white"/><title>')
    alone = drawn.replace(Markup("<title>"), paper, 1)  # a picture has no page's colours behind it
    return Drawing("topology", title, whereabouts(kit), drawn, alone)


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
        return tuple(
            (_server_box(kit, side), SIDE_COLOURS[at % len(SIDE_COLOURS)]) for at, side in sides
        ), ()
    most = max(tables.nodes for tables in spread)
    engines = t("list.separator").join(dict.fromkeys(tables.engine for tables in spread))
    own = (*_buffers(kit, None), *machine_of_node(kit))
    apart = any(tables.coordinator is CoordinatorRows.APART for tables in spread)
    numbers = range(1 if apart else 2, most + 1)
    nodes = tuple(
        Box(node_heading(kit, number) or t("topology.node", number=number), own)
        for number in numbers
    )
    role = "no-rows" if apart else "with-rows"
    if any(tables.ran_already for tables in spread):
        role = "entry"
    rows = t(f"topology.{role}", engine=engines)
    coordinator = Box(t("topology.coordinator"), (rows, *own))
    alone = len(spread) < len(kit.analysis.plan.trials)
    plain = ((Box(t("topology.plain"), own), SIDE_COLOURS[0]),) if alone else ()
    return (*plain, (coordinator, SIDE_COLOURS[1])), nodes


def _server_box(kit: Kit, side: Side) -> Box:
    """A server, with settings of its own in lines, which are too long to stand behind its name."""
    own, buffers = dict(kit.study.server_levels).get(side.level, ()), _buffers(kit, side.level)
    if not own:
        heading = side.long if text_width(side.long) <= HEADING else side.short
        return Box(heading, buffers)
    settings = tuple(f"{kit.names.factor(name)} = {value}" for name, value in own)
    has_buffers = f"{GUC_PREFIX}shared_buffers" in dict(own)
    version = kit.names.servers[side.level].long
    return Box(kit.t.aside(side.short, version), settings if has_buffers else (*settings, *buffers))


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
    """The line of shared_buffers: a server's own, else that of a side's trials, or of all."""
    factors = (kit.study.contrast, SERVER)
    trials = [
        trial
        for trial in kit.analysis.plan.trials
        if side is None or side in map(trial.cell.level, factors)
    ]
    given = kit.study.fixed_settings.get("shared_buffers")
    planned = [dict(trial.settings).get("shared_buffers", given) for trial in trials] or [given]
    shared = kit.t("list.separator").join(dict.fromkeys(filter(None, planned)))
    value = shared if side is None else shared_buffers_of(kit, side, shared)
    return (f"shared_buffers {value}",) if value else ()


WIDTH = 720
LINE = 19
BESIDE_ARROW = 24
"""Half-width characters that fit between the load generator and the servers."""
GAP = 12
GAP_BELOW = 30
"""Between a coordinator and its nodes."""
MOST_CHARACTERS = 42
"""Characters of other texts; lines on a machine have limits of their own."""
BOLD, PLAIN = 7.4, 6.6
"""Pixels that a letter of a box takes, of its heading and of its lines."""
HEADING = 270
"""Pixels of a side's heading."""


@dataclass(frozen=True)
class Topology:
    """One machine: the client on the left, servers (one at a time) on the right, disk below."""

    title: str
    machine: Box
    client: Box
    link: str
    servers: tuple[tuple[Box, str], ...]
    """With the colour of the side."""
    turns: str
    """Says that one server runs at a time."""
    disk: Box
    behind: tuple[Box, ...] = ()
    """The nodes of a coordinator, the last of ``servers``: clients do not reach them."""
    client_machine: Box | None = None
    """The load generator's machine, where it has its own; ``machine`` is then the servers'."""


def _text(
    x: float,
    y: float,
    text: str,
    *,
    bold: bool = False,
    size: int = 13,
    anchor: str = "start",
    opacity: float = 1.0,
    most: int = MOST_CHARACTERS,
) -> Markup:
    short = shortened(text, most)
    return Markup(
        '<text x="{}" y="{}" font-size="{}" font-weight="{}" text-anchor="{}" opacity="{}">'
        "<title>{}</title>{}</text>"
    ).format(x, y, size, 600 if bold else 400, anchor, opacity, text, short)


def _box(x: float, y: float, width: float, height: float, colour: str = "") -> Markup:
    edge = Markup(
        '<rect x="{}" y="{}" width="{}" height="{}" rx="6" fill="none" '
        'stroke="currentColor" stroke-opacity="0.4"/>'
    ).format(x, y, width, height)
    if not colour:
        return edge
    return edge + Markup('<rect x="{}" y="{}" width="6" height="{}" rx="3" fill="{}"/>').format(
        x, y, height, colour
    )


def _filled(
    x: float, y: float, width: float, box: Box, colour: str = "", *, narrow: bool = False
) -> tuple[Markup, float]:
    """``narrow``: a box of half the width, whose lines are smaller and nearer to its edge."""
    height = 34 + LINE * len(box.lines)
    left, size = (x + 10, 11) if narrow else (x + 18, 12)
    room = x + width - left
    heading = _text(left, y + 24, box.heading, bold=True, most=int(room / BOLD))
    drawn = [_box(x, y, width, height, colour), heading]
    drawn += [
        _text(
            left,
            y + 24 + LINE * (at + 1),
            line,
            size=size,
            opacity=0.8,
            most=int(room / PLAIN * 12 / size),
        )
        for at, line in enumerate(box.lines)
    ]
    return Markup("").join(drawn), height


def _arrow(x1: float, y1: float, x2: float, y2: float) -> Markup:
    return Markup(
        '<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="currentColor" '
        'stroke-opacity="0.6" stroke-width="1.5" marker-end="url(#arrow)"/>'
    ).format(x1, y1, x2, y2)


def _behind(nodes: Sequence[Box], top: float) -> tuple[Markup, float]:
    """Two in a row, each at the end of a line from the server above."""
    drawn, y, wide = Markup(""), top, (290 - GAP) / 2
    for at, box in enumerate(nodes):
        left = 400 + (at % 2) * (wide + GAP)
        part, height = _filled(left, y, wide, box, narrow=True)
        drawn += part
        if at < 2:
            middle = left + wide / 2
            drawn += _arrow(middle, top - GAP_BELOW + 2, middle, top - 4)
        if at % 2 or at == len(nodes) - 1:
            y += height + GAP
    return drawn, y - GAP


def _machine(machine: Box, x: float, width: float, height: float, *, most: int) -> Markup:
    parts = [_box(x, 2, width, height), _text(x + 22, 28, machine.heading, bold=True, size=14)]
    parts += [
        _text(x + 22, 48 + LINE * at, line, size=12, opacity=0.8, most=most)
        for at, line in enumerate(machine.lines)
    ]
    return Markup("").join(parts)


def beside_arrow(text: str) -> list[str]:
    """The lines of a text that fit: of words; without spaces, of parts of a sentence, and equal
    parts of these."""
    if " " in text:
        return wrap(text, BESIDE_ARROW)
    most = BESIDE_ARROW // 2
    parts = [text][: len(text)] if len(text) <= most else re.findall("[^、]+、?", text)
    return [line for part in parts for line in wrap(part, -(-len(part) // -(-len(part) // most)))]


def _drawn(topology: Topology) -> Markup:
    """The drawing, sized by its viewBox; colours follow the page's text."""
    lines = [
        len(machine.lines) for machine in (topology.machine, topology.client_machine) if machine
    ]
    head = 52 + LINE * max(lines)
    servers = Markup("")
    bottom: float = head + 10
    for box, colour in topology.servers:
        part, server_height = _filled(400, bottom + GAP, 290, box, colour)
        servers += part
        bottom += GAP + server_height
    middle = (head + 22 + bottom) / 2
    if topology.behind:
        nodes, bottom = _behind(topology.behind, bottom + GAP_BELOW)
        servers += nodes
    client_height = 34 + LINE * len(topology.client.lines)
    client, _ = _filled(30, middle - client_height / 2, 220, topology.client)
    bottom = max(bottom, middle + client_height / 2)
    disk, disk_height = _filled(400, bottom + 42, 290, topology.disk)
    height = bottom + 42 + disk_height + 22
    if topology.client_machine is None:
        machines = _machine(topology.machine, 2, WIDTH - 4, height - 2, most=100)
    else:
        machines = _machine(topology.client_machine, 2, 268, height - 2, most=38)
        machines += _machine(topology.machine, 378, WIDTH - 380, height - 2, most=48)
    parts = [
        Markup(
            '<svg xmlns="http://www.w3.org/2000/svg" class="topology" viewBox="0 0 {} {}" '
            'width="{}" role="img" font-family="{}" fill="currentColor"><title>{}</title>'
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
            'markerHeight="8" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z"/></marker>'
            "</defs>"
        ).format(WIDTH, height + 4, WIDTH, FONT, topology.title),
        machines,
        client,
        servers,
        disk,
        _arrow(250, middle, 396, middle),
        _text(323, middle - 9, topology.link, size=11, anchor="middle", opacity=0.8),
        *(
            _text(323, middle + 19 + 14 * at, line, size=11, anchor="middle", opacity=0.8)
            for at, line in enumerate(beside_arrow(topology.turns))
        ),
        _arrow(545, bottom + 2, 545, bottom + 38),
        Markup("</svg>"),
    ]
    return Markup("").join(parts)
