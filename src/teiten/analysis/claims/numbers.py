"""Numbers of single trials, beside their metrics, that claims speak of."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from teiten.analysis.model.claims import FIRST, LAST, MIDDLE, Claim
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.node_series import mean_backends
from teiten.analysis.stacks import share_of
from teiten.kinds.contract_analyse import analysis_of
from teiten.model.plan import Plan
from teiten.model.trial import Event

WAIT_SHARE, FUNCTION_SHARE = "wait_share", "function_share"
"""Quantities that a trial of any kind may have: ``wait_share:wal``, ``function_share:brinsert``."""


def with_numbers(
    claims: Sequence[Claim], plan: Plan, views: Iterable[TrialView], events: Iterable[Event]
) -> list[TrialView]:
    """The trials, each with the numbers that claims speak of beside its metrics. A trial of which
    no claim speaks is not read: a plan with many partitions takes long."""
    happened = tuple(events)
    readers = {
        workload.name: analysis_of(workload.kind).numbers(plan, happened)
        for workload in plan.study.workloads
    }

    def numbers(view: TrialView) -> dict[str, float]:
        wanted = _wanted(claims, view) - view.metrics.keys()
        if not wanted or not view.counts:
            return {}
        return {**dict(_of_any_kind(view, wanted)), **readers[view.workload](view, wanted)}

    return [replace(view, metrics={**view.metrics, **numbers(view)}) for view in views]


def _wanted(claims: Sequence[Claim], view: TrialView) -> set[str]:
    return {
        name
        for claim in claims
        if _speaks_of(claim, view)
        for name in claim.predicate.quantities(claim)
    }


def _speaks_of(claim: Claim, view: TrialView) -> bool:
    levels = dict(view.levels)
    return (
        view.workload == claim.workload
        and all(
            level in (FIRST, MIDDLE, LAST) or levels.get(factor, level) == level
            for factor, level in claim.at
        )
        and all(levels.get(factor) in only for factor, only in claim.predicate.only_at.items())
    )


def _of_any_kind(view: TrialView, wanted: Collection[str]) -> Iterator[tuple[str, float]]:
    for name in wanted:
        quantity, _, of = name.partition(":")
        if quantity == WAIT_SHARE:
            yield name, share_of_waiting(view, of)
        elif quantity == FUNCTION_SHARE and view.stack_samples is not None:
            yield name, share_of(view.stack_samples, of)


def share_of_waiting(view: TrialView, word: str) -> float:
    """Compute the share of the time of active backends that goes to wait events with ``word`` in
    their names; NaN without samples."""
    means = mean_backends(view) or {}
    total = math.fsum(means.values())
    matching = math.fsum(value for name, value in means.items() if word.lower() in name.lower())
    return matching / total if total > 0 else math.nan
