"""Cautions about a distribution of tables under a load that is not meant for it; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from teiten.engines.registry import engine_of
from teiten.kinds.contract import plan_of
from teiten.model.distribution import Distribution, SpreadBy
from teiten.model.facts import Caution
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.study import Workload

BRANCH = re.compile(r"\bbid\b", re.IGNORECASE)
Spread = tuple[PlannedTrial, Distribution]


def distribution_cautions(plan: Plan) -> Iterator[Caution]:
    """Each once, of the trials with the most nodes."""
    spread = [
        (trial, trial.distribution) for trial in plan.trials if trial.distribution is not None
    ]
    spread.sort(key=lambda one: one[1].nodes, reverse=True)
    yield from _uneven(spread)
    yield from _failing(plan, spread)
    yield from _few_branches([one for one in spread if one[1].by is SpreadBy.BRANCH])
    yield from _asks_all(plan, [one for one in spread if one[1].by is SpreadBy.BRANCH])
    yield from _branches_everywhere(
        plan, [one for one in spread if one[1].by is SpreadBy.REFERENCE]
    )


def _uneven(spread: Iterable[Spread]) -> Iterator[Caution]:
    """Shards that the nodes do not divide."""
    uneven = {(one.shards, one.nodes): one for _, one in spread if one.shards % one.nodes}
    for (shards, nodes), one in sorted(uneven.items()):
        fewest = shards // nodes
        yield Caution.warning(
            "distribution-uneven",
            engine=one.engine,
            shards=shards,
            nodes=nodes,
            fewest=fewest,
            most=fewest + 1,
        )


def _failing(plan: Plan, spread: Iterable[Spread]) -> Iterator[Caution]:
    """Updates of a load that gives up at the first serialization failure."""
    told: set[str] = set()
    for trial, one in spread:
        workload = plan.study.workload(trial.cell.workload)
        fails = workload.changes_data and engine_of(one.engine).needs_retries
        if fails and plan_of(workload.kind).gives_up(workload) and workload.name not in told:
            told.add(workload.name)
            values = {"workload": workload.name, "engine": one.engine}
            yield Caution.warning("distribution-retries", **values)


def _few_branches(spread: Iterable[Spread]) -> Iterator[Caution]:
    """Whole branches lie on one node each, and by hash few are spread unevenly."""
    few = [one for _, one in spread if one.scale < one.shards]
    for one in few[:1]:
        values = {"scale": one.scale, "shards": one.shards, "nodes": one.nodes}
        yield Caution.warning("distribution-few-branches", **values)


def _asks_all(plan: Plan, spread: Iterable[Spread]) -> Iterator[Caution]:
    """Statements that do not name the branch."""
    asking: dict[str, Distribution] = {}
    for trial, one in spread:
        workload = plan.study.workload(trial.cell.workload)
        if not _names_branch(workload):
            asking.setdefault(workload.name, one)
    for name, one in asking.items():
        values = {"workload": name, "engine": one.engine, "shards": one.shards}
        yield Caution.warning("distribution-asks-all", **values)


def _branches_everywhere(plan: Plan, spread: Iterable[Spread]) -> Iterator[Caution]:
    """Every node commits each transaction that changes a branch."""
    for trial, one in spread:
        workload = plan.study.workload(trial.cell.workload)
        if workload.changes_data and one.nodes > 1:
            values = {"workload": workload.name, "engine": one.engine, "nodes": one.nodes}
            yield Caution.warning("distribution-reference", **values)
            return


def _names_branch(workload: Workload) -> bool:
    """pgbench's own scripts look for accounts by their own key alone."""
    texts = workload.options.texts
    return all(not text.builtin and BRANCH.search(text.text) for text in texts)
