"""Numbers of single trials, beside their metrics, that claims speak of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from teiten.analysis.model.claims import Claim
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.predicate import Key, Reader
from teiten.model.plan import Plan
from teiten.model.trial import Event


def further_numbers(
    claims: Sequence[Claim], plan: Plan, views: Sequence[TrialView], events: Iterable[Event]
) -> Mapping[Key, Mapping[str, float]]:
    """By trial; each reader goes through the trials once, for all claims that need it."""
    happened = tuple(events)
    wanted: dict[Reader, list[Claim]] = {}
    for claim in claims:
        reader = claim.predicate.reader()
        if reader is not None:
            wanted.setdefault(reader, []).append(claim)
    found: dict[Key, dict[str, float]] = {}
    for reader, mine in wanted.items():
        for key, numbers in reader(mine, plan, views, happened).items():
            found.setdefault(key, {}).update(numbers)
    return found


def with_further(
    views: Iterable[TrialView], further: Mapping[Key, Mapping[str, float]]
) -> list[TrialView]:
    """The trials, with these numbers beside their metrics."""
    return [
        replace(view, metrics={**view.metrics, **further.get((view.number, view.attempt), {})})
        for view in views
    ]
