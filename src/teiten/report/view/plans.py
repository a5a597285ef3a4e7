"""The plans of the queries: flips, differences of the sides, node statistics, and pev2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from teiten.analysis.model.explain import PlanStability, QueryPlans
from teiten.kinds.queries.results import queries_found
from teiten.report.plans.numbers import duration
from teiten.report.plans.tables import kinds_table
from teiten.report.plans.view import DifferenceView, difference_view
from teiten.report.plans.viewer import PlanPair, viewed
from teiten.report.tables import Table
from teiten.report.view.kit import Kit


@dataclass(frozen=True)
class QueryPlansView:
    """One query's plans."""

    title: str
    summary: str
    """Whether the sides have the same plan."""
    text: str
    flips: tuple[str, ...]
    difference: DifferenceView | None
    tables: tuple[Table, ...]
    pair: PlanPair
    """Every side's plan, for pev2."""


def plans(kit: Kit) -> tuple[QueryPlansView, ...]:
    """Of every query; empty without a workload of queries."""
    return tuple(
        _view(kit, f"query-{at + 1}", one)
        for at, one in enumerate(queries_found(kit.analysis).plans)
        if one.sides
    )


def _view(kit: Kit, name: str, one: QueryPlans) -> QueryPlansView:
    t = kit.t
    sides = [kit.short(side.side) for side in one.sides]
    title = kit.names.context(one.context)
    found = one.difference
    compared = difference_view(found, (sides[0], sides[-1]), t.language, name) if found else None
    if found is None:
        summary = ""
    else:
        summary = t("plan.query.same" if found.same_structure else "plan.query.different")
    tables = compared.tables if compared else ()
    if compared is None or len(sides) > 2:
        between = one.sides[1:-1] if compared else one.sides
        tables += tuple(
            kinds_table(t, f"{name}-side-{at}", side.typical, kit.short(side.side))
            for at, side in enumerate(between)
        )
    return QueryPlansView(
        title=title,
        summary=summary,
        text=one.text,
        flips=tuple(_flips(kit, title, one)),
        difference=compared,
        tables=tables,
        pair=PlanPair(
            t("plan.open"),
            tuple(
                viewed(f"{name}-plan-{at}", side, plans.typical.plan, one.text)
                for at, (side, plans) in enumerate(zip(sides, one.sides, strict=True))
            ),
        ),
    )


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
    for one in kept.variants:
        yield kit.t(
            "plan.variant",
            count=len(one.occurrences),
            fingerprint=one.fingerprint[:6],
            seconds=duration(one.execution),
        )
