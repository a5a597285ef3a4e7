"""Throughput by the number of nodes in words, for the first page and a section of its own."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.analysis.model.findings import VerdictKind
from teiten.kinds.contract_present import OwnAnswer
from teiten.kinds.pgbench.model import pgbench_of
from teiten.kinds.pgbench.present.scale_out_tables import (
    chart_by_best,
    chart_by_plain,
    fsync_table,
    in_reach,
    model_table,
    nodes_table,
    ratio_text,
    use_table,
)
from teiten.kinds.pgbench.results import pgbench_found
from teiten.kinds.pgbench.scale_out.results import (
    FLAT_WITHIN,
    LINEAR_WITHIN,
    NodesPoint,
    Pays,
    RatioOfNodes,
    ScaleOutResult,
    Shape,
    best_scaling,
    participants,
)
from teiten.model.distribution import ClientEntry
from teiten.report.blocks import Block, Further, Gallery, Heading, Items, Section, Statement, Text
from teiten.report.effects import confidence_percent, percent, plain_percent
from teiten.report.numbers import bytes_text, significant
from teiten.report.sites import have_own_hosts, on_nodes
from teiten.report.view.kit import Kit
from teiten.report.view.variants import emulates_nodes, machine_of_node

OPEN = (Shape.UNDECIDED, Shape.WITHHELD)
BETTER = (Shape.SUPER_LINEAR, Shape.LINEAR, Shape.RISING)


def answer_of(kit: Kit) -> OwnAnswer | None:
    """None where no numbers of nodes are contrasted."""
    found = pgbench_found(kit.analysis).scale_out
    if not found:
        return None
    undecided = (subject(kit, one) for one in found if one.shape in OPEN)
    return OwnAnswer(tuple(_statement(kit, one) for one in found), tuple(undecided))


def section_of(kit: Kit) -> Section:
    """Build the section on numbers of nodes: on engines alone where something else is contrasted;
    empty where no tables are spread."""
    found = pgbench_found(kit.analysis).scale_out
    title = kit.t("scale-out.title")
    if not found:
        return Section("scale-out", title, tuple(_of_engines(kit)))
    shown: list[Block] = []
    for workload in dict.fromkeys(one.workload for one in found):
        shown += _of_workload(kit, [one for one in found if one.workload == workload])
    return Section("scale-out", title, (*shown, *_notes(kit, found)))


def subject(kit: Kit, one: ScaleOutResult) -> str:
    """``Read, size of the tables fixed``"""
    varied = tuple(pair for pair in one.context if pair[0] not in kit.names.single)
    names = (kit.names.workload(one.workload), *([kit.names.context(varied)] if varied else []))
    return kit.t("list.separator").join(names)


def _of_workload(kit: Kit, found: list[ScaleOutResult]) -> Iterator[Block]:
    workload = found[0].workload
    yield Heading(3, kit.names.workload(workload))
    for one in found:
        if evidence := (*_cause(kit, one), *_evidence(kit, one)):
            if len(found) > 1:
                yield Heading(4, subject(kit, one))
            yield Items(evidence, "findings")
    drawn = (chart_by_plain(kit, found), chart_by_best(kit, found))
    charts = tuple(one for one in drawn if one is not None)
    if charts:
        yield Gallery(charts)
    yield nodes_table(kit, found)
    used = use_table(kit, found)
    if used is not None:
        yield Further((used,))
    rows = next((one.rows for one in found if one.rows is not None), None)
    if rows is not None:
        yield model_table(kit, workload, rows, found)
        speeds = fsync_table(kit)
        if speeds is not None:
            yield speeds


def _notes(kit: Kit, found: tuple[ScaleOutResult, ...]) -> Iterator[Block]:
    t = kit.t
    shares = {"linear": plain_percent(t, LINEAR_WITHIN), "flat": plain_percent(t, FLAT_WITHIN)}
    yield Text(t("scale-out.shapes", **shares), "note")
    yield from _of_engines(kit)
    spread = on_nodes(kit)
    for rows in dict.fromkeys(
        "entry" if one.ran_already else one.coordinator.value for one in spread
    ):
        yield Text(t(f"scale-out.coordinators.{rows}"), "note")
    if any(one.entry is ClientEntry.ALL for one in spread):
        yield Text(t("scale-out.entered-by-chance"), "note")
    points = [point for one in found for point in one.points if point.nodes > 0]
    here = not any(one.ran_already for one in spread)
    if have_own_hosts(kit):
        yield Text(t("scale-out.own-hosts"), "note")
    elif here and all(point.disk_reads_per_node is None for point in points):
        yield Text(t("scale-out.shared"), "note")


def _of_engines(kit: Kit) -> Iterator[Block]:
    """How each commits, and that what it did was checked."""
    t, spread = kit.t, on_nodes(kit)
    for engine in dict.fromkeys(one.engine for one in spread):
        key = f"scale-out.engine.{engine}"
        if key in t:
            yield Text(t(key), "note")
    for engine in dict.fromkeys(one.engine for one in spread if one.shards):
        counts = {(one.nodes, one.shards) for one in spread if one.engine == engine and one.shards}
        listed = (
            t("scale-out.shards.each", nodes=n, shards=shards) for n, shards in sorted(counts)
        )
        said = t("list.separator").join(listed)
        yield Text(t("scale-out.shards.counted", engine=engine, counts=said), "note")
    if spread and any(pgbench_of(workload).invariants for workload in kit.study.workloads):
        yield Text(t("scale-out.sums"), "note")


def _statement(kit: Kit, one: ScaleOutResult) -> Statement:
    kind = VerdictKind.INCONCLUSIVE
    if one.shape not in OPEN:
        kind = VerdictKind.FASTER if one.shape in BETTER else VerdictKind.SLOWER
    return Statement(
        subject(kit, one),
        kind.value,
        kit.t(f"scale-out.word.{one.shape.value}"),
        _grown(kit, one),
        None,
        tuple(_sentences(kit, one)),
    )


def _grown(kit: Kit, one: ScaleOutResult) -> str:
    if one.grown is None:
        return kit.t("scale-out.nothing")
    shape = kit.t(f"scale-out.shape.{one.shape.value}")
    return kit.t(
        "scale-out.grown",
        most=one.most,
        ratio=_with_interval(kit, one, one.grown),
        shape=shape,
        machines=_machines(kit),
    )


def _machines(kit: Kit) -> str:
    """Describe each node, where it is no machine of its own; empty elsewhere."""
    if not emulates_nodes(kit):
        return ""
    parts = kit.t("list.separator").join(machine_of_node(kit))
    return kit.t("scale-out.emulated-each" if parts else "scale-out.emulated", parts=parts)


def _sentences(kit: Kit, one: ScaleOutResult) -> Iterator[str]:
    if one.pays is not None:
        yield _pays(kit, one, one.pays)
    if one.cost is not None:
        yield kit.t("scale-out.cost", engine=one.engine, ratio=_with_interval(kit, one, one.cost))
    yield from _cause(kit, one)
    last = one.point(one.most)
    if last is not None and last.participants is not None and one.rows is not None:
        yield kit.t(
            "scale-out.participants",
            nodes=one.most,
            rows=one.rows,
            measured=significant(last.participants, 3),
            expected=significant(float(participants(one.most, one.rows)), 3),
            best=significant(float(best_scaling(one.most, one.rows)), 3),
        )


def _cause(kit: Kit, one: ScaleOutResult) -> Iterator[str]:
    """Say what the servers' figures suggest as the cause of the shape, with these figures."""
    first, last = one.point(1), one.point(one.most)
    if one.cause is None or first is None or last is None:
        return
    shares = _both(first, last, "in_memory") or (0.0, 0.0)
    reads = _both(first, last, "disk_reads_per_node") or (0.0, 0.0)
    yield kit.t(
        f"scale-out.cause.{one.cause.value}",
        most=one.most,
        one=percent(kit.t, shares[0], 2),
        last=percent(kit.t, shares[1], 2),
        read_one=bytes_text(reads[0]),
        read_last=bytes_text(reads[1]),
    )


def _pays(kit: Kit, result: ScaleOutResult, one: Pays) -> str:
    if one.nodes is not None and one.ratio is not None:
        ratio = _with_interval(kit, result, one.ratio)
        said = kit.t("scale-out.pays.nodes", nodes=one.nodes, ratio=ratio)
        fewer = one.possibly is not None and one.possibly < one.nodes
        return said + (kit.t("scale-out.pays.fewer", nodes=one.possibly) if fewer else "")
    said = kit.t("scale-out.pays.none", most=one.most)
    if one.possibly is None:
        return said
    return said + kit.t("scale-out.pays.possibly", nodes=one.possibly)


def _evidence(kit: Kit, one: ScaleOutResult) -> Iterator[str]:
    """List the servers' figures that go with the shape."""
    first, last = one.point(1), one.point(one.most)
    if first is None or last is None or first is last:
        return
    for name, written in (
        ("hit_ratio", lambda value: percent(kit.t, value, 2)),
        ("in_memory", lambda value: percent(kit.t, value, 2)),
        ("reads_per_node", lambda value: significant(value, 3)),
        ("disk_reads_per_node", bytes_text),
        ("wal_per_node", bytes_text),
    ):
        pair = _both(first, last, name)
        told = name != "wal_per_node" or kit.study.workload(one.workload).changes_data
        if pair is not None and told:
            values = {"one": written(pair[0]), "last": written(pair[1])}
            yield kit.t(f"scale-out.evidence.{name}", most=one.most, **values)
    if last.retries:
        again = {"engine": one.engine, "retries": significant(last.retries, 2)}
        yield kit.t("scale-out.evidence.retries", most=one.most, **again)


def _both(first: NodesPoint, last: NodesPoint, name: str) -> tuple[float, float] | None:
    found = getattr(first, name), getattr(last, name)
    return None if None in found else found


def _with_interval(kit: Kit, result: ScaleOutResult, one: RatioOfNodes) -> str:
    value = ratio_text(one)
    if one.low is None or one.high is None:
        return kit.t("scale-out.ratio-plain", value=value)
    low, high = in_reach(one.low), in_reach(one.high)
    confidence = confidence_percent(kit.t, result.confidence)
    return kit.t("scale-out.ratio", value=value, confidence=confidence, low=low, high=high)
