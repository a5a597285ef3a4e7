"""A contrast as a table and as a forest: old, new, ratio, interval and verdict of every level."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from teiten.analysis.model.comparison import UnpairedResult
from teiten.analysis.model.findings import ContrastResult, LevelResult, Verdict, VerdictKind
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.model.plan import Context
from teiten.model.quantities import is_number
from teiten.report.blocks import Block, Details, rebuilt
from teiten.report.charts.base import Chart, text_width
from teiten.report.charts.forest import ForestRow, ForestWords
from teiten.report.effects import (
    confidence_percent,
    effect_cells,
    plain_percent,
    ratio_with_interval,
    says_nothing,
)
from teiten.report.names import Names
from teiten.report.numbers import NOTHING, measured, spread
from teiten.report.sentences import detectable_percent, told_detectable, verdict_kind, verdict_word
from teiten.report.tables import Column, Row, Table, TableCell, cells, level_value
from teiten.report.texts import Texts
from teiten.report.view.kit import Kit, factor_of

LONGEST_HEADING = 150
"""Pixels of a side's name above its column."""
Compared = ContrastResult | UnpairedResult
Value = Callable[[LevelResult, int], TableCell]
"""The cell of a level's old side (0) or new side (1)."""


def verdict_text(t: Texts, verdict: Verdict) -> str:
    """A verdict, and behind it the smallest effect that could have been seen, where it is told."""
    word, smallest = verdict_word(t, verdict), told_detectable(verdict)
    if smallest is None:
        return word
    return word + t("table.detectable", percent=detectable_percent(t, smallest))


def verdict_cell(t: Texts, verdict: Verdict, word: str = "") -> TableCell:
    """A verdict in a table; ``word``: other words for it."""
    return TableCell(word or verdict_word(t, verdict), kind=f"verdict {verdict_kind(verdict)}")


@dataclass(frozen=True)
class Judged:
    """Words and formats of the table of a contrast."""

    t: Texts
    caption: str
    factors: Mapping[str, str]
    """The factors that have a column, and what these are called."""
    sides: tuple[str, str]
    ratio: str
    counted: str
    """The title of the column with the number of pairs or trials."""
    overall: str
    """The title of the last row."""
    note: str
    value: Value
    count: Callable[[LevelResult | None], TableCell]
    """How many pairs or trials a level has, or all of them."""
    further: Callable[[LevelResult | None], TableCell] | None = None
    """Cells of a further column, after the interval; its title is ``further_title``."""
    further_title: str = ""
    named: Callable[[str, str], str] = lambda _factor, level: level
    """How a level is called below the name of its factor."""


def verdict_table(
    name: str, judged: Judged, levels: Sequence[LevelResult], overall: Verdict
) -> Table:
    """A row for each level, and one over all levels; verdicts where the metric has any."""
    t = judged.t
    further = [Column(judged.further_title, numeric=True)] if judged.further else []
    end = -1 if overall.kind is VerdictKind.UNJUDGED else None
    columns = (
        *(
            Column(title, all(is_number(dict(level.context).get(factor, "0")) for level in levels))
            for factor, title in judged.factors.items()
        ),
        *(Column(side, numeric=True) for side in judged.sides),
        Column(judged.ratio, numeric=True),
        Column(t("table.interval"), numeric=True),
        *further,
        Column(judged.counted, numeric=True),
        Column(t("table.verdict")),
    )
    rows = tuple(_row(judged, level)[:end] for level in levels)
    lead = [judged.overall if at == 0 else "" for at in range(len(judged.factors))]
    total = (*cells(*lead, "", ""), *_judged(judged, overall, None))[:end]
    shown = total if len(rows) > 1 else None
    return Table(name, judged.caption, columns[:end], rows, shown, judged.note)


def _row(judged: Judged, level: LevelResult) -> Row:
    return (
        *(
            TableCell(
                judged.named(factor, text),
                level_value(text, at),
                kind="" if is_number(text) else "left",
            )
            for at, (factor, text) in enumerate(level.context)
            if factor in judged.factors
        ),
        judged.value(level, 0),
        judged.value(level, 1),
        *_judged(judged, level.verdict, level),
    )


def _judged(judged: Judged, verdict: Verdict, level: LevelResult | None) -> Iterator[TableCell]:
    effect, t = verdict.effect, judged.t
    yield from effect_cells(t, effect)
    if judged.further:
        yield judged.further(level)
    yield judged.count(level)
    yield verdict_cell(t, verdict, verdict_text(t, verdict))


def side_of(level: LevelResult, side: int) -> tuple[float | None, Sequence[float], int]:
    """Find the geometric mean of one side's values, these, and how many were over their limit.

    The geometric mean, as the ratio beside it is one of the pairs: where every trial has its
    partner, the one divided by the other is that ratio.
    """
    if side:
        return geometric_mean(level.new_values), level.new_values, level.new_over
    return geometric_mean(level.old_values), level.old_values, level.old_over


def geometric_mean(values: Sequence[float]) -> float | None:
    """None of no values; 0 where one of them is 0."""
    if not values:
        return None
    return statistics.geometric_mean(values) if min(values) > 0 else 0.0


def by_spread(factor: float) -> Value:
    """The mean with the digits that the trials' spread allows, in the shown unit."""
    return _mean(factor, lambda _level, _mean, values: spread(values))


def by_interval(factor: float) -> Value:
    """The mean with the digits that the ratio's interval allows, in the shown unit."""
    return _mean(factor, half_width)


def _mean(factor: float, half_of: Callable[[LevelResult, float, Sequence[float]], float]) -> Value:
    def value(level: LevelResult, side: int) -> TableCell:
        number, values, _ = side_of(level, side)
        if number is None:
            return TableCell(NOTHING)
        return TableCell(measured(number * factor, half_of(level, number, values) * factor), number)

    return value


def half_width(level: LevelResult, number: float, values: Sequence[float]) -> float:
    """The half-width of a mean, in proportion that of the ratio; else the values' spread."""
    effect = level.verdict.effect
    relative = (effect.high - effect.low) / 2 if effect else math.nan
    return abs(number) * relative if math.isfinite(relative) else spread(values)


def judged_by_pairs(kit: Kit, contrast: ContrastResult, *, noted: bool) -> Judged:
    """Word the table of a contrast as most kinds do. ``noted``: with the note on how the numbers
    were made, which is the same for all tables of a workload."""
    t, names = kit.t, kit.names
    alpha = comparison_alpha(kit.analysis.plan, contrast.workload, len(contrast.levels))
    sequential = kit.study.measure.sequential is not None
    level = ""
    if len(contrast.levels) > 1:  # over all of them the confidence is another
        of_all = 1 - comparison_alpha(kit.analysis.plan, contrast.workload)
        level = t("table.contrast.level", level=confidence_percent(t, of_all))
    key = "table.contrast.note-sequential" if sequential else "table.contrast.note"
    note = t(key, confidence=confidence_percent(t, 1 - alpha), level=level)
    return Judged(
        t,
        caption_of(kit, contrast, kit.metric_title(contrast.metric)),
        names.columns([level.context for level in contrast.levels]),
        _headings(names, contrast),
        names.ratio,
        t("table.pairs"),
        t("level.overall"),
        note if noted else "",
        by_interval(factor_of(contrast.metric)),
        lambda level: _pairs(kit, contrast, level),
        named=names.level,
    )


def _headings(names: Names, contrast: ContrastResult) -> tuple[str, str]:
    """Both sides above their columns: by the names that charts have where others would be long."""
    levels = (contrast.old, contrast.new)
    old, new = (names.side(level).long for level in levels)
    if max(text_width(old), text_width(new)) <= LONGEST_HEADING:
        return old, new
    return names.titled(contrast.old), names.titled(contrast.new)


def _pairs(kit: Kit, contrast: ContrastResult, level: LevelResult | None) -> TableCell:
    """Count the pairs of a level; of all levels the blocks, which their mean is made of, and the
    pairs in them."""
    count = (level.verdict if level else contrast.overall).pairs
    if level or len(contrast.levels) < 2 or kit.analysis.plan.pairs_of_a_start > 1:
        return TableCell(str(count), count)
    pairs = count * sum(level.context not in contrast.left_out for level in contrast.levels)
    blocks = kit.t.plural("answer.cost.blocks", count)
    return TableCell(kit.t("table.blocks-of-pairs", blocks=blocks, pairs=pairs), count)


def caption_of(kit: Kit, contrast: ContrastResult, metric: str) -> str:
    """Name metric and workload; of several contrasts the sides too."""
    return with_sides(kit, of_workload(kit, metric, contrast.workload), contrast)


def with_sides(kit: Kit, caption: str, contrast: ContrastResult) -> str:
    """A caption with the sides of a contrast, where there are several."""
    if len(kit.study.contrasted_levels) <= 2:
        return caption
    return kit.t.aside(caption, kit.ratio_of(contrast))


def of_workload(kit: Kit, what: str, workload: str) -> str:
    """The caption of what is shown of a workload."""
    named = kit.t.quoted(kit.names.workload(workload))
    return kit.t.title("table.contrast.caption", metric=what, workload=named)


def with_captions(kit: Kit, workload: str, shown: Iterable[Block]) -> tuple[Block, ...]:
    """Blocks of a workload whose captions name it, where several were measured: in a list of
    figures, and at the end of a link, nothing else tells them apart."""
    blocks = tuple(shown)
    if len(tuple(kit.workloads_measured())) < 2:
        return blocks
    named = kit.names.workload(workload)

    def change(block: Any) -> Any:
        match block:
            case Table(caption=caption) if named not in caption:
                return replace(block, caption=of_workload(kit, caption, workload))
            case Chart(title=title) | Details(title=title, kind="folded") if named not in title:
                return replace(block, title=of_workload(kit, title, workload))
        return block

    return rebuilt(blocks, change)


def forest_rows(
    t: Texts,
    result: Compared,
    label: Callable[[Context], str],
    together: str,
    *,
    speed: bool = False,
) -> list[ForestRow]:
    """All levels, called ``together``, then each; a single level has its own name. Without what has
    no interval. ``label`` names a level; ``speed``: speed-ups, of times."""
    levels = [(label(level.context), level.verdict) for level in result.levels]
    first = levels[0][0] if len(levels) == 1 else together
    rows = [forest_row(t, first, result.overall, overall=True, speed=speed)]
    if len(levels) > 1:
        rows += [forest_row(t, *level, speed=speed) for level in levels]
    return [row for row in rows if row is not None]


def forest_row(
    t: Texts, label: str, verdict: Verdict, *, overall: bool = False, speed: bool = False
) -> ForestRow | None:
    """A ratio, or a speed-up, with its interval; None where nothing can be said."""
    effect = verdict.effect
    if effect is None or not (speed or math.isfinite(effect.high)):
        return None
    text = ratio_with_interval(t, effect, speed=speed)
    shown, word = effect.inverse if speed else effect, verdict_word(t, verdict)
    ends = (shown.low, shown.high)
    return ForestRow(label, shown.ratio, *ends, text, word, overall, says_nothing(effect))


def forest_words(
    t: Texts, result: Compared, sides: str, ratio: str, *, title: str, note: str, workload: str = ""
) -> ForestWords:
    """Word a forest of ratios. ``sides``: of which each is a ratio; ``title`` and ``note``: keys of
    texts; ``workload``: for the title."""
    values = {"metric": t.metric(result.metric), "sides": sides, "workload": workload}
    return ForestWords(
        axis=t("chart.forest.axis", **values),
        title=t.title(title, **values),
        note=t(note, delta=plain_percent(t, result.overall.delta)),
        overall=t("chart.forest.overall"),
        ratio=ratio,
    )
