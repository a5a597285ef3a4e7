"""Numbers by nodes, and those that the model of commits expects."""

from __future__ import annotations

from fractions import Fraction

from teiten.kinds.pgbench.scale_out.commit_model import (
    PRINTED,
    best_scaling,
    commits_per_node,
    participants,
)
from teiten.kinds.pgbench.scale_out.results import NodesPoint, RatioOfNodes, ScaleOutResult
from teiten.report.effects import confidence_percent, percent
from teiten.report.numbers import NOTHING, bytes_text, significant
from teiten.report.tables import Column, Row, Table, TableCell
from teiten.report.view.kit import Kit

OF_THE_REPORT = 3
"""Rows that the report's transaction chooses at random, and changes."""


def ratio_text(one: RatioOfNodes | None) -> str:
    """Three digits: its interval stands beside it."""
    return NOTHING if one is None else significant(one.value, 3)


def nodes_table(kit: Kit, found: list[ScaleOutResult]) -> Table:
    t, workload = kit.t, found[0].workload
    names = ("tps", "to-plain", "interval", "to-one", "hits", "reads", "wal", "retries")
    columns = (
        Column(t("scale-out.column.scenario")),
        Column(t("factor.nodes"), numeric=True),
        *(Column(t(f"scale-out.column.{name}"), numeric=True) for name in names),
    )
    rows = tuple(_row(kit, one, point) for one in found for point in one.points)
    caption = t("scale-out.table.caption", workload=kit.names.workload_in_sentence(workload))
    confidence = confidence_percent(t, found[0].confidence)
    note = t("scale-out.table.note", confidence=confidence)
    return Table(f"nodes-{workload}", caption, columns, rows, note=note)


def _row(kit: Kit, one: ScaleOutResult, point: NodesPoint) -> Row:
    t = kit.t
    varied = tuple(pair for pair in one.context if pair[0] not in kit.names.single)
    named = str(point.nodes) if point.nodes else t("scale-out.plain")
    hits = NOTHING if point.hit_ratio is None else percent(t, point.hit_ratio, 2)
    return (
        TableCell(kit.names.context(varied) if varied else NOTHING),
        TableCell(named, float(point.nodes)),
        _number(point.tps, 4),
        TableCell(ratio_text(point.to_plain), point.to_plain.value if point.to_plain else None),
        TableCell(_interval(kit, point.to_plain)),
        TableCell(ratio_text(point.to_one), point.to_one.value if point.to_one else None),
        TableCell(hits, point.hit_ratio),
        _number(point.reads_per_node, 3),
        TableCell(bytes_text(point.wal_per_node), point.wal_per_node),
        _number(point.retries, 2),
    )


def _interval(kit: Kit, one: RatioOfNodes | None) -> str:
    if one is None or one.low is None or one.high is None:
        return NOTHING
    low, high = significant(one.low, 3), significant(one.high, 3)
    return kit.t("scale-out.interval", low=low, high=high)


def model_table(kit: Kit, workload: str, rows: int, found: list[ScaleOutResult]) -> Table:
    """Table 5.7 for the study's numbers of nodes, beside what each node's server counted."""
    t = kit.t
    counts = sorted({point.nodes for one in found for point in one.points if point.nodes > 0})
    printed = rows == OF_THE_REPORT
    names = ("nodes", "expected", *(["printed"] if printed else []), "measured", "commits", "best")
    lines = []
    for nodes in counts:
        seen = (one.point(nodes) for one in found)
        known = [one.participants for one in seen if one is not None and one.participants]
        in_print = [_fraction(PRINTED.get(nodes))] if printed else []
        lines.append(
            (
                TableCell(str(nodes), float(nodes)),
                _fraction(participants(nodes, rows)),
                *in_print,
                TableCell(
                    t("list.separator").join(significant(one, 4) for one in known) or NOTHING
                ),
                _fraction(commits_per_node(nodes, rows)),
                _fraction(best_scaling(nodes, rows)),
            )
        )
    columns = tuple(Column(t(f"scale-out.model.{name}"), numeric=True) for name in names)
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


def _number(value: float | None, digits: int) -> TableCell:
    return TableCell(NOTHING if value is None else significant(value, digits), value)
