"""A comparison of two plans as a page, and the sentences on their differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.analysis.model.explain import NodeChange, PlanDifference, PlanNode, PlanStatistics
from teiten.model.text import Language
from teiten.report.blocks import Block, Items, Page, Section, Text
from teiten.report.plans.tables import difference_tables, duration, jit_seconds, names_of
from teiten.report.plans.viewer import PlanPair, viewed
from teiten.report.render.html import html
from teiten.report.texts import Texts, texts


def difference_page(difference: PlanDifference, sides: tuple[str, str], language: Language) -> Page:
    """``sides``: what the plans are called."""
    t = texts(language)
    plans = (
        viewed(f"plans-plan-{at}", sides[at], statistics.plan)
        for at, statistics in enumerate((difference.old, difference.new))
    )
    shown: tuple[Block, ...] = (
        Text(headline(t, difference, sides), "question"),
        *(Text(line) for line in statements(t, difference)),
        Items(tuple(changes(t, difference)), "findings"),
        *(Text(note, "note") for note in notes(t, difference, sides)),
        PlanPair(t("plan.open"), tuple(plans)),
        *difference_tables(t, "plans", difference, sides),
    )
    section = Section("answer", t("section.answer"), shown, headed=False)
    return Page(t, t("plan.title"), " → ".join(sides), (), (section,), made_key="plan.made")


def render_difference(
    difference: PlanDifference, sides: tuple[str, str], language: Language, teiten_version: str
) -> str:
    """One HTML file that works offline; both plans can be opened side by side in pev2."""
    return html(difference_page(difference, sides, language), teiten_version)


MOST_CHANGES = 20
MOST_ALIKE = 3
MOST_TABLES = 6
ALWAYS_SINGLE = frozenset(
    (
        *("workers-changed", "pruning-changed", "join-sides", "index-changed", "relation-changed"),
        *("partitioned", "unpartitioned", "partitions-changed"),
    )
)


def headline(t: Texts, difference: PlanDifference, sides: tuple[str, str]) -> str:
    """Which plan took how much longer in its one execution; by the planner's cost where one of them
    was not executed."""
    old, new = difference.old.plan, difference.new.plan
    names = {"old": sides[0], "new": sides[1]}
    if old.execution is not None and new.execution is not None:
        times = {"old_time": duration(old.execution), "new_time": duration(new.execution)}
        gain = duration(new.execution - old.execution, signed=True)
        return t("plan.headline.time", difference=gain, **names, **times)
    costs = [plan.nodes[0].planned_cost for plan in (old, new)]
    if None in costs:
        return t("plan.headline.unknown")
    old_cost, new_cost = (f"{cost:,.2f}" for cost in costs)
    return t("plan.headline.cost", old_cost=old_cost, new_cost=new_cost, **names)


def statements(t: Texts, difference: PlanDifference) -> list[str]:
    """Whether the plans have the same structure, and their join orders."""
    lines = [t("plan.same" if difference.same_structure else "plan.different")]
    if difference.joins_reordered and difference.old_join_order and difference.new_join_order:
        lines.append(
            t("plan.join-orders", old=difference.old_join_order, new=difference.new_join_order)
        )
    elif difference.old_join_order and not difference.joins_reordered:
        lines.append(t("plan.join-order", old=difference.old_join_order))
    return lines


def changes(t: Texts, difference: PlanDifference) -> list[str]:
    """A sentence for each difference, the costliest first; the same at many nodes is one."""
    if not difference.changes:
        return [t("plan.changes.none")]
    groups: dict[tuple[str, ...], list[NodeChange]] = {}
    for change in difference.changes:
        groups.setdefault(_likeness(difference, change), []).append(change)
    lines: list[tuple[float, str]] = []
    for group in groups.values():
        if len(group) > MOST_ALIKE:
            lines.append((_cost(group), _together(t, difference, group)))
        else:
            lines += [(_cost([change]), change_text(t, difference, change)) for change in group]
    ranked = [text for _, text in sorted(lines, key=lambda line: -abs(line[0]))]
    more = len(ranked) - MOST_CHANGES
    return [*ranked[:MOST_CHANGES], *([t("plan-change.more", count=more)] if more > 0 else [])]


def _likeness(difference: PlanDifference, change: NodeChange) -> tuple[str, ...]:
    old, new = _node(difference.old, change.old), _node(difference.new, change.new)
    if change.code in ALWAYS_SINGLE:
        return (change.code, str(change.old), str(change.new))
    return (change.code, _kind(old), _kind(new))


def _kind(node: PlanNode | None) -> str:
    if node is None:
        return ""
    words = (node.partial, "Parallel" if node.parallel_aware else "", node.kind)
    return " ".join(word for word in words if word)


def _cost(group: Sequence[NodeChange]) -> float:
    return sum(change.cost or 0.0 for change in group)


def _together(t: Texts, difference: PlanDifference, group: Sequence[NodeChange]) -> str:
    _, old, new = _likeness(difference, group[0])
    key = "plan-group.changed" if old and new else f"plan-group.{group[0].code}"
    text = t(key, count=len(group), old=old, new=new)
    if any(change.cost is None for change in group):
        return text
    return text + t(
        "plan-change.cost",
        old=duration(sum(change.old_seconds or 0.0 for change in group)),
        new=duration(sum(change.new_seconds or 0.0 for change in group)),
        cost=duration(_cost(group), signed=True),
    )


def change_text(t: Texts, difference: PlanDifference, change: NodeChange) -> str:
    """A difference with what it costs."""
    old = _node(difference.old, change.old)
    new = _node(difference.new, change.new)
    key = f"plan-change.{change.code}"
    if change.code == "workers-changed":
        launched = (node.workers_launched if node else None for node in (old, new))
        key += ".planned" if None in launched else ".launched"
    if change.code == "parallel-changed":
        key += ".on" if new is not None and new.parallel_aware else ".off"
    values: dict[str, object] = {"tables": _tables(t, difference.old, old)}
    for name, side, node in (("old", difference.old, old), ("new", difference.new, new)):
        group = getattr(change.group, name, ())
        values |= {
            name: names_of(t, side, group or ([] if node is None else [node.number])),
            f"{name}_planned": (node.workers_planned if node else 0) or 0,
            f"{name}_launched": (node.workers_launched if node else 0) or 0,
            f"{name}_pruned": side.plan.pruned(node) if node else 0,
        }
    text = t(key, **values)
    if change.cost is None:
        return text
    times = {"old": duration(change.old_seconds), "new": duration(change.new_seconds)}
    return text + t("plan-change.cost", cost=duration(change.cost, signed=True), **times)


def notes(t: Texts, difference: PlanDifference, sides: tuple[str, str]) -> Iterator[str]:
    """Word what a reader of these plans must know."""
    both = (difference.old, difference.new)
    analysed = all(statistics.plan.analysed for statistics in both)
    yield t("plan.once" if analysed else "plan.estimated")
    if analysed and not all(statistics.plan.timed for statistics in both):
        yield t("plan.untimed")
    if not all(statistics.accounts.leader_known for statistics in both):
        yield t("plan.leader-unknown")
    for statistics, side in zip(both, sides, strict=True):
        if seconds := jit_seconds(statistics):
            yield t("plan.jit", seconds=duration(seconds), side=side)


def _node(side: PlanStatistics, number: int | None) -> PlanNode | None:
    return None if number is None else side.plan.nodes[number]


def _tables(t: Texts, side: PlanStatistics, node: PlanNode | None) -> str:
    """The tables below a join, in the order of the plan."""
    below = side.plan.below(node.number)[1:] if node else ()
    tables = (inner for inner in below if not inner.kind.startswith("Subquery"))
    names = list(dict.fromkeys(filter(None, (table.alias or table.relation for table in tables))))
    shown = t("list.separator").join(names[:MOST_TABLES])
    return shown + (" …" if len(names) > MOST_TABLES else "")
