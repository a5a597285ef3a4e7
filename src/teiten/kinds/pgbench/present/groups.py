"""Numbers of each group of trials: percentiles of latency, as a chart and as a table, and its tail
in words; and lookups by an index: how many visited the table, and what they wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from teiten.analysis.model.discussion import WAL_ROW, Tail, TailLevel
from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult
from teiten.kinds.metrics import by_name
from teiten.kinds.pgbench.metrics import HEAP_FETCHES, LATENCY_MEAN, PERCENTILES, TPS
from teiten.kinds.pgbench.results import pgbench_found
from teiten.model.metrics import TRANSACTIONS, VISIBLE_PAGES, WAL_PER_TRANSACTION, Metric
from teiten.report.blocks import Block, Heading, Text, gallery
from teiten.report.charts.base import Chart, logarithmic_ticks
from teiten.report.charts.levels import by_level
from teiten.report.effects import change_decimals, change_interval, confidence_percent, percent
from teiten.report.names import Names
from teiten.report.numbers import bytes_text, fixed, measured, significant, spread
from teiten.report.tables import Column, Table, TableCell, level_value
from teiten.report.texts import Texts
from teiten.report.view.discussion import level_text, levels_text, sides_text, sides_told
from teiten.report.view.kit import Kit, TrialGroup, factor_of
from teiten.report.view.levels import axes_for, dots_of, metric_chart, place_of

Numbers = Mapping[str, Callable[[TrialGroup], TableCell]]
"""The cells below the titles of a table's further columns."""


def _table(
    kit: Kit, name: str, groups: Sequence[TrialGroup], numbers: Numbers, words: tuple[str, str]
) -> Table:
    """A row for each group: the levels that tell it apart, its side, and its numbers. ``words``:
    the caption and the note."""
    names, (caption, note) = kit.names, words
    factors = names.varied([group.context for group in groups])
    rows = []
    for group in groups:
        levels = dict(group.context)
        head = (
            TableCell(names.level(factor, levels[factor]), level_value(levels[factor], at))
            for at, factor in enumerate(factors)
        )
        side = TableCell(kit.short(group.side))
        rows.append((*head, side, *(number(group) for number in numbers.values())))
    columns = (
        *(Column(names.factor(factor), numeric=True) for factor in factors),
        Column(names.factor(kit.study.contrast)),
        *(Column(title, numeric=True) for title in numbers),
    )
    return Table(name, caption, columns, tuple(rows), note=note)


def latency_chart(kit: Kit, name: str, groups: Sequence[TrialGroup]) -> Chart | None:
    """One panel per percentile, with a logarithmic axis that all panels share."""
    several = len({place_of(kit, group).panel for group in groups}) > 1
    dots = [
        replace(dot, panel=f"{title} · {dot.panel}" if several else title)
        for metric, _ in PERCENTILES
        for title in (kit.t(f"metric.short.{metric}"),)
        for dot in dots_of(kit, groups, metric, 1000.0)
        if dot.value > 0
    ]
    if not dots:
        return None
    axes = axes_for(kit, groups, kit.t("unit.of", title=kit.t("word.latency"), unit="ms"))
    axes = replace(
        axes,
        panels=tuple(dict.fromkeys(dot.panel for dot in dots)),
        logarithmic=True,
        ticks=logarithmic_ticks([dot.value for dot in dots]),
    )
    title, note = kit.t("chart.percentiles.title"), kit.t("chart.percentiles.note")
    return by_level(kit.t, name, dots, axes, title=title, note=note)


def percentile_table(kit: Kit, name: str, groups: Sequence[TrialGroup]) -> Table | None:
    numbers = {
        kit.t(f"metric.short.{metric}"): partial(_latency_cell, by_name()[metric])
        for metric in (LATENCY_MEAN.name, *(name for name, _ in PERCENTILES))
        if any(group.values(metric) for group in groups)
    }
    words = (kit.t("table.percentiles.caption"), kit.t("table.percentiles.note"))
    return _table(kit, name, groups, numbers, words) if numbers else None


def _latency_cell(metric: Metric, group: TrialGroup) -> TableCell:
    factor, middle = factor_of(metric), group.median(metric.name)
    half = spread(group.values(metric.name)) * factor
    return TableCell(measured(None if middle is None else middle * factor, half), middle)


MILLI = 1000.0
"""Milliseconds in a second."""


def tail_sentences(kit: Kit, workload: str) -> Iterator[str]:
    """Compare latency's tails in contrasts with a verdict; nothing where there is no interval.
    Differences of δ or more come first; the first sentence is empty where there is none."""
    relevant: list[str] = []
    further: list[str] = []
    for growth, sentence in _tails(kit, workload):
        (relevant if growth >= kit.study.measure.delta else further).append(sentence)
    if relevant or further:
        yield from (*(relevant or ("",)), *further)


def _tails(kit: Kit, workload: str) -> Iterator[tuple[float, str]]:
    """Sentences with the share of a tail's size by which it differs, at most."""
    alike: dict[tuple[str, int], list[Tail]] = {}
    for tail in pgbench_found(kit.analysis).tails:
        if tail.workload == workload and (tail.old, tail.new) in sides_told(kit, workload):
            differing = tuple(_differing(kit, tail))
            yield from differing
            known = sum(level.change.low is not None for level in tail.levels)
            if known and not differing:
                alike.setdefault((tail.old, known), []).append(tail)
    for (old, count), same in alike.items():
        key = "discussion.tail.same" if len(same) == 1 else "discussion.tail.same-several"
        new = sides_text(kit, (tail.new for tail in same))
        yield 0.0, kit.t.plural(key, count, old=kit.names.titled(old), new=new)


def _differing(kit: Kit, tail: Tail) -> Iterator[tuple[float, str]]:
    """The levels at which it differs, and that at which it does so most, as a share of its size."""
    certain = [level for level in tail.levels if level.change.certain]
    for direction, sign in (("longer", 1), ("shorter", -1)):
        levels = [level for level in certain if level.change.mean * sign > 0]
        if levels:
            most = max(levels, key=_growth)
            yield _growth(most), _differs(kit, tail, direction, levels, most)


def _growth(level: TailLevel) -> float:
    return abs(level.change.mean) / max(level.old, level.new)


def _differs(
    kit: Kit, tail: Tail, direction: str, levels: Sequence[TailLevel], most: TailLevel
) -> str:
    return kit.t(
        f"discussion.tail.{direction}" + ("-at" if len(levels) == 1 else ""),
        levels=levels_text(kit, [level.context for level in levels], len(tail.levels)),
        level=level_text(kit, most.context),
        **tail_values(kit.t, kit.analysis, tail, most),
        old=kit.names.titled(tail.old),
        new=kit.names.titled(tail.new),
    )


def tail_values(
    t: Texts, analysis: CampaignAnalysis, tail: Tail, level: TailLevel
) -> dict[str, str]:
    """In milliseconds: both tails, their difference and its interval, with its share of α."""
    alpha = analysis.plan.study.measure.alpha / len(tail.levels)
    digits = change_decimals(level.change, MILLI)
    return {
        "old_value": significant(level.old * MILLI),
        "new_value": significant(level.new * MILLI),
        "difference": fixed(level.change.mean * MILLI, digits, signed=True),
        "confidence": confidence_percent(t, 1 - alpha),
        "interval": change_interval(t, level.change, MILLI),
    }


@dataclass(frozen=True)
class _Figure:
    """A column on lookups: its text's key, how a number is written, and by what it is divided."""

    metric: str
    key: str
    written: Callable[[Kit, float], str]
    by_transaction: bool = False

    def median(self, group: TrialGroup) -> float | None:
        if not self.by_transaction:
            return group.median(self.metric)
        per_transaction = [
            trial.metrics[self.metric] / trial.metrics[TRANSACTIONS.name]
            for trial in group.trials
            if self.metric in trial.metrics and trial.metrics.get(TRANSACTIONS.name, 0.0) > 0
        ]
        return median(per_transaction) if per_transaction else None


FIGURES = (
    _Figure(VISIBLE_PAGES.name, "visible", lambda kit, value: percent(kit.t, value, 1)),
    _Figure(HEAP_FETCHES.name, "fetches", lambda _, value: fixed(value, 3)),
    _Figure(TPS.name, "tps", lambda _, value: significant(value)),
    _Figure(WAL_PER_TRANSACTION.name, "wal", lambda _, value: bytes_text(value)),
    _Figure("wal_records", "records", lambda _, value: fixed(value, 3), by_transaction=True),
    _Figure(
        "wal_full_page_images", "images", lambda _, value: fixed(value, 3), by_transaction=True
    ),
)


def _figure_cell(kit: Kit, figure: _Figure, group: TrialGroup) -> TableCell:
    value = figure.median(group)
    return TableCell("" if value is None else figure.written(kit, value), value)


def lookups(kit: Kit, prefix: str, workload: str) -> Iterator[Block]:
    """Nothing where they were not counted."""
    groups = [group for group in kit.of_workload(workload) if group.values(HEAP_FETCHES.name)]
    if not groups:
        return
    yield Heading(4, kit.t("lookups.title"))
    sentence = _sentence(kit, groups)
    if sentence:
        yield Text(sentence)
    yield from gallery([metric_chart(kit, f"{prefix}-heap-fetches", groups, HEAP_FETCHES)])
    numbers = {}
    for figure in FIGURES:
        if any(figure.median(group) is not None for group in groups):
            numbers[kit.t(f"lookups.column.{figure.key}")] = partial(_figure_cell, kit, figure)
    words = (kit.t("lookups.caption"), kit.t("lookups.note"))
    yield _table(kit, f"{prefix}-lookups", groups, numbers, words)


def readers_wrote(
    t: Texts, names: Names, analysis: CampaignAnalysis, contrast: ContrastResult
) -> str:
    """Whether lookups write WAL on one side and not on the other, behind the answer's sentence;
    empty where they were not counted, and where no difference is shown."""
    if not any(
        trial.workload == contrast.workload and HEAP_FETCHES.name in trial.metrics
        for trial in analysis.trials
    ):
        return ""
    rows = [
        (table.context, row)
        for table in analysis.per_transaction
        if table.key == contrast.key
        for row in table.rows
        if row.name == WAL_ROW and row.change.certain and bytes_text(row.new) != bytes_text(row.old)
    ]
    if not rows:
        return ""
    context, row = max(rows, key=lambda at_level: abs(at_level[1].change.mean))
    return t(
        "lookups.readers-wrote-at" if len(contrast.levels) > 1 else "lookups.readers-wrote",
        new=names.side(contrast.new).long,
        old=names.side(contrast.old).long,
        new_wal=bytes_text(row.new),
        old_wal=bytes_text(row.old),
        level=names.context(context),
    )


def _sentence(kit: Kit, groups: Sequence[TrialGroup]) -> str:
    """Say how much WAL the readers wrote per transaction, at most and at least."""
    wal = {at: group.median(WAL_PER_TRANSACTION.name) for at, group in enumerate(groups)}
    known = {at: value for at, value in wal.items() if value is not None}
    if len(known) < 2:
        return ""
    most, least = max(known, key=lambda at: known[at]), min(known, key=lambda at: known[at])
    return kit.t(
        "lookups.wrote",
        most=bytes_text(known[most]),
        most_of=_called(kit, groups[most]),
        least=bytes_text(known[least]),
        least_of=_called(kit, groups[least]),
    )


def _called(kit: Kit, group: TrialGroup) -> str:
    parts = (kit.names.side(group.side).long, kit.names.varied_levels(group.context))
    return kit.t("list.separator").join(filter(None, parts))
