"""Queries timed one by one in the report: times, speed-ups, groups, workers, sweeps, plans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from teiten.analysis.model.findings import ContrastResult, LevelResult
from teiten.kinds.contract_present import TrialColumn
from teiten.kinds.queries.model import QUERY, queries_of
from teiten.kinds.queries.present.contexts import MILLISECONDS, TimeUnit, unit_for
from teiten.kinds.queries.present.groups import answer_forest, bound_text, contrast_of, points
from teiten.kinds.queries.present.plans import plans
from teiten.kinds.queries.present.published import query_charts, query_tables
from teiten.kinds.queries.present.sweep import chart as sweep_chart
from teiten.kinds.queries.present.sweep import fastest_level, sweeps_of
from teiten.kinds.queries.present.sweep import findings as sweep_findings
from teiten.kinds.queries.present.topics import charts, results_of, topics
from teiten.model.study import Workload
from teiten.model.text import joined_sentences
from teiten.report.blocks import Block, Further, Gallery, Section, Unprinted
from teiten.report.charts.base import Chart
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
from teiten.report.view.series import still_series
from teiten.report.view.usual import UsualPresent, contrasts_of


class QueriesPresent(UsualPresent):
    columns = (
        TrialColumn("query_seconds", 1000.0, digits=5),
        TrialColumn("over_timeout", decimals=0),
    )

    def duration(self, kit: Kit, workload: Workload) -> str:
        return kit.t("design.duration.queries", **_limits(kit, workload))

    def procedure(self, kit: Kit, workload: Workload) -> str:
        return kit.t("procedure.queries", **_limits(kit, workload))

    def answered(self, kit: Kit, contrasts: Sequence[ContrastResult]) -> Sequence[ContrastResult]:
        """Keep of a sweep only the contrast of its fastest level."""
        found = []
        for contrast in contrasts:
            swept = sweeps_of(kit, contrast.workload)
            if swept is None or contrast.new == fastest_level(swept):
                found.append(contrast)
        return found

    def beside(
        self, kit: Kit, name: str, contrast: ContrastResult
    ) -> tuple[Chart | None, tuple[str, ...]]:
        swept = sweeps_of(kit, contrast.workload)
        if swept is not None:
            return sweep_chart(kit, name, swept), sweep_findings(kit, swept)
        return answer_forest(kit, name, contrast), points(kit, contrast)

    def results(self, kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
        found = results_of(kit, workload)
        drawn = charts(kit, prefix, found) if found else ()
        if drawn:
            yield Gallery(drawn)
        if sweeps_of(kit, workload) is None:  # whose table has all levels
            for at, one in enumerate(contrasts_of(kit, workload)):
                yield times_table(kit, f"{prefix}-contrast-{at + 1}", one, noted=at == 0)
        if found:
            yield from topics(kit, prefix, found)
        series = still_series(kit, f"{prefix}-series", workload)
        if series is not None:
            yield Further((Unprinted(kit.t("paper.series"), (series,)),))

    def sections(self, kit: Kit) -> Iterable[Section]:
        yield plans(kit)

    def published(self, kit: Kit) -> tuple[Sequence[Chart], Sequence[Table]]:
        return query_charts(kit), query_tables(kit)


def _limits(kit: Kit, workload: Workload) -> dict[str, object]:
    options = queries_of(workload)
    return {"runs": options.runs, "timeout": kit.seconds(options.timeout)}


PRESENT = QueriesPresent()


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
        note=joined_sentences((usual.note, _left_out(kit, contrast))),
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
    return kit.t("table.left-out", queries=named)


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
