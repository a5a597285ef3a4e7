"""Queries timed one by one in the report: times, speed-ups, groups, workers, sweeps, plans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from teiten.analysis.model.findings import ContrastResult, LevelResult
from teiten.kinds.contract_present import TrialColumn
from teiten.kinds.queries.model import QUERY, QUERY_TIME, queries_of
from teiten.kinds.queries.present import sweep
from teiten.kinds.queries.present.groups import (
    answer_forest,
    bound_text,
    contrast_of,
    group_table,
    points,
)
from teiten.kinds.queries.present.plans import node_tables, plans
from teiten.kinds.queries.present.published import query_charts, query_tables
from teiten.kinds.queries.present.sweep import fastest_level, sweeps_of
from teiten.kinds.queries.present.tables import blocks_table, shared_table
from teiten.kinds.queries.present.times import (
    MILLISECONDS,
    TimeUnit,
    over_text,
    speed_forest,
    time_bars,
    unit_for,
)
from teiten.kinds.queries.present.workers import fewer_workers, workers_findings, workers_table
from teiten.kinds.queries.results import QueryContrast, QueryResults, queries_found
from teiten.model.study import Workload
from teiten.model.text import joined_sentences
from teiten.report.blocks import Block, Further, Heading, Items, Section, gallery
from teiten.report.charts.base import Chart
from teiten.report.effects import ratio_text
from teiten.report.numbers import NOTHING
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
from teiten.report.view.series import series_of
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
        kept = []
        for contrast in contrasts:
            swept = sweeps_of(kit, contrast.workload)
            if swept is None or contrast.new == fastest_level(swept):
                kept.append(contrast)
        return kept

    def beside(
        self, kit: Kit, name: str, contrast: ContrastResult
    ) -> tuple[Chart | None, tuple[str, ...]]:
        swept = sweeps_of(kit, contrast.workload)
        if swept is not None:
            return sweep.chart(kit, name, swept), sweep.findings(kit, swept)
        return answer_forest(kit, name, contrast), points(kit, contrast)

    def results(self, kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
        results = queries_found(kit.analysis).of_workload(workload)
        yield from gallery(charts(kit, prefix, results) if results else ())
        if sweeps_of(kit, workload) is None:  # whose table has all levels
            for at, contrast in enumerate(contrasts_of(kit, workload)):
                yield times_table(kit, f"{prefix}-contrast-{at + 1}", contrast, noted=at == 0)
        if results:
            yield from topics(kit, prefix, results)
        yield from series_of(kit, prefix, workload)

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
            bound_text(bound) or ratio_text(effect, speed=True),
            1 / effect.ratio if effect else None,
        )

    judged = replace(
        usual,
        caption=caption_of(kit, contrast, title),
        factors={factor: kit.names.factor(factor) for factor in factors},
        overall=t("level.overall-queries" if factors == (QUERY,) else "level.overall"),
        note=joined_sentences((usual.note, _left_out(kit, contrast))),
        value=_time(kit, unit),
        further=speed,
        further_title=t("table.speed-up"),
    )
    return verdict_table(name, judged, contrast.levels, contrast.overall)


def _factors(kit: Kit, contrast: ContrastResult) -> tuple[str, ...]:
    """Only those that vary, as the others are said above."""
    context = contrast.levels[0].context if contrast.levels else ()
    shown = kit.names.told.get(context, context)
    return tuple(factor for factor, _ in shown if factor not in kit.names.single or factor == QUERY)


def _unit(contrast: ContrastResult) -> TimeUnit:
    medians = [
        middle for level in contrast.levels for middle in (level.old_median, level.new_median)
    ]
    return unit_for(median for median in medians if median is not None) if medians else MILLISECONDS


def _left_out(kit: Kit, contrast: ContrastResult) -> str:
    if not contrast.left_out:
        return ""
    named = kit.t("list.separator").join(
        kit.names.context(context) for context in contrast.left_out
    )
    return kit.t("table.left-out", queries=named)


def _time(kit: Kit, unit: TimeUnit) -> Value:
    def value(level: LevelResult, side: int) -> TableCell:
        number, values, over = side_of(level, side)
        if over and level.limit is not None:
            text = over_text(kit, level.limit, over, len(values))
            return TableCell(text, float(level.limit))
        if number is None:
            return TableCell(NOTHING)
        return TableCell(unit.text(number, half_width(level, number, values)), number)

    return value


def charts(kit: Kit, prefix: str, results: QueryResults) -> tuple[Chart | None, ...]:
    """Times and speed-ups."""
    if results.sweeps:
        return (sweep.chart(kit, f"{prefix}-sweep", results),)
    compared = _contrasts(kit, results)
    forests = (
        speed_forest(kit, f"{prefix}-speed-{at + 1}", contrast)
        for at, (contrast, _) in enumerate(compared)
    )
    return time_bars(kit, prefix, results), *forests


def topics(kit: Kit, prefix: str, results: QueryResults) -> Iterator[Block]:
    """Groups, sweeps, workers, blocks and partitions, node statistics: those that say anything."""
    for part in (_sweeps, _groups, _workers, _tables, _nodes):
        yield from part(kit, prefix, results)


def _contrasts(kit: Kit, results: QueryResults) -> list[tuple[ContrastResult, QueryContrast]]:
    compared = []
    for contrast in kit.analysis.contrasts:
        if contrast.workload == results.workload and contrast.metric is QUERY_TIME:
            own = contrast_of(kit, contrast)
            if own is not None:
                compared.append((contrast, own))
    return compared


def _topic(
    kit: Kit, key: str, findings: tuple[str, ...], tables: Sequence[Table]
) -> Iterator[Block]:
    """A heading with what is said and shown below it; nothing of nothing."""
    if findings or tables:
        yield Heading(4, kit.t(f"query-topic.{key}"))
    if findings:
        yield Items(findings, "findings")
    yield from tables


def _sweeps(kit: Kit, prefix: str, results: QueryResults) -> Iterable[Block]:
    tables = [
        sweep.table(kit, f"{prefix}-sweep-{at + 1}", swept)
        for at, swept in enumerate(results.sweeps)
    ]
    return _topic(kit, "sweep", sweep.findings(kit, results), tables)


def _groups(kit: Kit, prefix: str, results: QueryResults) -> Iterable[Block]:
    if results.sweeps:
        return ()
    tables = [
        group_table(kit, f"{prefix}-groups-{at + 1}", own, contrast)
        for at, (contrast, own) in enumerate(_contrasts(kit, results))
    ]
    return _topic(kit, "groups", (), [table for table in tables if table is not None])


def _workers(kit: Kit, prefix: str, results: QueryResults) -> Iterable[Block]:
    findings = workers_findings(kit, results)
    reasons = tuple(
        line
        for contrast, own in _contrasts(kit, results)
        for line in fewer_workers(kit, own.fewer_workers, contrast.old, contrast.new)
    )
    shown = None if results.sweeps else workers_table(kit, f"{prefix}-workers", results)
    return _topic(kit, "workers", (*reasons, *findings), [shown] if shown else [])


def _tables(kit: Kit, prefix: str, results: QueryResults) -> Iterable[Block]:
    if results.sweeps:
        return ()
    tables = [blocks_table(kit, f"{prefix}-blocks", results)]
    shown = dict.fromkeys(
        context
        for _, own in _contrasts(kit, results)
        for context in (own.loss, own.gain)
        if context is not None
    )
    tables += [
        shared_table(kit, f"{prefix}-shared-{at + 1}", results.tables, context)
        for at, context in enumerate(list(shown)[:2])
    ]
    return _topic(kit, "tables", (), [table for table in tables if table is not None])


def _nodes(kit: Kit, prefix: str, results: QueryResults) -> Iterable[Block]:
    if results.sweeps:
        return ()
    tables = [
        table
        for at, (_, own) in enumerate(_contrasts(kit, results))
        for table in node_tables(kit, f"{prefix}-nodes-{at + 1}", results.workload, own)
    ]
    topic = tuple(_topic(kit, "nodes", (), tables))
    return (Further(topic),) if topic else ()
