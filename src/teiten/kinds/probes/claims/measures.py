"""Numbers taken from what trials of probes measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from statistics import fmean

from teiten.analysis.model.claims import Claim
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.predicate import Key
from teiten.kinds.probes.measurement import ProbeMeasurement, measurement_of
from teiten.model.plan import Plan
from teiten.model.trial import Event


class ProbeMeasure(StrEnum):
    """A metric's name is ``MEASURE:OF``."""

    PART = "part_mean"
    """The mean time of the statements in a part: ``part_mean:100% of table``."""
    ORIGIN = "origin_mean"
    """The mean time of the statements whose page came from a place: ``origin_mean:buffers``."""
    EXECUTED = "executed_seconds"
    """The time of a statement that is executed once: ``executed_seconds:scan``."""


def probe_measure(metric: str) -> tuple[ProbeMeasure, str] | None:
    """The measure and what it is of; None of a trial's own metric."""
    name, _, of = metric.partition(":")
    found = next((one for one in ProbeMeasure if one.value == name), None)
    return None if found is None or not of else (found, of)


def numbers_of(
    claims: Sequence[Claim], plan: Plan, views: Iterable[TrialView], events: Iterable[Event]
) -> Mapping[Key, Mapping[str, float]]:
    """The numbers of every trial that some claims speak of."""
    del plan, events
    wanted = {claim.metric for claim in claims if probe_measure(claim.metric) is not None}
    workloads = {claim.workload for claim in claims}
    found: dict[Key, dict[str, float]] = {}
    for view in views:
        if not wanted or view.workload not in workloads:
            continue
        measurement = measurement_of(view.facts)
        if measurement is not None:
            numbers = {name: value for name, value in _all(measurement) if name in wanted}
            found[view.number, view.attempt] = numbers
    return found


def _all(found: ProbeMeasurement) -> Iterator[tuple[str, float]]:
    by_origin: dict[str, list[float]] = {}
    for one in found.measured:
        if one.statements and one.part:
            mean = fmean(each.seconds for each in one.statements)
            yield f"{ProbeMeasure.PART}:{one.part}", mean
        for each in one.statements:
            by_origin.setdefault(each.origin, []).append(each.seconds)
    for origin, seconds in by_origin.items():
        yield f"{ProbeMeasure.ORIGIN}:{origin}", fmean(seconds)
    for once in found.executed:
        yield f"{ProbeMeasure.EXECUTED}:{once.step}", once.seconds
