"""Part 2: what was asked and how: purpose, factors, design, machine, differences."""

from __future__ import annotations

from collections.abc import Callable

from teiten.kinds.contract_present import KindPresent
from teiten.model.facts import HostFacts
from teiten.model.study import DataKind, Workload
from teiten.model.trial import Outcome
from teiten.report.blocks import (
    Beside,
    Block,
    Code,
    Details,
    Drawing,
    Entries,
    Entry,
    Heading,
    Items,
    Pairs,
    Section,
    Text,
)
from teiten.report.charts.base import SIDE_COLOURS, Chart
from teiten.report.charts.grid import GridWords, Square, design_grid
from teiten.report.numbers import bytes_text, plain
from teiten.report.sentences import plain_percent, processor
from teiten.report.sites import shown
from teiten.report.topology import Box, Topology, on_white, topology_svg
from teiten.report.view.design import (
    blocks_text,
    noise_rows,
    replication_rows,
    side_by_side_rows,
    trials_shown,
)
from teiten.report.view.kit import Kit
from teiten.report.view.saturation import saturation_rows

FAILED, DISTURBED, REPEATED, NOT_RUN = "×", "≈", "↻", "·"


def asked(kit: Kit) -> Section:
    """The second section."""
    t, study = kit.t, kit.study
    shown: list[Block] = [
        Text(t.of(study.question), "question"),
        Heading(3, t("heading.purpose")),
        Text(t.of(study.purpose)),
    ]
    if study.sources:
        listed = t("list.separator").join(study.sources)
        shown.append(Text(t("heading.sources", sources=listed), "note"))
    design = (Heading(3, t("heading.design")), Pairs(_design(kit), "facts"))
    procedure = (Heading(3, t("heading.procedure")), Items(_procedure(kit), "steps"))
    shown += [
        Beside((design, procedure)),
        Heading(3, t("heading.workloads")),
        Entries(tuple(_workload(kit, one) for one in study.workloads)),
        _grid(kit),
        Heading(3, t("heading.topology")),
        _topology(kit),
    ]
    if study.differences:
        differences = tuple(t.of(one) for one in study.differences)
        shown += [Heading(3, t("heading.differences")), Items(differences)]
    return Section("asked", t("section.asked"), tuple(shown))


def _workload(kit: Kit, one: Workload) -> Entry:
    t, source = kit.t, one.options.source
    text = "\n".join(
        each.text if each.name == source else f"-- {each.name}\n{each.text}"
        for each in one.options.texts
    )
    opened = (Details(t("repeat.script", name=source), (Code(text, "sql"),)),)
    return Entry(t.of(one.title), t.of(one.description), opened if text else ())


def _design(kit: Kit) -> tuple[tuple[str, str], ...]:
    t, study, measure = kit.t, kit.study, kit.study.measure
    factors = [
        (
            kit.names.factor(factor.name),
            t("list.separator").join(
                kit.names.listed(level) if factor.name == study.contrast else level
                for level in factor.levels
            ),
        )
        for factor in study.factors
    ]
    data = [_data(kit, one) for one in study.workloads]
    durations = _of_kinds(kit, lambda kind, one: kind.duration(kit, one))
    return (
        (t("design.contrast"), t("design.contrast.text", factor=kit.names.factor(study.contrast))),
        *factors,
        *saturation_rows(kit),
        (t("design.blocks"), blocks_text(kit)),
        *noise_rows(kit),
        (t("design.trials"), plain(len(kit.analysis.plan.trials))),
        (t("design.duration"), t("list.strong").join(durations)),
        *side_by_side_rows(kit),
        *replication_rows(kit),
        (t("design.data"), t("list.strong").join(data)),
        (
            t("design.delta"),
            t(
                "design.delta.text",
                delta=plain_percent(t, measure.delta),
                alpha=plain_percent(t, measure.alpha),
            ),
        ),
        (t("design.profile"), study.profile),
        (t("design.seed"), str(kit.analysis.plan.seed)),
    )


def _data(kit: Kit, one: Workload) -> str:
    workload = kit.names.workload(one.name)
    if one.data.script is not None:
        return kit.t("design.data.script", workload=workload, script=one.data.script.name)
    scale = plain(one.data.scale) if one.data.scale else "—"
    if one.data.kind is DataKind.SSB:
        variant = str(one.data.variant)
        return kit.t("design.data.ssb", workload=workload, scale=scale, variant=variant)
    return kit.t("design.data.one", workload=workload, scale=scale, fillfactor=one.data.fillfactor)


def _of_kinds(kit: Kit, say: Callable[[KindPresent, Workload], str]) -> list[str]:
    """What each kind of the study's workloads says, of its first one."""
    workloads = kit.study.workloads
    first = {one.kind: one for one in reversed(workloads)}
    return [say(kind, first[name]) for name, kind in kit.kinds.items()]


def _procedure(kit: Kit) -> tuple[str, ...]:
    t, measure = kit.t, kit.study.measure
    restored = [kit.names.workload(one.name) for one in kit.study.workloads if one.changes_data]
    steps = []
    if restored:
        steps.append(t("procedure.restore", workloads=t("list.separator").join(restored)))
    steps.append(t(f"procedure.caches.{measure.caches.value}"))
    steps.append(t("procedure.side-by-side" if measure.side_by_side else "procedure.start"))
    attached = [level for level, one in kit.analysis.plan.servers if one.attached is not None]
    if attached:
        listed = t("list.separator").join(attached)
        steps.append(t("procedure.attached", servers=listed))
    steps.append(
        t(
            "procedure.prewarm" if measure.prewarm else "procedure.no-prewarm",
            settle=kit.seconds(measure.settle),
        )
    )
    steps += _of_kinds(kit, lambda kind, one: kind.procedure(kit, one))
    steps.append(
        t(
            "procedure.check",
            disturbed=plain_percent(t, measure.disturbed_share),
            repeats=measure.repeats,
        )
    )
    if measure.flame_graph:
        steps.append(t("procedure.profile", seconds=kit.seconds(measure.flame_graph_window)))
    design = "statistics" if measure.sequential is None else "sequential"
    return (*steps, t("procedure.order"), t(f"procedure.{design}"))


def _grid(kit: Kit) -> Chart:
    t = kit.t
    states = _states(kit)
    squares, places = [], dict[int, int]()
    for trial in sorted(trials_shown(kit), key=lambda one: one.number):
        places[trial.block] = places.get(trial.block, 0) + 1
        context = trial.cell.context(kit.study.contrast)
        on_axis, panel = kit.names.axis(context)
        mark, state = states.get(trial.number, (NOT_RUN, t("state.not-run")))
        label = on_axis if not panel else kit.names.context(context)
        squares.append(
            Square(
                kit.names.workload(trial.cell.workload),
                trial.block,
                places[trial.block],
                kit.short(trial.cell.level(kit.study.contrast) or ""),
                label,
                trial.number,
                state,
                mark,
            )
        )
    axis = kit.names.axis_factor(
        kit.analysis.plan.trials[0].cell.context(kit.study.contrast)
        if kit.analysis.plan.trials
        else ()
    )
    label = kit.names.factor(axis) if axis else t("table.level")
    note = t(
        "chart.grid.note",
        label=label,
        failed=FAILED,
        disturbed=DISTURBED,
        repeated=REPEATED,
        missing=NOT_RUN,
    )
    words = GridWords(
        t("chart.grid.title"),
        note,
        t("table.block"),
        t("chart.grid.position"),
        kit.names.factor(kit.study.contrast),
        label,
        t("table.trial"),
        t("table.outcome"),
    )
    planned = {square.workload for square in squares}
    workloads = [title for title in kit.names.workload_titles.values() if title in planned]
    return design_grid("design", squares, workloads, kit.side_labels, words)


def _states(kit: Kit) -> dict[int, tuple[str, str]]:
    """By trial number: the mark in the grid, and its words."""
    t, states = kit.t, dict[int, tuple[str, str]]()
    for trial in sorted(kit.analysis.trials, key=lambda one: (one.number, one.attempt)):
        if trial.outcome is Outcome.COUNTED:
            again = trial.attempt > 1
            states[trial.number] = (
                (REPEATED, t("state.repeated", attempt=trial.attempt))
                if again
                else ("", t("outcome.counted"))
            )
        elif trial.number not in states or states[trial.number][0] not in ("", REPEATED):
            mark = FAILED if trial.outcome is Outcome.FAILED else DISTURBED
            states[trial.number] = (mark, t(f"outcome.{trial.outcome.value}"))
    return states


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


def _machine_heading(kit: Kit) -> str:
    hosts = kit.analysis.plan.hosts
    if hosts is None:
        return kit.t("topology.machine")
    role = "host.both" if hosts.together else "host.db"
    return kit.t(role, host=shown(hosts.db))


def _client_machine(kit: Kit) -> Box | None:
    hosts = kit.analysis.plan.hosts
    if hosts is None or hosts.together:
        return None
    heading = kit.t("host.client", host=shown(hosts.client))
    return _machine_box(kit, heading, hosts.client.facts, narrow=True)


def _topology(kit: Kit) -> Drawing:
    t, facts, plan = kit.t, kit.analysis.facts, kit.analysis.plan
    client_machine = _client_machine(kit)
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
            _machine_box(kit, _machine_heading(kit), facts, narrow=client_machine is not None),
            next(iter(kit.kinds.values())).load(kit),
            _link(kit),
            servers,
            _turns(kit) if len(servers) > 1 else "",
            Box(
                t("topology.disk"),
                (
                    f"{disk.kind} · {disk.file_system} · {disk.device}",
                    t("topology.space", free=bytes_text(disk.free), total=bytes_text(disk.total)),
                ),
            ),
            client_machine,
        )
    )
    title, note = t("topology.title"), _topology_text(kit)
    return Drawing("topology", title, note, drawn, on_white(drawn))


def _turns(kit: Kit) -> str:
    side_by_side = kit.study.measure.side_by_side
    return kit.t("topology.turns-side-by-side" if side_by_side else "topology.turns")


def _buffers(kit: Kit, side: str, shared: str | None) -> tuple[str, ...]:
    """The line of shared_buffers: the study's value, or an attached server's own."""
    server = dict(kit.analysis.plan.servers).get(side)
    if server is not None and server.attached is not None:
        own = server.attached.parameter("shared_buffers")
        shared = own.text if own is not None else None
    return (f"shared_buffers {shared}",) if shared else ()


def _link(kit: Kit) -> str:
    """How the load generator reaches the servers."""
    hosts = kit.analysis.plan.hosts
    if hosts is not None and hosts.address is not None:
        return kit.t("host.link", address=hosts.address)
    attached = {one.attached is not None for _, one in kit.analysis.plan.servers}
    if attached == {True}:
        return kit.t("topology.link-attached")
    return kit.t("topology.link-both" if True in attached else "topology.link")


def _topology_text(kit: Kit) -> str:
    """Where the servers are: here, on another host, or where they were attached."""
    t = kit.t
    hosts = kit.analysis.plan.hosts
    if hosts is not None:
        words = {"db": shown(hosts.db), "client": shown(hosts.client), "address": hosts.address}
        return t("host.note-together" if hosts.together else "host.note-apart", **words)
    attached = [
        t("topology.attached", server=level, address=one.attached.address)
        for level, one in kit.analysis.plan.servers
        if one.attached is not None
    ]
    if not attached:
        side_by_side = kit.study.measure.side_by_side
        return t("topology.note-side-by-side" if side_by_side else "topology.note")
    own = len(attached) < len(kit.analysis.plan.servers)
    first = t("topology.note-attached-own" if own else "topology.note-attached")
    return " ".join((first, *attached))
