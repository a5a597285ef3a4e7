"""Part 2: what was asked and how: purpose, factors, design, machine, differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from teiten.kinds.contract_present import KindPresent, presents_in
from teiten.model.saturation import SATURATION
from teiten.model.study import CachePolicy, Workload
from teiten.report.blocks import (
    Beside,
    Block,
    Code,
    Details,
    Entries,
    Further,
    Heading,
    Items,
    Pairs,
    Section,
    Text,
    Unprinted,
)
from teiten.report.effects import plain_percent
from teiten.report.numbers import NOTHING, plain, significant
from teiten.report.scope import round_rows
from teiten.report.sites import starts_servers, steps_of_sites, way_text
from teiten.report.view.design import (
    allotted_design,
    blocks_text,
    grid,
    noise_rows,
    pairs_check_rows,
    replication_rows,
    side_by_side_rows,
    sides_rows,
)
from teiten.report.view.kit import Kit
from teiten.report.view.topology import topology
from teiten.report.view.variants import emulates_nodes

NOT_TOLD = ("server", "builds.")
"""Beginnings of changes that other parts of the report tell."""
MOST_PRINTED = 30
"""Lines of a script; a longer one is not printed."""


def asked(kit: Kit) -> Section:
    """The second section."""
    t, study = kit.t, kit.study
    shown: list[Block] = [Text(t.of(study.question), "question")] if study.question else []
    if study.purpose:
        shown += [Heading(3, t("heading.purpose")), Text(t.of(study.purpose))]
    if study.sources:
        listed = t("list.separator").join(study.sources)
        shown.append(Text(t("heading.sources", sources=listed), "note"))
    design = (Heading(3, t("heading.design")), Pairs(_design(kit), "facts"))
    described = tuple(
        (t.of(workload.title), t.of(workload.description)) for workload in study.workloads
    )
    workloads = (Heading(3, t("heading.workloads")), Entries(described))
    procedure = (Heading(3, t("heading.procedure")), Items(_procedure(kit), "steps"))
    shown += [
        Beside((design, workloads)),
        Further((*procedure, Unprinted(t("paper.grid"), (grid(kit),)), *_scripts(kit))),
        Heading(3, t("heading.topology")),
        topology(kit),
    ]
    if study.differences:
        differences = (*(t.of(difference) for difference in study.differences), *_changed(kit))
        shown += [Heading(3, t("heading.differences")), Items(differences)]
    return Section("asked", t("section.asked"), tuple(shown))


def _changed(kit: Kit) -> Iterator[str]:
    """Tell what the command line set, without addresses, which may hold a password."""
    values = [
        override
        for override in kit.study.overrides
        if not override.startswith(NOT_TOLD) and "://" not in override
    ]
    if values:
        yield kit.t("design.changed", values=kit.t("list.separator").join(values))


def _scripts(kit: Kit) -> Iterator[Block]:
    """Show what each workload executes."""
    for workload in kit.study.workloads:
        source = workload.options.source
        text = "\n".join(
            script.text if script.name == source else f"-- {script.name}\n{script.text}"
            for script in workload.options.texts
        )
        if text:
            code = Code(workload.options.drawn + text, "sql")
            shown = Details(kit.t("repeat.script", name=source), (code,))
            is_long = code.text.count("\n") > MOST_PRINTED
            title = kit.t("paper.scripts", lines=MOST_PRINTED)
            yield Unprinted(title, (shown,)) if is_long else shown


def _design(kit: Kit) -> tuple[tuple[str, str], ...]:
    t, names, study, measure = kit.t, kit.names, kit.study, kit.study.measure

    def level_name(factor: str, level: str) -> str:
        is_listed = factor == study.contrast and (factor, level) not in names.titles
        return names.listed(level) if is_listed else names.level(factor, level)

    durations = _of_kinds(kit, lambda kind, first: kind.duration(kit, first))
    shares = {"delta": plain_percent(t, measure.delta), "alpha": plain_percent(t, measure.alpha)}
    return (
        (t("design.contrast"), t("design.contrast.text", factor=names.factor(study.contrast))),
        *(
            (names.factor(factor), t.listed(level_name(factor, level) for level in levels))
            for factor, levels in ((factor.name, factor.levels) for factor in study.factors)
        ),
        *(
            (t("saturation.title"), _saturation_text(kit, event.detail))
            for event in kit.analysis.events
            if event.kind == SATURATION
        ),
        (t("design.blocks"), blocks_text(kit)),
        *noise_rows(kit),
        *pairs_check_rows(kit),
        *round_rows(t, kit.analysis),
        (t("design.trials"), plain(len(kit.analysis.plan.trials))),
        (t("design.duration"), t("list.strong").join(durations)),
        *sides_rows(kit),
        *side_by_side_rows(kit),
        *replication_rows(kit),
        (t("design.data"), t("list.strong").join(_data_of(kit))),
        (t("design.delta"), t("design.delta.text", **shares)),
        (t("design.profile"), study.profile),
        (t("design.seed"), str(kit.analysis.plan.seed)),
    )


def _data_of(kit: Kit) -> list[str]:
    """List what tables hold; workloads whose tables hold the same stand together."""
    by_data: dict[str, list[Workload]] = {}
    for workload in kit.study.workloads:
        by_data.setdefault(_data(kit, workload, ""), []).append(workload)
    return [
        _data(kit, alike[0], kit.t.listed(kit.names.workload(workload.name) for workload in alike))
        for alike in by_data.values()
    ]


def _data(kit: Kit, workload: Workload, named: str) -> str:
    """In the words of its data set. ``named``: the workloads."""
    data = workload.data
    return kit.t(
        f"design.data.{data.kind}",
        workload=named,
        scale=plain(data.scale) if data.scale else NOTHING,
        **data.options.told,
    )


def _of_kinds(kit: Kit, say: Callable[[KindPresent, Workload], str]) -> list[str]:
    """List what each kind of the study's workloads says of the first workload of its kind."""
    workloads = kit.study.workloads
    first = {workload.kind: workload for workload in reversed(workloads)}
    return [say(kind, first[name]) for name, kind in presents_in(kit).items()]


def _procedure(kit: Kit) -> tuple[str, ...]:
    t, plan, measure = kit.t, kit.analysis.plan, kit.study.measure
    changed = (workload.name for workload in kit.study.workloads if workload.changes_data)
    restored = t("list.separator").join(map(kit.names.workload, changed))
    steps = []
    if measure.rounds and starts_servers(plan):
        steps.append(t("procedure.rounds"))
    elif restored:
        steps.append(t("procedure.restore", workloads=restored))
    if starts_servers(plan):
        charged = any(trial.memory_limits for trial in plan.trials)
        evicts = charged and measure.caches is CachePolicy.KEEP
        caches = CachePolicy.EVICT if evicts else measure.caches
        steps.append(t(f"procedure.caches.{caches.value}"))
        if any(trial.memory_limit is not None for trial in plan.trials):
            steps.append(t("procedure.memory"))
        if emulates_nodes(kit):
            steps.append(t("nodes.procedure"))
        steps.append(way_text(kit, "procedure"))
    steps += steps_of_sites(kit)
    at_rest = "settle" if measure.settle else "at-once"
    rest = t(f"procedure.{at_rest}", seconds=kit.seconds(measure.settle))
    prewarmed = "read" if plan.servers_without("pg_prewarm") else "prewarm"
    steps.append(t(f"procedure.{prewarmed if measure.prewarm else 'no-prewarm'}", settle=rest))
    steps += _of_kinds(kit, lambda kind, first: kind.procedure(kit, first))
    tolerated = plain_percent(t, measure.tolerated_share)
    disturbed = t("procedure.check-disturbed", share=tolerated)
    others = disturbed if measure.tolerated_share < 1 else ""
    steps.append(t("procedure.check", disturbed=others, repeats=measure.repeats))
    if measure.flame_graph:
        steps.append(t("procedure.profile", seconds=kit.seconds(measure.flame_graph_window)))
    fixed = "statistics" if measure.sequential is None else "sequential"
    design = allotted_design(kit) or fixed
    return (*steps, t("procedure.order"), t(f"procedure.{design}"))


def _saturation_text(kit: Kit, saturation: dict[str, Any]) -> str:
    t = kit.t
    probes = t("list.separator").join(
        t(
            "saturation.probe",
            clients=probe["clients"],
            tps=NOTHING if probe["tps"] is None else significant(probe["tps"], 4),
        )
        for probe in saturation["probes"]
    )
    words = {
        "workload": kit.names.workload(saturation["workload"]),
        "delta": plain_percent(t, saturation["delta"]),
        "probes": probes,
        "levels": t("list.separator").join(map(str, saturation["levels"])),
    }
    key = "saturation.reached" if saturation["reached"] else "saturation.not-reached"
    return t(key, **saturation | words)
