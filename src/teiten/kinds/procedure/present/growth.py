"""How times grow with partitions: sentences, curves with their knees, locks and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from teiten.analysis.model.verdict import Estimate
from teiten.kinds.contract_present import OwnAnswer
from teiten.kinds.procedure.analyse import KNEE, partitioned
from teiten.kinds.procedure.model import METHOD, procedure_of
from teiten.kinds.procedure.results import (
    Growth,
    GrowthKind,
    procedures_found,
    steps_of,
)
from teiten.model.plan import Context
from teiten.report.blocks import Block, Further, Gallery, Heading, Items, looked_up
from teiten.report.charts.base import Chart, coloured
from teiten.report.charts.lines import CurveLabels, CurvePoint, PointKind, curves
from teiten.report.effects import confidence_percent, plain_percent
from teiten.report.names import step_text
from teiten.report.numbers import NOTHING, bytes_text, fixed, significant
from teiten.report.tables import Column, Row, Table, TableCell, cells, number_cell
from teiten.report.view.kit import Kit

MICRO = 1e6
MOST_AT_ONCE = 24
"""The most rows of a table that does not scroll."""
MOST_CHARTS = 4
"""Curves that the body has of a workload; more are looked up, and the table tells of each."""
NANO = 1e9
MOST_LISTED = 4
"""The most methods whose numbers a sentence lists; of more, the table below it has them."""


def growth_answer(kit: Kit) -> OwnAnswer | None:
    """A table for each workload; None where no layout tells its partitions."""
    every = procedures_found(kit.analysis).growth
    if not every:
        return None
    blocks: list[Block] = []
    for at, workload in enumerate(dict.fromkeys(growth.workload for growth in every), start=1):
        mine = [growth for growth in every if growth.workload == workload]
        blocks += [
            Heading(3, kit.names.workload(workload)),
            Items(tuple(sentences(kit, mine)), "findings"),
            _table(kit, f"answer-growth-{at}", mine),
        ]
    undecided = (
        _which(kit, growth.method, growth.step, growth.context)
        for growth in every
        if growth.kind is GrowthKind.UNDECIDED
    )
    return OwnAnswer(tuple(blocks), tuple(undecided))


def growth_blocks(kit: Kit, prefix: str, workload: str) -> Iterator[Block]:
    """Show a workload's growth; nothing where its layouts do not tell their partitions."""
    mine = [
        growth for growth in procedures_found(kit.analysis).growth if growth.workload == workload
    ]
    if not mine:
        return
    yield Heading(4, kit.t("growth.title"))
    if kit.study.contrast == METHOD:
        yield Items(tuple(sentences(kit, mine)))
        yield _table(kit, f"{prefix}-growth", mine)
    if any(len(growth.points) > 2 for growth in mine):
        charts = Gallery(tuple(_charts(kit, prefix, mine)))
        few = len(charts.charts) <= MOST_CHARTS
        yield charts if few else looked_up(kit.t("paper.charts"), (charts,))
    for figure in FIGURES:
        table = _by_partitions(kit, prefix, workload, figure)
        if table is not None:
            yield Further((table,))


def sentences(kit: Kit, lines: Sequence[Growth]) -> Iterator[str]:
    """Which methods' times grow with partitions, by what, and which do not."""
    t = kit.t
    unit = t(f"growth.unit.{lines[0].unit.value}")
    delta = plain_percent(t, kit.study.measure.delta)
    words = [_kind(kit, line) for line in lines]
    for word in dict.fromkeys(words):
        with_word = [line for line, own in zip(lines, words, strict=True) if own == word]
        listed = t("list.strong").join(_grown(kit, growth) for growth in with_word)
        if len(with_word) > MOST_LISTED:
            methods = t.listed(dict.fromkeys(_called(kit, growth.method) for growth in with_word))
            listed = t("growth.many", methods=methods, count=len(with_word), of=len(lines))
        yield t(f"growth.sentence.{word}", unit=unit, delta=delta, listed=listed)


def _grown(kit: Kit, growth: Growth) -> str:
    between = _between(kit, growth.slope, _nano)
    which = _which(kit, growth.method, growth.step, growth.context)
    confidence = confidence_percent(kit.t, procedures_found(kit.analysis).confidence)
    interval = kit.t("growth.interval", between=between, confidence=confidence)
    interval = "" if between == NOTHING else interval
    return kit.t("growth.by", which=which, slope=_nano(growth.slope.mean), interval=interval)


def _called(kit: Kit, method: str) -> str:
    """A method in words."""
    return kit.names.level(METHOD, method)


def _which(kit: Kit, method: str, step: str, context: Context) -> str:
    timed = kit.t.aside(_called(kit, method), step_text(kit.t, step))
    return kit.t.aside(timed, kit.names.varied_levels(context))


def _table(kit: Kit, name: str, lines: Sequence[Growth]) -> Table:
    t = kit.t
    keys = ("partitions", "first", "last", "times", "slope", "interval", "doubled")
    levels = any(kit.names.varied_levels(line.context) for line in lines)
    heads = ("steps.method", "steps.step", *(("level",) if levels else ()))
    columns = (
        *(Column(t(f"table.{head}")) for head in heads),
        *(Column(t(f"table.growth.{key}"), numeric=True) for key in keys),
        Column(t("table.verdict")),
    )
    note = t(
        "table.growth.note",
        unit=t(f"growth.unit.{lines[0].unit.value}"),
        confidence=confidence_percent(t, procedures_found(kit.analysis).confidence),
        knee=fixed(KNEE, 0),
        delta=plain_percent(t, kit.study.measure.delta),
    )
    rows = tuple(_row(kit, line, levels=levels) for line in lines)
    return boxed(Table(name, t("table.growth.caption"), columns, rows, note=note))


def _row(kit: Kit, growth: Growth, *, levels: bool) -> Row:
    slope, knee, ends = growth.slope, growth.doubled, (growth.points[0], growth.points[-1])
    fewest, most = (_count(point.partitions) for point in ends)
    return (
        *cells(_called(kit, growth.method), step_text(kit.t, growth.step)),
        *(cells(kit.names.varied_levels(growth.context)) if levels else ()),
        TableCell(kit.t("interval.plain", low=fewest, high=most), ends[1].partitions),
        *(TableCell(significant(point.seconds * MICRO), point.seconds) for point in ends),
        TableCell(fixed(growth.times, 2), growth.times),
        TableCell(_nano(slope.mean), slope.mean),
        TableCell(_between(kit, slope, _nano), slope.low),
        TableCell(_doubled(kit, growth), None if knee is None else knee.mean),
        TableCell(kit.t(f"growth.word.{_kind(kit, growth)}"), kind="verdict"),
    )


def _kind(kit: Kit, growth: Growth) -> str:
    return growth.kind.value if kit.study.conclusive else "no-conclusion"


def _doubled(kit: Kit, growth: Growth) -> str:
    if growth.doubled is None:
        return NOTHING
    shown = _count(growth.doubled.mean)
    between = _between(kit, growth.doubled, _count)
    return shown if between == NOTHING else kit.t.aside(shown, between)


def _between(kit: Kit, estimate: Estimate, shown: Callable[[float], str]) -> str:
    if estimate.low is None or estimate.high is None:
        return NOTHING
    return kit.t("interval.plain", low=shown(estimate.low), high=shown(estimate.high))


def _charts(kit: Kit, prefix: str, lines: Sequence[Growth]) -> Iterator[Chart]:
    """One for each step of a method, with a line for each level of what else is varied."""
    t = kit.t
    for at, key in enumerate(dict.fromkeys((line.method, line.step) for line in lines), start=1):
        mine = [line for line in lines if (line.method, line.step) == key]
        points = [point for growth in mine for point in _points(kit, growth)]
        doubled = any(growth.doubled for growth in mine)
        words = CurveLabels(
            title=_which(kit, *key, ()),
            note=t("chart.growth.note-doubled", knee=fixed(KNEE, 0))
            if doubled
            else t("chart.growth.note"),
            x=t("chart.growth.x"),
            y=t("chart.growth.y", unit=t(f"growth.unit.{mine[0].unit.value}")),
            side=t("table.level"),
            sides=coloured(dict.fromkeys(_context(kit, growth.context) for growth in mine)),
            logarithmic=True,
        )
        yield curves(f"{prefix}-growth-{at}", points, words)


def _points(kit: Kit, growth: Growth) -> Iterator[CurvePoint]:
    side = _context(kit, growth.context)
    for point in growth.points:
        for kind in (PointKind.CURVE, PointKind.MEAN):
            yield CurvePoint(kind, side, point.partitions, point.seconds * MICRO)
    knee = growth.doubled
    if knee is not None:
        value = KNEE * growth.points[0].seconds * MICRO
        yield CurvePoint(PointKind.KNEE, side, knee.mean, value, knee.low, knee.high)


def _by_partitions(kit: Kit, prefix: str, workload: str, figure: str) -> Table | None:
    """Medians of a figure of steps, a column for each number of partitions; None of nothing."""
    by_line: dict[tuple[str, str, Context], dict[int, list[float]]] = {}
    for trial, method, context, partitions in partitioned(
        kit.study, kit.analysis.trials, {workload}
    ):
        for step in steps_of(trial.facts):
            value: float | None = getattr(step, figure)
            if value is not None:
                line = by_line.setdefault((method, step.name, context), {})
                line.setdefault(partitions, []).append(value)
    if not by_line:
        return None
    numbers = sorted({number for line in by_line.values() for number in line})
    t = kit.t
    columns = (
        *(Column(t(f"table.{head}")) for head in ("steps.method", "steps.step", "level")),
        *(Column(_count(number), numeric=True) for number in numbers),
    )
    methods = [method.name for method in procedure_of(kit.study.workload(workload)).methods]
    order = sorted(by_line, key=lambda line: (methods.index(line[0]), kit.names.order(line[2])))
    rows = tuple(
        (
            *cells(_called(kit, method), step_text(kit.t, step), _context(kit, others)),
            *(
                number_cell(median(values) if values else None, FIGURES[figure])
                for number in numbers
                for values in [by_line[method, step, others].get(number)]
            ),
        )
        for method, step, others in order
    )
    key = figure.replace("_", "-")
    caption, note = t(f"table.growth.{key}"), t(f"table.growth.{key}-note")
    return boxed(Table(f"{prefix}-{key}", caption, columns, rows, note=note))


def boxed(table: Table) -> Table:
    """The table, which scrolls in its own box where it is long."""
    return replace(table, tall=len(table.rows) > MOST_AT_ONCE)


def _context(kit: Kit, context: Context) -> str:
    return kit.names.context(context) if context else ""


def _count(value: float) -> str:
    return fixed(value, 0)


def _nano(seconds: float) -> str:
    return significant(seconds * NANO, 3)


FIGURES: Mapping[str, Callable[[float], str]] = {
    "fast_path": _count,
    "in_table": _count,
    "memory": bytes_text,
    "planning": bytes_text,
}
"""Figures of steps that are told by partitions, and how."""
