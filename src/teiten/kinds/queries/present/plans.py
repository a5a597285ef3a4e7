"""The plans of the queries: flips, differences of the sides, node statistics, and pev2.

Node statistics of both sides of a query in one short table (2020, tables 6.30 to 6.33).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.analysis.model.explain import KindStatistics, PlanStability, PlanStatistics, QueryPlans
from teiten.kinds.queries.results import QueryContrast, queries_found
from teiten.report.blocks import (
    Block,
    Code,
    Details,
    Heading,
    Items,
    Section,
    Text,
    Unfolded,
    Unprinted,
)
from teiten.report.numbers import NOTHING
from teiten.report.plans.page import changes, statements
from teiten.report.plans.tables import count, difference_tables, duration, kinds_table, share
from teiten.report.plans.viewer import PlanPair, viewed
from teiten.report.tables import Column, Row, Table, TableCell, cells, number_cell
from teiten.report.texts import Texts
from teiten.report.view.kit import Kit


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
        t("plan.query.tables"), tuple(_tables(kit, name, query, sides)), unfolded=Unfolded.UNTITLED
    )
    yield PlanPair(
        t("plan.open"),
        tuple(
            viewed(f"{name}-plan-{at}", kit.names.titled(side.side), side.typical.plan, query.text)
            for at, side in enumerate(query.sides)
        ),
    )


def _tables(kit: Kit, name: str, plans: QueryPlans, sides: Sequence[str]) -> Iterator[Table]:
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
            yield _table(kit, f"{prefix}-{key}", caption, further, (old, new))


def _table(
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
        rows=_rows(t, sides),
        note=t("table.nodes.note"),
    )


def _rows(t: Texts, sides: tuple[PlanStatistics, PlanStatistics]) -> tuple[Row, ...]:
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
