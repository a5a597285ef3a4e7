"""Throughput by the number of nodes in words, for the first page and a section of its own."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.analysis.model.findings import VerdictKind
from teiten.analysis.model.verdict import Estimate
from teiten.kinds.contract_present import OwnAnswer
from teiten.kinds.pgbench.model import pgbench_of
from teiten.kinds.pgbench.present.scale_out_tables import (
    chart_by_best,
    chart_by_plain,
    ends_of,
    fsync_table,
    model_table,
    nodes_table,
    use_table,
)
from teiten.kinds.pgbench.results import (
    FLAT_WITHIN,
    LINEAR_WITHIN,
    NodesPoint,
    Pays,
    ScaleOutResult,
    Shape,
    best_scaling,
    participants,
    pgbench_found,
)
from teiten.model.distribution import ClientEntry
from teiten.report.blocks import Block, Further, Heading, Items, Section, Statement, Text, gallery
from teiten.report.effects import confidence_percent, percent, plain_percent
from teiten.report.numbers import bytes_text, significant
from teiten.report.sites import have_own_hosts, on_nodes
from teiten.report.view.kit import Kit
from teiten.report.view.variants import emulates_nodes, machine_of_node

OPEN = (Shape.UNDECIDED, Shape.WITHHELD)
BETTER = (Shape.SUPER_LINEAR, Shape.LINEAR, Shape.RISING)


def answer_of(kit: Kit) -> OwnAnswer | None:
    """None where no numbers of nodes are contrasted."""
    results = pgbench_found(kit.analysis).scale_out
    if not results:
        return None
    undecided = (subject(kit, result) for result in results if result.shape in OPEN)
    return OwnAnswer(tuple(_statement(kit, result) for result in results), tuple(undecided))


def section_of(kit: Kit) -> Section:
    """Build the section on numbers of nodes: on engines alone where something else is contrasted;
    empty where no tables are spread."""
    results = pgbench_found(kit.analysis).scale_out
    title = kit.t("scale-out.title")
    if not results:
        return Section("scale-out", title, tuple(_of_engines(kit)))
    shown: list[Block] = []
    for workload in dict.fromkeys(result.workload for result in results):
        shown += _of_workload(kit, [result for result in results if result.workload == workload])
    return Section("scale-out", title, (*shown, *_notes(kit, results)))


def subject(kit: Kit, result: ScaleOutResult) -> str:
    """``Read, size of the tables fixed``"""
    names = (kit.names.workload(result.workload), kit.names.varied_levels(result.context))
    return kit.t("list.separator").join(filter(None, names))


def _of_workload(kit: Kit, results: list[ScaleOutResult]) -> Iterator[Block]:
    workload = results[0].workload
    yield Heading(3, kit.names.workload(workload))
    for result in results:
        if evidence := (*_cause(kit, result), *_evidence(kit, result)):
            if len(results) > 1:
                yield Heading(4, subject(kit, result))
            yield Items(evidence, "findings")
    yield from gallery((chart_by_plain(kit, results), chart_by_best(kit, results)))
    yield nodes_table(kit, results)
    used = use_table(kit, results)
    if used is not None:
        yield Further((used,))
    rows = next((result.rows for result in results if result.rows is not None), None)
    if rows is not None:
        yield model_table(kit, workload, rows, results)
        speeds = fsync_table(kit)
        if speeds is not None:
            yield speeds


def _notes(kit: Kit, results: tuple[ScaleOutResult, ...]) -> Iterator[Block]:
    t = kit.t
    shares = {"linear": plain_percent(t, LINEAR_WITHIN), "flat": plain_percent(t, FLAT_WITHIN)}
    yield Text(t("scale-out.shapes", **shares), "note")
    yield from _of_engines(kit)
    spread = on_nodes(kit)
    for rows in dict.fromkeys(
        "entry" if distribution.ran_already else distribution.coordinator.value
        for distribution in spread
    ):
        yield Text(t(f"scale-out.coordinators.{rows}"), "note")
    if any(distribution.entry is ClientEntry.ALL for distribution in spread):
        yield Text(t("scale-out.entered-by-chance"), "note")
    points = [point for result in results for point in result.points if point.nodes > 0]
    here = not any(distribution.ran_already for distribution in spread)
    if have_own_hosts(kit):
        yield Text(t("scale-out.own-hosts"), "note")
    elif here and all(point.figure("disk_read") is None for point in points):
        yield Text(t("scale-out.shared"), "note")


def _of_engines(kit: Kit) -> Iterator[Block]:
    """How each commits, and that what it did was checked."""
    t, spread = kit.t, on_nodes(kit)
    for engine in dict.fromkeys(distribution.engine for distribution in spread):
        key = f"scale-out.engine.{engine}"
        if key in t:
            yield Text(t(key), "note")
    shards: dict[str, set[tuple[int, int]]] = {}
    for distribution in spread:
        if distribution.shards:
            counts = shards.setdefault(distribution.engine, set())
            counts.add((distribution.nodes, distribution.shards))
    for engine, counts in shards.items():
        listed = t("list.separator").join(
            t("scale-out.shards.each", nodes=nodes, shards=count) for nodes, count in sorted(counts)
        )
        yield Text(t("scale-out.shards.counted", engine=engine, counts=listed), "note")
    if spread and any(pgbench_of(workload).invariants for workload in kit.study.workloads):
        yield Text(t("scale-out.sums"), "note")


def _statement(kit: Kit, result: ScaleOutResult) -> Statement:
    kind = VerdictKind.INCONCLUSIVE
    if result.shape not in OPEN:
        kind = VerdictKind.FASTER if result.shape in BETTER else VerdictKind.SLOWER
    return Statement(
        subject(kit, result),
        kind.value,
        kit.t(f"scale-out.word.{result.shape.value}"),
        _grown(kit, result),
        None,
        tuple(_sentences(kit, result)),
    )


def _grown(kit: Kit, result: ScaleOutResult) -> str:
    if result.grown is None:
        return kit.t("scale-out.nothing")
    shape = kit.t(f"scale-out.shape.{result.shape.value}")
    return kit.t(
        "scale-out.grown",
        most=result.most,
        ratio=_with_interval(kit, result, result.grown),
        shape=shape,
        machines=_machines(kit),
    )


def _machines(kit: Kit) -> str:
    """Describe each node, where it is no machine of its own; empty elsewhere."""
    if not emulates_nodes(kit):
        return ""
    parts = kit.t("list.separator").join(machine_of_node(kit))
    return kit.t("scale-out.emulated-each" if parts else "scale-out.emulated", parts=parts)


def _sentences(kit: Kit, result: ScaleOutResult) -> Iterator[str]:
    if result.pays is not None:
        yield _pays(kit, result, result.pays)
    if result.cost is not None:
        yield kit.t(
            "scale-out.cost", engine=result.engine, ratio=_with_interval(kit, result, result.cost)
        )
    yield from _cause(kit, result)
    measured = result.points[-1].participants
    if measured is not None and result.rows is not None:
        yield kit.t(
            "scale-out.participants",
            nodes=result.most,
            rows=result.rows,
            measured=significant(measured),
            expected=significant(float(participants(result.most, result.rows)), 3),
            best=significant(float(best_scaling(result.most, result.rows)), 3),
        )


def _cause(kit: Kit, result: ScaleOutResult) -> Iterator[str]:
    """Say what the servers' figures suggest as the cause of the shape, with these figures."""
    first, last = result.point(1), result.points[-1]
    if result.cause is None or first is None:
        return
    shares = _both(first, last, "in_memory") or (0.0, 0.0)
    reads = _both(first, last, "disk_read") or (0.0, 0.0)
    yield kit.t(
        f"scale-out.cause.{result.cause.value}",
        most=result.most,
        one=percent(kit.t, shares[0], 2),
        last=percent(kit.t, shares[1], 2),
        read_one=bytes_text(reads[0]),
        read_last=bytes_text(reads[1]),
    )


def _pays(kit: Kit, result: ScaleOutResult, pays: Pays) -> str:
    if pays.ratio is None:
        sentence, more = kit.t("scale-out.pays.none", most=pays.most), "possibly"
    else:
        ratio = _with_interval(kit, result, pays.ratio)
        sentence, more = kit.t("scale-out.pays.nodes", nodes=pays.nodes, ratio=ratio), "fewer"
    if pays.possibly in {None, pays.nodes}:
        return sentence
    return sentence + kit.t(f"scale-out.pays.{more}", nodes=pays.possibly)


def _evidence(kit: Kit, result: ScaleOutResult) -> Iterator[str]:
    """List the servers' figures that go with the shape."""
    first, last = result.point(1), result.points[-1]
    if first is None or first is last:
        return
    for name, written in (
        ("buffer_hits", lambda value: percent(kit.t, value, 2)),
        ("in_memory", lambda value: percent(kit.t, value, 2)),
        ("reads", lambda value: significant(value, 3)),
        ("disk_read", bytes_text),
        ("wal", bytes_text),
    ):
        pair = _both(first, last, name)
        relevant = name != "wal" or kit.study.workload(result.workload).changes_data
        if pair is not None and relevant:
            values = {"one": written(pair[0]), "last": written(pair[1])}
            yield kit.t(f"scale-out.evidence.{name}", most=result.most, **values)
    if last.retries:
        again = {"engine": result.engine, "retries": significant(last.retries, 2)}
        yield kit.t("scale-out.evidence.retries", most=result.most, **again)


def _both(first: NodesPoint, last: NodesPoint, name: str) -> tuple[float, float] | None:
    before, after = first.figure(name), last.figure(name)
    return None if before is None or after is None else (before, after)


def _with_interval(kit: Kit, result: ScaleOutResult, ratio: Estimate) -> str:
    value, ends = significant(ratio.mean), ends_of(ratio)
    if not ends:
        return kit.t("scale-out.ratio-plain", value=value)
    confidence = confidence_percent(kit.t, result.confidence)
    return kit.t("scale-out.ratio", value=value, confidence=confidence, **ends)
