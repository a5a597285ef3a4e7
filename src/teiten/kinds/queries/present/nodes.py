"""Node statistics of both sides of a query in one short table (2020, tables 6.30 to 6.33)."""

from __future__ import annotations

from teiten.analysis.model.explain import KindStatistics, PlanStatistics, QueryPlans, SidePlans
from teiten.analysis.model.observations import Context
from teiten.kinds.queries.results import QueryContrast, queries_found
from teiten.report.numbers import NOTHING
from teiten.report.plans.numbers import count, duration, share
from teiten.report.tables import Column, Row, Table, TableCell
from teiten.report.view.kit import Kit

MOST_KINDS = 7


def node_tables(kit: Kit, prefix: str, workload: str, found: QueryContrast) -> tuple[Table, ...]:
    """Build the tables of nodes of the queries with the greatest gain and the greatest loss."""
    tables = (
        _table(kit, f"{prefix}-{key}", key, _plans(kit, workload, context), found)
        for key, context in (("gain", found.gain), ("loss", found.loss))
        if context is not None
    )
    return tuple(table for table in tables if table is not None)


def _plans(kit: Kit, workload: str, context: Context) -> QueryPlans | None:
    known = (plan for plan in queries_found(kit.analysis).plans if plan.workload == workload)
    return next((one for one in known if one.context == context), None)


def _table(
    kit: Kit, name: str, key: str, plans: QueryPlans | None, found: QueryContrast
) -> Table | None:
    old, new = (_side(plans, side) for side in (found.old, found.new))
    if plans is None or old is None or new is None:
        return None
    if not (old.typical.plan.timed and new.typical.plan.timed):
        return None
    sides = (old.typical, new.typical)
    t = kit.t
    labels = (kit.short(found.old), kit.short(found.new))
    return Table(
        name=name,
        caption=t(f"table.nodes.{key}", query=kit.names.context(plans.context)),
        columns=(
            Column(t("plan-table.kind")),
            *(
                Column(t(f"table.nodes.{column}", side=label), numeric=True)
                for label in labels
                for column in ("executed", "time", "share")
            ),
        ),
        rows=_rows(sides),
        note=t("table.nodes.note"),
    )


def _side(plans: QueryPlans | None, side: str) -> SidePlans | None:
    if plans is None:
        return None
    return next((one for one in plans.sides if one.side == side), None)


def _rows(sides: tuple[PlanStatistics, PlanStatistics]) -> tuple[Row, ...]:
    by_kind = [{kind.kind: kind for kind in side.kinds} for side in sides]
    kinds = list(dict.fromkeys(kind for each in by_kind for kind in each))
    weight = {
        kind: max((each[kind].share or 0.0) if kind in each else 0.0 for each in by_kind)
        for kind in kinds
    }
    ranked = sorted(kinds, key=lambda kind: -weight[kind])[:MOST_KINDS]
    return tuple(
        (TableCell(kind), *(cell for each in by_kind for cell in _cells(each.get(kind))))
        for kind in ranked
    )


def _cells(one: KindStatistics | None) -> tuple[TableCell, TableCell, TableCell]:
    if one is None:
        return TableCell(NOTHING), TableCell(NOTHING), TableCell(NOTHING)
    return (
        TableCell(count(one.nodes - one.never_executed), float(one.nodes - one.never_executed)),
        TableCell(duration(one.seconds), one.seconds),
        TableCell(share(one.share), one.share),
    )
