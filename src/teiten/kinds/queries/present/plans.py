"""The plans of the queries: flips, differences of the sides, node statistics, and pev2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.analysis.model.explain import PlanStability, QueryPlans
from teiten.kinds.queries.results import queries_found
from teiten.report.blocks import (
    Block,
    Code,
    Details,
    Heading,
    Items,
    OnPage,
    Section,
    Text,
    Unfolded,
)
from teiten.report.plans.numbers import duration
from teiten.report.plans.sentences import changes, statements
from teiten.report.plans.tables import difference_tables, kinds_table
from teiten.report.plans.viewer import PlanPair, viewed
from teiten.report.tables import Table
from teiten.report.view.kit import Kit


def plans(kit: Kit) -> Section:
    """Show the plans of every query; empty without a workload of queries."""
    found = [plan for plan in queries_found(kit.analysis).plans if plan.sides]
    shown: list[Block] = [Text(kit.t("plan.query.intro"))] if found else []
    for at, one in enumerate(found):
        shown += _of_query(kit, f"query-{at + 1}", one)
    return Section("plans", kit.t("section.plans"), tuple(shown), appendix=True)


def _of_query(kit: Kit, name: str, one: QueryPlans) -> Iterator[Block]:
    t = kit.t
    sides = [kit.short(side.side) for side in one.sides]
    title = kit.names.context(one.context)
    found = one.difference
    yield Heading(3, title, part=True)
    if found is not None:
        yield Text(t("plan.query.same" if found.same_structure else "plan.query.different"))
    flips = tuple(_flips(kit, title, one))
    if flips:
        yield Items(flips, "findings")
    if found is not None:
        yield OnPage(tuple(Text(line) for line in statements(t, found)[1:]))
        yield Items(tuple(changes(t, found)), "findings")
    yield Details(t("plan.query.statement"), (Code(one.text, "sql"),), unfolded=Unfolded.LEFT_OUT)
    yield Details(
        t("plan.query.tables"), tuple(_tables(kit, name, one, sides)), unfolded=Unfolded.UNTITLED
    )
    yield PlanPair(
        t("plan.open"),
        tuple(
            viewed(f"{name}-plan-{at}", side, plans.typical.plan, one.text)
            for at, (side, plans) in enumerate(zip(sides, one.sides, strict=True))
        ),
    )


def _tables(kit: Kit, name: str, one: QueryPlans, sides: Sequence[str]) -> Iterator[Table]:
    """Those of the first side and the last, and of the sides between."""
    if one.difference is not None:
        yield from difference_tables(kit.t, name, one.difference, (sides[0], sides[-1]))
    between = one.sides[1:-1] if one.difference is not None else one.sides
    for at, side in enumerate(between):
        yield kinds_table(kit.t, f"{name}-side-{at}", side.typical, kit.short(side.side))


def _flips(kit: Kit, title: str, one: QueryPlans) -> Iterator[str]:
    t = kit.t
    for side in one.sides:
        if not side.stability.stable:
            yield t(
                "plan.flips",
                query=title,
                side=kit.short(side.side),
                variants=t("list.separator").join(_variants(kit, side.stability)),
            )
        if not side.executed:
            yield t("plan.query.over", side=kit.short(side.side))


def _variants(kit: Kit, kept: PlanStability) -> Iterator[str]:
    for variant in kept.variants:
        yield kit.t(
            "plan.variant",
            count=len(variant.occurrences),
            fingerprint=variant.fingerprint[:6],
            seconds=duration(variant.execution),
        )
