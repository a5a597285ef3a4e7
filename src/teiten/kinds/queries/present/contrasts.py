"""The table of a contrast of queries: times in one unit, speed-ups, and what is over its limit."""

from __future__ import annotations

from dataclasses import replace

from teiten.analysis.model.findings import ContrastResult, LevelResult
from teiten.kinds.queries.model import QUERY
from teiten.kinds.queries.present.contexts import MILLISECONDS, TimeUnit, unit_for
from teiten.kinds.queries.present.groups import bound_text, contrast_of
from teiten.report.effects import speed_text
from teiten.report.tables import Table, TableCell
from teiten.report.view.contrasts import (
    Value,
    caption_of,
    half_width,
    judged_by_pairs,
    side_of,
    verdict_table,
)
from teiten.report.view.kit import Kit


def times_table(kit: Kit, name: str, contrast: ContrastResult, *, noted: bool) -> Table:
    """Old, new, ratio, interval, speed-up, pairs and verdict of every query, and over all."""
    t, unit = kit.t, _unit(contrast)
    usual = judged_by_pairs(kit, contrast, noted=noted)
    factors = _factors(kit, contrast)
    title = t("unit.of", title=t(f"metric.{contrast.metric.name}"), unit=unit.name)
    own = contrast_of(kit, contrast)
    bounds = dict(own.bounds) if own else {}

    def speed(level: LevelResult | None) -> TableCell:
        effect = (level.verdict if level else contrast.overall).effect
        bound = bounds.get(level.context) if level else None
        return TableCell(
            bound_text(bound) or speed_text(effect), 1 / effect.ratio if effect else None
        )

    said = replace(
        usual,
        caption=caption_of(kit, contrast, title),
        factors=factors,
        titles=tuple(kit.names.factor(factor) for factor in factors),
        overall=t("level.overall-queries" if factors == (QUERY,) else "level.overall"),
        note="".join((usual.note, _left_out(kit, contrast))),
        value=_time(kit, unit),
        further=speed,
        further_title=t("table.speed-up"),
    )
    return verdict_table(name, said, contrast.levels, contrast.overall)


def _factors(kit: Kit, contrast: ContrastResult) -> tuple[str, ...]:
    """Only those that vary, as the others are said above."""
    context = contrast.levels[0].context if contrast.levels else ()
    told = kit.names.told.get(context, context)
    return tuple(one for one, _ in told if one not in kit.names.single or one == QUERY)


def _unit(contrast: ContrastResult) -> TimeUnit:
    medians = [one for level in contrast.levels for one in (level.old_median, level.new_median)]
    return unit_for(median for median in medians if median is not None) if medians else MILLISECONDS


def _left_out(kit: Kit, contrast: ContrastResult) -> str:
    if not contrast.left_out:
        return ""
    named = kit.t("list.separator").join(kit.names.context(one) for one in contrast.left_out)
    return " " + kit.t("table.left-out", queries=named)


def _time(kit: Kit, unit: TimeUnit) -> Value:
    def value(level: LevelResult, side: int) -> TableCell:
        number, values, over = side_of(level, side)
        if over and level.limit is not None:
            some = "all" if not values else "some"
            limit = kit.seconds(level.limit)
            text = kit.t(f"level.over.{some}", limit=limit, count=over, of=over + len(values))
            return TableCell(text, float(level.limit))
        if number is None:
            return TableCell("—")
        return TableCell(unit.text(number, half_width(level, number, values)), number)

    return value
