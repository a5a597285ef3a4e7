"""Queries timed one by one in the report: times, speed-ups, groups, workers, sweeps, and plans:
flips, differences of the sides, node statistics (2020, tables 6.30 to 6.33), and pev2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from teiten.analysis.model.explain import KindStatistics, PlanStability, PlanStatistics, QueryPlans
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
from teiten.kinds.queries.present.published import query_charts, query_tables
from teiten.kinds.queries.present.sweep import fastest_level, sweeps_of
from teiten.kinds.queries.present.tables import (
    blocks_table,
    fewer_workers,
    shared_table,
    workers_findings,
    workers_table,
)
from teiten.kinds.queries.present.times import (
    TimeUnit,
    over_text,
    speed_chart,
    speed_rows,
    time_bars,
    unit_for,
)
from teiten.kinds.queries.results import QueryContrast, QueryResults, queries_found
from teiten.model.study import Workload
from teiten.model.text import joined_sentences
from teiten.report.blocks import (
    Block,
    Code,
    Details,
    Further,
    Heading,
    Items,
    Section,
    Text,
    Unfolded,
    Unprinted,
    gallery,
)
from teiten.report.charts.base import Chart
from teiten.report.effects import effect_cells
from teiten.report.numbers import NOTHING
from teiten.report.plans.page import changes, statements
from teiten.report.plans.tables import count, difference_tables, duration, kinds_table, share
from teiten.report.plans.viewer import PlanPair, viewed
from teiten.report.tables import Column, Row, Table, TableCell, cells, number_cell
from teiten.report.texts import Texts
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
        return [
            contrast
            for contrast in contrasts
            if (swept := sweeps_of(kit, contrast.workload)) is None
            or contrast.new == fastest_level(swept)
        ]

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
    t = kit.t
    medians = (
        number for level in contrast.levels for number in (level.old_median, level.new_median)
    )
    unit = unit_for(median for median in medians if median is not None)
    usual = judged_by_pairs(kit, contrast, noted=noted)
    factors = _factors(kit, contrast)
    title = t("unit.of", title=t(f"metric.{contrast.metric.name}"), unit=unit.name)
    own = contrast_of(kit, contrast)
    bounds = dict(own.bounds) if own else {}

    def speed(level: LevelResult | None) -> TableCell:
        effect = (level.verdict if level else contrast.overall).effect
        bound = bounds.get(level.context) if level else None
        return effect_cells(t, effect, bound_text(bound), speed=True)[0]

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


def _left_out(kit: Kit, contrast: ContrastResult) -> str:
    named = kit.t("list.separator").join(map(kit.names.context, contrast.left_out))
    return kit.t("table.left-out", queries=named) if named else ""


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
    forests = (
        speed_chart(kit, f"{prefix}-speed-{at}", contrast, speed_rows(kit, contrast))
        for at, (contrast, _) in enumerate(_contrasts(kit, results), start=1)
    )
    return time_bars(kit, prefix, results), *forests


def topics(kit: Kit, prefix: str, results: QueryResults) -> Iterator[Block]:
    """Groups, workers, blocks and partitions, node statistics, or of a sweep its levels and
    workers: those that say anything."""
    parts = (_groups, _workers, _tables, _nodes)
    for part in (_sweeps, _workers) if results.sweeps else parts:
        yield from part(kit, prefix, results)


def _contrasts(kit: Kit, results: QueryResults) -> list[tuple[ContrastResult, QueryContrast]]:
    return [
        (contrast, own)
        for contrast in kit.analysis.contrasts
        if contrast.workload == results.workload
        and contrast.metric is QUERY_TIME
        and (own := contrast_of(kit, contrast)) is not None
    ]


def _topic(
    kit: Kit, key: str, findings: tuple[str, ...], tables: Iterable[Table | None]
) -> Iterator[Block]:
    """A heading with what is said and shown below it; nothing of nothing."""
    shown = [table for table in tables if table is not None]
    if findings or shown:
        yield Heading(4, kit.t(f"query-topic.{key}"))
    if findings:
        yield Items(findings, "findings")
    yield from shown


def _sweeps(kit: Kit, prefix: str, results: QueryResults) -> Iterable[Block]:
    tables = [
        sweep.table(kit, f"{prefix}-sweep-{at + 1}", swept)
        for at, swept in enumerate(results.sweeps)
    ]
    return _topic(kit, "sweep", sweep.findings(kit, results), tables)


def _groups(kit: Kit, prefix: str, results: QueryResults) -> Iterable[Block]:
    tables = [
        group_table(kit, f"{prefix}-groups-{at + 1}", own, contrast)
        for at, (contrast, own) in enumerate(_contrasts(kit, results))
    ]
    return _topic(kit, "groups", (), tables)


def _workers(kit: Kit, prefix: str, results: QueryResults) -> Iterable[Block]:
    findings = workers_findings(kit, results)
    reasons = tuple(
        line
        for contrast, own in _contrasts(kit, results)
        for line in fewer_workers(kit, own.fewer_workers, contrast.old, contrast.new)
    )
    shown = None if results.sweeps else workers_table(kit, f"{prefix}-workers", results)
    return _topic(kit, "workers", (*reasons, *findings), [shown])


def _tables(kit: Kit, prefix: str, results: QueryResults) -> Iterable[Block]:
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
    return _topic(kit, "tables", (), tables)


def _nodes(kit: Kit, prefix: str, results: QueryResults) -> Iterable[Block]:
    tables = [
        table
        for at, (_, own) in enumerate(_contrasts(kit, results))
        for table in node_tables(kit, f"{prefix}-nodes-{at + 1}", results.workload, own)
    ]
    topic = tuple(_topic(kit, "nodes", (), tables))
    return (Further(topic),) if topic else ()


def plans(kit: Kit) -> Section:
    """Show the plans of every query; empty without a workload of queries."""
    queries = [query for query in queries_found(kit.analysis).plans if query.sides]
    shown: list[Block] = [Text(kit.t("plan.query.intro"))] if queries else []
    for at, query in enumerate(queries):
        shown += _of_query(kit, f"query-{at + 1}", query)
    listed = (Unprinted(kit.t("paper.plans"), tuple(shown)),) if shown else ()
    return Section("plans", kit.t("section.plans"), listed, appendix=True)


def _of_query(kit: Kit, name: str, query: QueryPlans) -> Iterator[Block]:
    t = kit.t
    sides = [kit.short(side.side) for side in query.sides]
    title = kit.names.context(query.context)
    difference = query.difference
    yield Heading(3, title, part=True)
    if difference is not None:
        yield Text(t("plan.query.same" if difference.same_structure else "plan.query.different"))
    flips = tuple(_flips(kit, title, query))
    if flips:
        yield Items(flips, "findings")
    if difference is not None:
        yield from (Text(line) for line in statements(t, difference)[1:])
        yield Items(tuple(changes(t, difference)), "findings")
    yield Details(t("plan.query.statement"), (Code(query.text, "sql"),), unfolded=Unfolded.LEFT_OUT)
    yield Details(
        t("plan.query.tables"),
        tuple(_plan_tables(kit, name, query, sides)),
        unfolded=Unfolded.UNTITLED,
    )
    yield PlanPair(
        t("plan.open"),
        tuple(
            viewed(f"{name}-plan-{at}", kit.names.titled(side.side), side.typical.plan, query.text)
            for at, side in enumerate(query.sides)
        ),
    )


def _plan_tables(kit: Kit, name: str, plans: QueryPlans, sides: Sequence[str]) -> Iterator[Table]:
    """Those of the first side and the last, and of the sides between."""
    if plans.difference is not None:
        yield from difference_tables(kit.t, name, plans.difference, (sides[0], sides[-1]))
    between = plans.sides[1:-1] if plans.difference is not None else plans.sides
    for at, side in enumerate(between):
        yield kinds_table(kit.t, f"{name}-side-{at}", side.typical, kit.short(side.side))


def _flips(kit: Kit, title: str, plans: QueryPlans) -> Iterator[str]:
    t = kit.t
    for side in plans.sides:
        if not side.stability.stable:
            yield t(
                "plan.flips",
                query=title,
                side=kit.names.titled(side.side),
                variants=t("list.separator").join(_variants(kit, side.stability)),
            )
        if not side.executed:
            yield t("plan.query.over", side=kit.names.titled(side.side))


def _variants(kit: Kit, kept: PlanStability) -> Iterator[str]:
    for variant in kept.variants:
        yield kit.t(
            "plan.variant",
            count=len(variant.occurrences),
            fingerprint=variant.fingerprint[:6],
            seconds=duration(variant.execution),
        )


MOST_KINDS = 7


def node_tables(kit: Kit, prefix: str, workload: str, further: QueryContrast) -> Iterator[Table]:
    """Build the tables of nodes of the queries with the greatest gain and the greatest loss."""
    sides = {
        (query.context, side.side): side.typical
        for query in queries_found(kit.analysis).plans
        if query.workload == workload
        for side in query.sides
    }
    for key, context in (("gain", further.gain), ("loss", further.loss)):
        old, new = (
            None if context is None else sides.get((context, side))
            for side in (further.old, further.new)
        )
        if context is not None and old and new and old.plan.timed and new.plan.timed:
            caption = kit.t(f"table.nodes.{key}", query=kit.names.context(context))
            yield _node_table(kit, f"{prefix}-{key}", caption, further, (old, new))


def _node_table(
    kit: Kit,
    name: str,
    caption: str,
    further: QueryContrast,
    sides: tuple[PlanStatistics, PlanStatistics],
) -> Table:
    t = kit.t
    return Table(
        name=name,
        caption=caption,
        columns=(
            Column(t("plan-table.kind")),
            *(
                Column(t(f"table.nodes.{column}", side=kit.short(side)), numeric=True)
                for side in (further.old, further.new)
                for column in ("executed", "time", "share")
            ),
        ),
        rows=_node_rows(t, sides),
        note=t("table.nodes.note"),
    )


def _node_rows(t: Texts, sides: tuple[PlanStatistics, PlanStatistics]) -> tuple[Row, ...]:
    by_kind = [{kind.kind: kind for kind in side.kinds} for side in sides]
    kinds = list(dict.fromkeys(kind for of_side in by_kind for kind in of_side))
    weight = {
        kind: max((of_side[kind].share or 0.0) if kind in of_side else 0.0 for of_side in by_kind)
        for kind in kinds
    }
    ranked = sorted(kinds, key=lambda kind: -weight[kind])[:MOST_KINDS]
    return tuple(
        (TableCell(kind), *(cell for of_side in by_kind for cell in _cells(t, of_side.get(kind))))
        for kind in ranked
    )


def _cells(t: Texts, statistics: KindStatistics | None) -> Row:
    if statistics is None:
        return cells(NOTHING, NOTHING, NOTHING)
    return (
        number_cell(statistics.nodes - statistics.never_executed, count),
        TableCell(duration(statistics.seconds), statistics.seconds),
        TableCell(share(t, statistics.share), statistics.share),
    )
