"""Predicates about a number of a single probe: ratios of levels, an order of them, and a share;
and the numbers that are taken from what trials of probes measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from statistics import fmean
from typing import ClassVar, Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords
from teiten.analysis.model.evidence import EvidenceTable
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.predicate import Aliases, Ground, Key, Reader, UnmetError
from teiten.claims.forms import FORM, Word, Yes
from teiten.claims.of_levels import EffectOfLevels, OfLevels, OrderOfLevels, ValueAtLevel
from teiten.claims.sides import ClaimPlace, ClaimSide, measure_in, places_at, places_of
from teiten.kinds.probes.measurement import ProbeMeasurement, measurement_of
from teiten.kinds.probes.metrics import FROM_BUFFERS, FROM_DISK, FROM_OS_CACHE, PROBE_TIME
from teiten.kinds.probes.model import PROBE
from teiten.model.plan import Plan
from teiten.model.quantities import parse_size
from teiten.model.trial import Event
from teiten.model.units import Bytes


class ProbeMeasure(StrEnum):
    """A metric's name is ``MEASURE:OF``."""

    PART = "part_mean"
    """The mean time of the statements in a part: ``part_mean:100% of table``."""
    ORIGIN = "origin_mean"
    """The mean time of the statements whose page came from a place: ``origin_mean:buffers``."""
    EXECUTED = "executed_seconds"
    """The time of a statement that is executed once: ``executed_seconds:scan``."""


def numbers_of(
    claims: Sequence[Claim], plan: Plan, views: Iterable[TrialView], events: Iterable[Event]
) -> Mapping[Key, Mapping[str, float]]:
    """The numbers of every trial that some claims speak of."""
    del plan, events
    wanted = {
        claim.metric for claim in claims if measure_in(ProbeMeasure, claim.metric) is not None
    }
    workloads = {claim.workload for claim in claims}
    by_trial: dict[Key, dict[str, float]] = {}
    for view in views:
        if not wanted or view.workload not in workloads:
            continue
        measurement = measurement_of(view.facts)
        if measurement is not None:
            numbers = {name: value for name, value in _all(measurement) if name in wanted}
            by_trial[view.number, view.attempt] = numbers
    return by_trial


def _all(measurement: ProbeMeasurement) -> Iterator[tuple[str, float]]:
    by_origin: dict[str, list[float]] = {}
    for step in measurement.measured:
        if step.statements and step.part:
            mean = fmean(statement.seconds for statement in step.statements)
            yield f"{ProbeMeasure.PART}:{step.part}", mean
        for statement in step.statements:
            by_origin.setdefault(statement.origin, []).append(statement.seconds)
    for origin, seconds in by_origin.items():
        yield f"{ProbeMeasure.ORIGIN}:{origin}", fmean(seconds)
    for once in measurement.executed:
        yield f"{ProbeMeasure.EXECUTED}:{once.step}", once.seconds


SHARES = (FROM_BUFFERS.name, FROM_OS_CACHE.name, FROM_DISK.name)
LEAST_SHARE = 1e-4
"""A share of nothing has no logarithm: none of ten thousand statements."""


def _with_metric(check: Check, words: ClaimWords, what: str) -> str:
    """``mean time in 100% of table, working-set: 75% ÷ 25%``; ``what`` alone of a probe's time."""
    measure = measure_in(ProbeMeasure, check.metric)
    if measure is not None:
        return words(f"claim.{measure[0].value}", of=measure[1], what=what)
    if check.metric == PROBE_TIME.name:
        return what
    return words("claim.probe-metric", metric=words(f"metric.{check.metric}"), what=what)


def _ratio_said(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    what = words("claim.probe-ratio", probe=check.classes[0][0], old=old, new=new)
    return _with_metric(check, words, what)


def _per_size_said(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    values = {"probe": check.classes[0][0], "old": old, "new": new}
    what = words("claim.probe-per-size", sizes=words.number(check.at[0]), **values)
    return _with_metric(check, words, what)


def _share_said(check: Check, words: ClaimWords) -> str:
    (side,) = check.sides
    what = words(f"metric.{check.metric}")
    return words("claim.probe-share", probe=check.classes[0][0], side=words.side(side), what=what)


PROBE_RATIO = CheckKind("probe-ratio", _ratio_said, of_sides=True)
"""New and old."""
PER_SIZE = CheckKind("probe-per-size", _per_size_said, of_sides=True)
"""New and old, by the ratio of their sizes: 1 where the number is proportional to it."""
SHARE = CheckKind("probe-share", _share_said)
"""The share itself, no ratio."""


class OfProbe(OfLevels):
    """About a number of one probe, on every server by itself."""

    probe: str
    factor: str
    """The factor of the levels that it names."""

    def reader(self) -> Reader:
        return numbers_of

    def places(
        self, claim: Claim, evidence: EvidenceTable, named: Sequence[str]
    ) -> Iterator[ClaimPlace]:
        """Raises UnmetError where the campaign lacks probe or levels, or varies what the finding
        does not know."""
        if self.probe not in evidence.levels(claim.workload).get(PROBE, ()):
            raise UnmetError("probe", probe=self.probe)
        of_probe = replace(claim, at=(*claim.at, (PROBE, self.probe)))
        if named:
            return places_at(of_probe, evidence, self.factor, named)
        return places_of(of_probe, evidence)

    def classes(self, place: ClaimPlace | None) -> tuple[tuple[str, ...], ...]:
        return ((self.probe,),)


@dataclass(frozen=True, config=FORM)
class ProbeEffect(OfProbe, EffectOfLevels):
    """The ratio new/old of the claim's contrast lies within bounds."""

    probe: Word
    per_size: Yes = False
    """The ratio is divided by that of the levels' shared buffers: 1 where it is proportional."""
    kind: Literal["probe-effect"] = "probe-effect"
    ratio: ClassVar[CheckKind] = PROBE_RATIO
    aliases: ClassVar[Aliases] = {"probe-proportional": {"per_size": True}}

    def of_pair(
        self, claim: Claim, ground: Ground, place: ClaimPlace, pair: tuple[ClaimSide, ClaimSide]
    ) -> ClaimQuestion:
        question = super().of_pair(claim, ground, place, pair)
        if not self.per_size:
            return question
        old, new = (_buffers(ground.plan, side) for side in pair)
        if not old or not new or old == new:
            raise UnmetError("probe-sizes")
        sizes = new / old
        values = {block: change - math.log(sizes) for block, change in question.values.items()}
        return replace(question, kind=PER_SIZE, at=(round(sizes, 2),), values=values)


def _buffers(plan: Plan, side: ClaimSide) -> Bytes | None:
    """The shared buffers at a place; None where they are not known."""
    for trial in plan.trials:
        here = dict(trial.cell.levels)
        if trial.cell.workload == side.workload and side.at.items() <= here.items():
            try:
                return parse_size(dict(trial.settings).get("shared_buffers", ""))
            except ValueError:
                return None
    return None


@dataclass(frozen=True, config=FORM)
class ProbeOrder(OfProbe, OrderOfLevels):
    """The number rises from each of the named levels to the next."""

    probe: Word
    factor: Word
    kind: Literal["probe-order"] = "probe-order"
    ratio: ClassVar[CheckKind] = PROBE_RATIO


@dataclass(frozen=True, config=FORM, kw_only=True)
class ProbeValue(OfProbe, ValueAtLevel):
    """The claim's metric, a share of statements that is printed in per cent, lies within bounds at
    a level of the factor."""

    probe: Word
    factor: Word
    level: Word
    kind: Literal["probe-value"] = "probe-value"
    counts: ClassVar[bool] = True
    value: ClassVar[CheckKind] = SHARE
    floor: ClassVar[float] = LEAST_SHARE
    printed_unit: ClassVar[float] = 0.01

    @property
    def named(self) -> Sequence[str]:
        return (self.level,)

    def refuses(self, metric: str) -> str:
        return "" if metric in SHARES else f"is about a share: {', '.join(SHARES)}"
