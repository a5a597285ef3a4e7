"""Cautions about a distribution of tables under a load that is not meant for it; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from teiten.engines.registry import engine_of
from teiten.kinds.contract import plan_of
from teiten.model.distribution import Distribution, SpreadBy
from teiten.model.facts import Caution
from teiten.model.plan import Plan
from teiten.model.study import Workload

BRANCH = re.compile(r"\bbid\b", re.IGNORECASE)
Spread = tuple[Workload, Distribution]


def distribution_cautions(plan: Plan) -> Iterator[Caution]:
    """Each once, of the trials with the most nodes."""
    spread = [
        (plan.study.workload(trial.cell.workload), trial.distribution)
        for trial in plan.trials
        if trial.distribution is not None
    ]
    spread.sort(key=lambda pair: pair[1].nodes, reverse=True)
    yield from _uneven(distribution for _, distribution in spread)
    yield from _of_each_workload("distribution-retries", filter(_fails, spread))
    by_branch = [pair for pair in spread if pair[1].by is SpreadBy.BRANCH]
    for distribution in [planned for _, planned in by_branch if planned.scale < planned.shards][:1]:
        # whole branches lie on one node each, and by hash few are spread unevenly
        values = {"scale": distribution.scale, "shards": distribution.shards}
        yield Caution.warning("distribution-few-branches", **values, nodes=distribution.nodes)
    asking = (pair for pair in by_branch if not _names_branch(pair[0]))
    yield from _of_each_workload("distribution-asks-all", asking, "shards")
    everywhere = (
        (workload, planned)
        for workload, planned in spread
        if planned.by is SpreadBy.REFERENCE and workload.changes_data and planned.nodes > 1
    )
    # every node commits each transaction that changes a branch
    yield from islice(_of_each_workload("distribution-reference", everywhere, "nodes"), 1)


def _of_each_workload(code: str, spread: Iterable[Spread], *values: str) -> Iterator[Caution]:
    """Warn of the first distribution of each workload, with some of its values."""
    first: dict[str, Distribution] = {}
    for workload, planned in spread:
        first.setdefault(workload.name, planned)
    for name, planned in first.items():
        named = {value: getattr(planned, value) for value in ("engine", *values)}
        yield Caution.warning(code, workload=name, **named)


def _uneven(distributions: Iterable[Distribution]) -> Iterator[Caution]:
    """Shards that the nodes do not divide."""
    uneven = {
        (planned.shards, planned.nodes): planned
        for planned in distributions
        if planned.shards % planned.nodes
    }
    for (shards, nodes), planned in sorted(uneven.items()):
        fewest = shards // nodes
        yield Caution.warning(
            "distribution-uneven",
            engine=planned.engine,
            shards=shards,
            nodes=nodes,
            fewest=fewest,
            most=fewest + 1,
        )


def _fails(spread: Spread) -> bool:
    """Whether a load gives up at the first serialization failure of its updates."""
    workload, planned = spread
    fails = workload.changes_data and engine_of(planned.engine).needs_retries
    return fails and plan_of(workload.kind).gives_up(workload)


def _names_branch(workload: Workload) -> bool:
    """pgbench's own scripts look for accounts by their own key alone."""
    texts = workload.options.texts
    return all(not text.builtin and BRANCH.search(text.text) for text in texts)
