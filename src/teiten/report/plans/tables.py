"""Tables of plans: by node type (as 2020 §6.5.5, tables 6.30 to 6.33), by node, in all."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from teiten.analysis.model.explain import HIT, READ, KindStatistics, PlanDifference, PlanStatistics
from teiten.report.effects import percent
from teiten.report.numbers import MINUS, NOTHING, fixed, significant
from teiten.report.tables import Column, Row, Table, TableCell, cells
from teiten.report.texts import Texts

MOST_NODES = 25
"""The greatest number of rows of a table node by node; plans over partitions have hundreds."""
TEMPORARY = ("temp_read", "temp_written")

Of = Callable[[PlanStatistics], float | None]


def difference_tables(
    t: Texts, name: str, difference: PlanDifference, sides: tuple[str, str]
) -> Iterator[Table]:
    """All that are shown of two plans; ``name``: a prefix of ids, unique in the page."""
    both = list(zip((difference.old, difference.new), sides, strict=True))
    yield summary_table(t, f"{name}-summary", difference, sides)
    for index, (statistics, side) in enumerate(both):
        yield kinds_table(t, f"{name}-kinds-{index}", statistics, side)
    for index, (statistics, side) in enumerate(both):
        scans = scans_table(t, f"{name}-scans-{index}", statistics, side)
        if scans is not None:
            yield scans
    yield nodes_table(t, f"{name}-nodes", difference, sides)


def summary_table(t: Texts, name: str, difference: PlanDifference, sides: tuple[str, str]) -> Table:
    """The figures of both plans as wholes."""
    return Table(
        name=name,
        caption=t("plan-table.summary"),
        columns=(
            Column(t("plan-table.what")),
            *(Column(side, numeric=True) for side in sides),
            Column(t("plan-table.ratio"), numeric=True),
        ),
        rows=tuple(_summary_rows(t, difference)),
        sortable=False,
    )


def _summary_rows(t: Texts, difference: PlanDifference) -> Iterator[Row]:
    figures: tuple[tuple[str, Of, Callable[[float | None], str]], ...] = (
        ("execution", lambda side: side.plan.execution, duration),
        ("planning", lambda side: side.plan.planning, duration),
        ("cost", lambda side: side.plan.root.planned_cost, count),
        ("leader", lambda side: side.accounts.total.leader if side.plan.timed else None, duration),
        ("workers-time", lambda side: side.accounts.total.workers or None, duration),
        ("blocks", lambda side: side.accounts.total.blocks or None, count),
        ("blocks-read", lambda side: side.accounts.total.buffers.get(READ) or None, count),
        ("io", lambda side: side.accounts.total.io_seconds or None, duration),
        ("pruned", lambda side: side.pruned or None, count),
        (
            "triggers",
            lambda side: sum(fired.seconds for fired in side.plan.triggers) or None,
            duration,
        ),
        ("jit", jit_seconds, duration),
    )
    for key, of, words in figures:
        old, new = of(difference.old), of(difference.new)
        if old is not None or new is not None:
            ratio = significant(new / old) if old and new is not None else NOTHING
            yield cells(t(f"plan-fact.{key}"), words(old), words(new), ratio)
    if difference.old.workers_planned or difference.new.workers_planned:
        old_text, new_text = (
            f"{plan_side.workers_launched} / {plan_side.workers_planned}"
            for plan_side in (difference.old, difference.new)
        )
        yield cells(t("plan-fact.workers"), old_text, new_text, NOTHING)


def jit_seconds(statistics: PlanStatistics) -> float | None:
    """Find the time of just-in-time compilation, in seconds; None without it."""
    timing = statistics.plan.jit.get("Timing")
    total = timing.get("Total") if isinstance(timing, dict) else None
    return total / 1000 if isinstance(total, int | float) else None


def kinds_table(t: Texts, name: str, statistics: PlanStatistics, side: str) -> Table:
    """Node statistics of one plan."""
    columns: tuple[tuple[str, Callable[[KindStatistics], TableCell]], ...] = (
        ("kind", lambda kind: TableCell(kind.kind)),
        ("nodes-column", lambda kind: _number(kind.nodes)),
        ("never", lambda kind: _number(kind.never_executed)),
        ("loops", lambda kind: _number(kind.loops)),
        ("worker-loops", lambda kind: _number(kind.worker_loops)),
        ("leader", lambda kind: _time(statistics, kind.leader)),
        ("workers", lambda kind: _time(statistics, kind.workers)),
        ("share", lambda kind: TableCell(share(t, kind.share), kind.share)),
        ("rows", lambda kind: _number(kind.rows)),
        ("error", lambda kind: TableCell(factor(kind.estimate_error), kind.estimate_error)),
        ("hit", lambda kind: _number(kind.buffers.get(HIT, 0))),
        ("read", lambda kind: _number(kind.buffers.get(READ, 0))),
        ("temp", lambda kind: _number(sum(kind.buffers.get(key, 0) for key in TEMPORARY))),
        ("io", lambda kind: TableCell(duration(kind.io_seconds or None), kind.io_seconds)),
    )
    kept = [
        (key, of)
        for key, of in columns
        if key in ALWAYS or any(of(kind).sort for kind in statistics.kinds)
    ]
    return Table(
        name=name,
        caption=t("plan-table.kinds", side=side),
        columns=tuple(Column(t(f"plan-table.{key}"), numeric=key != "kind") for key, _ in kept),
        rows=tuple(tuple(of(kind) for _, of in kept) for kind in statistics.kinds),
        note=t("plan-table.kinds-note"),
    )


ALWAYS = frozenset({"kind", "nodes-column", "loops", "leader", "share", "rows", "error"})
"""Columns that are shown even where all their cells are empty."""


def nodes_table(t: Texts, name: str, difference: PlanDifference, sides: tuple[str, str]) -> Table:
    """Both plans node by node, those first whose time differs most."""
    rows = sorted(_pairs(difference), key=lambda pair: -abs(_gain(difference, *pair)))
    return Table(
        name=name,
        caption=t("plan-table.nodes"),
        columns=(
            *(Column(f"{t('plan-table.node')}: {side}") for side in sides),
            *(Column(side, numeric=True) for side in sides),
            Column(t("plan-table.difference"), numeric=True),
            *(Column(f"{t('plan-table.rows')}: {side}", numeric=True) for side in sides),
        ),
        rows=tuple(_node_row(t, difference, *pair) for pair in rows[:MOST_NODES]),
        note=t("plan-table.nodes-note", count=len(rows)),
    )


Nodes = Sequence[int]
"""Nodes on one side of a row: none where there is no counterpart, several over partitions."""


def _pairs(difference: PlanDifference) -> Iterator[tuple[Nodes, Nodes]]:
    yield from (([old], [new]) for old, new in difference.pairs)
    yield from ((group.old, group.new) for group in difference.groups)
    for change in difference.changes:
        if change.old is None or change.new is None:
            yield (
                [] if change.old is None else [change.old],
                [] if change.new is None else [change.new],
            )


def _node_row(t: Texts, difference: PlanDifference, old: Nodes, new: Nodes) -> Row:
    olds, news = difference.old.own_seconds(old), difference.new.own_seconds(new)
    known = difference.old.plan.timed and difference.new.plan.timed
    gain = _gain(difference, old, new) if known else None
    return (
        _node_cell(t, difference.old, old),
        _node_cell(t, difference.new, new),
        TableCell(duration(olds), olds),
        TableCell(duration(news), news),
        TableCell(duration(gain, signed=True), gain),
        _rows_cell(difference.old, old),
        _rows_cell(difference.new, new),
    )


def _node_cell(t: Texts, side: PlanStatistics, numbers: Nodes) -> TableCell:
    return TableCell(names_of(t, side, numbers) or NOTHING)


def names_of(t: Texts, side: PlanStatistics, numbers: Nodes) -> str:
    """The name of a node; of several how many there are of each type: ``Append, 12 × Seq Scan``."""
    nodes = [side.plan.nodes[number] for number in numbers]
    if len(nodes) == 1:
        return nodes[0].name
    kinds = Counter(("Parallel " if node.parallel_aware else "") + node.kind for node in nodes)
    return t("list.separator").join(
        f"{count} × {kind}" if count > 1 else kind for kind, count in kinds.items()
    )


def _rows_cell(side: PlanStatistics, numbers: Nodes) -> TableCell:
    """Show the rows of the first of these nodes: of several it is the Append above the others."""
    rows = side.plan.nodes[numbers[0]].total_rows if numbers else None
    return TableCell(count(rows), rows)


def _gain(difference: PlanDifference, old: Nodes, new: Nodes) -> float:
    return (difference.new.own_seconds(new) or 0.0) - (difference.old.own_seconds(old) or 0.0)


def scans_table(t: Texts, name: str, statistics: PlanStatistics, side: str) -> Table | None:
    """How many scans had how many workers (2020, table 6.38); None of a serial plan."""
    if not statistics.scans_by_workers:
        return None
    return Table(
        name=name,
        caption=t("plan-table.scans", side=side),
        columns=tuple(
            Column(t(f"plan-table.{key}"), numeric=True)
            for key in ("workers", "scan-count", "scan-mean")
        ),
        rows=tuple(
            (_number(workers), _number(scans), TableCell(duration(mean), mean))
            for workers, scans, mean in statistics.scans_by_workers
        ),
    )


def _number(value: float) -> TableCell:
    return TableCell(count(value), float(value))


def _time(statistics: PlanStatistics, seconds: float) -> TableCell:
    return TableCell(duration(seconds) if statistics.plan.timed else NOTHING, seconds)


SHORT = 1.0
MINUTE = 60.0


def duration(seconds: float | None, *, signed: bool = False) -> str:
    """``12.3 ms``, ``2.35 s``, ``1 min 2 s``."""
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    size = abs(seconds)
    if size >= MINUTE:
        minutes, rest = divmod(round(size), 60)
        text = f"{minutes:,} min {rest} s"
    elif size >= SHORT:
        text = f"{significant(size)} s"
    else:
        text = f"{milliseconds(size)} ms"
    if not any(digit in text for digit in "123456789"):  # nothing is neither more nor less
        return text
    sign = MINUS if seconds < 0 else "+" if signed else ""
    return f"{sign}{text}"


def milliseconds(seconds: float) -> str:
    """Three digits, and no digit below those that EXPLAIN prints."""
    value = seconds * 1000
    return fixed(value, 3) if value < 1 else significant(value)


def count(value: float | None) -> str:
    """Whole, with separators; PostgreSQL 18's fractions of rows are rounded over all loops."""
    return fixed(value, 0)


def share(t: Texts, value: float | None) -> str:
    """``71 %``, and ``< 1 %`` for what is there but little."""
    if value is None:
        return NOTHING
    return f"< {percent(t, 0.01, 0)}" if 0 < value < 0.005 else percent(t, value, 0)


def factor(value: float | None) -> str:
    """``× 12``."""
    return NOTHING if value is None else f"× {significant(value, 3 if value < 1000 else 1)}"
