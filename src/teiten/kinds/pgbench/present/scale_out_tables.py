"""Numbers by nodes: throughput, as figures 5.6 and 5.8 of 2013 have it, what the model of commits
expects, and what each server used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from teiten.analysis.model.verdict import Estimate
from teiten.kinds.pgbench.results import (
    PRINTED,
    NodesPoint,
    RoleUse,
    ScaleOutResult,
    best_scaling,
    commits_per_node,
    participants,
)
from teiten.kinds.pgbench.scale_out import FIGURES
from teiten.model.storage import FSYNCS
from teiten.report.charts.base import Chart, coloured
from teiten.report.charts.lines import CurveLabels, CurvePointOfSide, line_chart
from teiten.report.effects import confidence_percent, percent, ratio_in_reach
from teiten.report.numbers import NOTHING, REACH, bytes_text, significant
from teiten.report.sites import have_own_hosts
from teiten.report.tables import Row, Table, TableCell, headings, number_cell, without_unknown
from teiten.report.view.kit import Kit

OF_THE_REPORT = 3
"""Rows that the report's transaction chooses at random, and changes."""


def ends_of(ratio: Estimate | None) -> dict[str, str]:
    """Three digits of an interval's ends; of those that two blocks have, which can be anywhere,
    their bounds; empty without an interval."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return {}
    return {
        name: significant(end) if 1 / REACH <= end <= REACH else ratio_in_reach(end, 3)
        for name, end in (("low", ratio.low), ("high", ratio.high))
    }


def nodes_table(kit: Kit, results: list[ScaleOutResult]) -> Table:
    t, workload = kit.t, results[0].workload
    names = ("tps", "to-plain", "interval", "to-one", "hits", "reads", "wal", "retries")
    columns = (
        *headings(t, "scale-out.column.scenario"),
        *headings(t, "factor.nodes", *(f"scale-out.column.{name}" for name in names), numeric=True),
    )
    rows = tuple(_row(kit, result, point) for result in results for point in result.points)
    caption = t("scale-out.table.caption", workload=kit.names.workload_in_sentence(workload))
    confidence = confidence_percent(t, results[0].confidence)
    note = t("scale-out.table.note", confidence=confidence)
    return Table(f"nodes-{workload}", caption, columns, rows, note=note)


def _row(kit: Kit, result: ScaleOutResult, point: NodesPoint) -> Row:
    t, ends = kit.t, ends_of(point.to_plain)
    return (
        *_head(kit, result, point),
        number_cell(point.tps, lambda tps: significant(tps, 4)),
        _ratio_cell(point.to_plain),
        TableCell(t("interval.plain", **ends) if ends else NOTHING),
        _ratio_cell(point.to_one),
        number_cell(point.figure("buffer_hits"), lambda hits: percent(t, hits, 2)),
        number_cell(point.figure("reads"), lambda reads: significant(reads, 3)),
        TableCell(bytes_text(point.figure("wal")), point.figure("wal")),
        number_cell(point.retries, lambda retries: significant(retries, 2)),
    )


def _head(kit: Kit, result: ScaleOutResult, point: NodesPoint) -> Row:
    named = str(point.nodes) if point.nodes else kit.t("scale-out.plain")
    levels = kit.names.varied_levels(result.context) or NOTHING
    return TableCell(levels), TableCell(named, float(point.nodes))


def _ratio_cell(ratio: Estimate | None) -> TableCell:
    return number_cell(None if ratio is None else ratio.mean, significant)


def model_table(kit: Kit, workload: str, rows: int, results: list[ScaleOutResult]) -> Table:
    """Table 5.7 for the study's numbers of nodes, beside what each node's server counted."""
    t = kit.t
    counts = sorted(
        {point.nodes for result in results for point in result.points if point.nodes > 0}
    )
    printed = rows == OF_THE_REPORT
    names = ("nodes", "expected", *(["printed"] if printed else []), "measured", "commits", "best")
    lines = []
    for nodes in counts:
        seen = (result.point(nodes) for result in results)
        known = [point.participants for point in seen if point is not None and point.participants]
        in_print = [_fraction(PRINTED.get(nodes))] if printed else []
        lines.append(
            (
                TableCell(str(nodes), float(nodes)),
                _fraction(participants(nodes, rows)),
                *in_print,
                TableCell(
                    t("list.separator").join(significant(number, 4) for number in known) or NOTHING
                ),
                _fraction(commits_per_node(nodes, rows)),
                _fraction(best_scaling(nodes, rows)),
            )
        )
    columns = headings(t, *(f"scale-out.model.{name}" for name in names), numeric=True)
    note = t("scale-out.model.note-printed" if printed else "scale-out.model.note", rows=rows)
    return Table(
        f"commits-{workload}", t("scale-out.model.caption"), columns, tuple(lines), note=note
    )


def _fraction(value: Fraction | None) -> TableCell:
    if value is None:
        return TableCell(NOTHING)
    exact = str(value) if value.denominator > 1 else ""
    text = significant(float(value), 4)
    return TableCell(f"{exact} ≈ {text}" if exact else text, float(value))


ITSELF = Estimate(1.0, None, None, 1)


def chart_by_plain(kit: Kit, results: list[ScaleOutResult]) -> Chart | None:
    """Throughput by plain PostgreSQL's; None where that was not measured."""
    points = _measured(kit, results, lambda point: point.to_plain)
    return _chart(kit, results[0].workload, "plain", points) if points else None


def chart_by_best(kit: Kit, results: list[ScaleOutResult]) -> Chart | None:
    """Throughput by one node's, beside growth in proportion and, of changes, what the commits
    allow; None where more than one node was not measured."""
    points = _measured(kit, results, lambda point: ITSELF if point.nodes == 1 else point.to_one)
    counts = sorted({int(point.x) for point in points})
    if len(counts) < 2:
        return None
    workload = results[0].workload
    rows = next((result.rows for result in results if result.rows is not None), None)
    if rows is not None:
        best = {nodes: float(best_scaling(nodes, rows)) for nodes in counts}
        points += _computed(kit.t("scale-out.chart.best"), best)
    points += _computed(kit.t("scale-out.chart.proportion"), {n: float(n) for n in counts})
    return _chart(kit, workload, "one", points)


def _measured(
    kit: Kit, results: list[ScaleOutResult], ratio: Callable[[NodesPoint], Estimate | None]
) -> list[CurvePointOfSide]:
    return [
        CurvePointOfSide(
            kit.names.varied_levels(result.context) or kit.t("word.measured"),
            float(point.nodes),
            relative.mean,
            relative.low,
            relative.high,
            significant(relative.mean),
        )
        for result in results
        for point in result.points
        if (relative := ratio(point)) is not None
    ]


def _computed(side: str, values: dict[int, float]) -> Iterator[CurvePointOfSide]:
    for nodes, value in values.items():
        yield CurvePointOfSide(side, float(nodes), value, None, None, significant(value, 3))


def _chart(kit: Kit, workload: str, base: str, points: list[CurvePointOfSide]) -> Chart:
    t = kit.t
    labels = CurveLabels(
        t(f"scale-out.chart.{base}.title", workload=kit.names.workload(workload)),
        t(f"scale-out.chart.{base}.note"),
        t("factor.nodes"),
        t(f"scale-out.chart.{base}.y"),
        t("word.curve"),
        coloured(dict.fromkeys(point.side for point in points)),
    )
    return line_chart(t, f"by-{base}-{workload}", points, labels)


SHARES = ("cpu_share", "buffer_hits", "cache_hits")
COUNTS = ("syncs", "commits", "prepared")
USED = tuple(name for name in FIGURES if name not in {"in_memory", "reads", "wal"})
"""Columns of what servers used; those that are no shares and no counts are bytes."""
PRINTED_SHARES: Mapping[int, float] = {8192: 3.6, 128 * 1024: 40.2, 0: 197}
"""Bytes between two calls of fsync, 0 for never: MB/s of table 5.6."""


def use_table(kit: Kit, results: list[ScaleOutResult]) -> Table | None:
    """Use by servers, as far as it was counted; None where nothing was."""
    t, workload = kit.t, results[0].workload
    lines = [
        (result, point, use) for result in results for point in result.points for use in point.uses
    ]
    heads = (
        *headings(t, "scale-out.column.scenario"),
        *headings(t, "factor.nodes", numeric=True),
        *headings(t, "scale-out.use.server"),
    )
    used = headings(t, *(f"scale-out.use.{name}" for name in USED), numeric=True)
    columns, rows = without_unknown((*heads, *used), (tuple(_cells(kit, *line)) for line in lines))
    if len(columns) <= len(heads):
        return None
    caption = t("scale-out.use.caption", workload=kit.names.workload_in_sentence(workload))
    emulated = any(use.figures["cache_hits"] is not None for *_, use in lines)
    spread = (trial.distribution for trial in kit.analysis.plan.trials)
    elsewhere = any(
        distribution is not None and distribution.ran_already for distribution in spread
    )
    own = "note-attached" if elsewhere else "note-shared"
    own = "note-hosts" if have_own_hosts(kit) else own
    note = t("scale-out.use.note" if emulated else f"scale-out.use.{own}")
    return Table(f"use-{workload}", caption, columns, rows, note=note)


def fsync_table(kit: Kit) -> Table | None:
    """Table 5.6 of the report, measured before the first trial; None where it was not."""
    t = kit.t
    events = [event.detail for event in kit.analysis.events if event.kind == FSYNCS]
    if not events or "rates" not in events[-1]:
        return None
    latest = events[-1]
    rows = tuple(
        (
            TableCell(bytes_text(float(interval)) if interval else t("scale-out.fsync.never")),
            TableCell(f"{bytes_text(latest['rates'][str(interval)])}/s"),
            TableCell(f"{printed} MB/s", printed * 1e6),
        )
        for interval, printed in PRINTED_SHARES.items()
        if str(interval) in latest["rates"]
    )
    columns = (
        *headings(t, "scale-out.fsync.interval"),
        *headings(t, "scale-out.fsync.bandwidth", "scale-out.fsync.printed", numeric=True),
    )
    note = t("scale-out.fsync.note", folder=latest["folder"], device=latest["device"])
    return Table("fsync-intervals", t("scale-out.fsync.caption"), columns, rows, note=note)


def _cells(
    kit: Kit, result: ScaleOutResult, point: NodesPoint, use: RoleUse
) -> Iterator[TableCell]:
    yield from _head(kit, result, point)
    yield TableCell(kit.t(f"scale-out.role.{use.role.value}"))
    for name in USED:
        value = use.figures[name]
        if name in SHARES:
            yield number_cell(value, lambda share: percent(kit.t, share, 2))
        else:
            yield number_cell(value, significant if name in COUNTS else bytes_text)
