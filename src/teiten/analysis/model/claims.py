"""Published findings as predicates, and what a campaign says of them (METHOD.md, Claims).

A finding's predicate is a class of its own (``analysis.model.predicate``). Every bound is a ratio:
0.98 is two per cent less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from teiten.analysis.model.verdict import Interval
from teiten.model.plan import Level
from teiten.model.study import Script
from teiten.model.text import Bilingual
from teiten.model.units import Share

if TYPE_CHECKING:
    from teiten.analysis.model.predicate import Predicate

AT_CORES = 0.75
"""The level "at the cores" is the greatest one not above them, and not below this share."""
FIRST, MIDDLE, LAST = "first", "middle", "last"
"""In a claim: the first, the middle (of an odd number) or the last level that its workload has of a
factor, for levels that a machine or a user decides. Where the factor is not varied, the first and
the last are the study's own setting."""
BUILD = "build"
"""In a claim's contrast: levels of ``server`` by their names, instead of by major version."""

Levels = tuple[tuple[str, str], ...]
"""Factors and their levels."""


@dataclass(frozen=True)
class ClaimContrast:
    """The two sides that a finding compares: two levels of a factor; of ``server``, two major
    versions; of ``build``, two builds of one source by the study's names; of ``system``, two
    operating systems."""

    factor: str
    old: str
    new: str
    old_at: Levels = ()
    """Further levels of the old side alone: of two means against one another."""
    new_at: Levels = ()


@dataclass(frozen=True)
class ClaimNeeds:
    """Conditions that a campaign must meet for a claim to apply to it."""

    servers: tuple[str, ...] = ()
    """Major versions, as ``of_major`` reads them. Empty where a finding is not about versions."""
    factor: str | None = None
    """A factor that the campaign must vary."""
    cores: int = 1
    """The least number of cores."""
    systems: tuple[str, ...] = ()
    """Operating systems (Linux, Windows, Darwin): one on which the campaign must have run; or two,
    on hardware of one kind, which only the comparison of two campaigns has."""
    before: int | None = None
    """The major version from which on it cannot hold, because the server works otherwise."""

    @property
    def compared(self) -> bool:
        """Whether it is about two campaigns."""
        return len(self.systems) > 1


@dataclass(frozen=True)
class ClaimSource:
    """Where a finding stands."""

    report: str
    section: str
    table: str = ""


@dataclass(frozen=True)
class PrintedValue:
    """A number as it is printed, and what it should have been where the print is wrong."""

    label: Bilingual
    value: str
    recomputed: str = ""


@dataclass(frozen=True)
class PublishedCurve:
    label: str
    points: tuple[tuple[float, float], ...]
    """Clients (or cores) and the metric in base units."""


@dataclass(frozen=True)
class PublishedCurves:
    """Columns of a published table. Of a contrast the first one is old, the second new."""

    table: str
    """Its file's name."""
    source: ClaimSource
    axis: str
    """clients or cores"""
    cores: int
    """Cores of the machine on which it was measured."""
    curves: tuple[PublishedCurve, ...]
    derived: bool = False
    """Latency, which the report prints no table of: clients divided by TPS."""


@dataclass(frozen=True)
class PublishedColumn:
    label: str
    values: tuple[tuple[str, float], ...]
    """Query and number, in the table's order."""


@dataclass(frozen=True)
class PublishedQueries:
    """Columns of a published table with a row for each query; as for ``PublishedCurves``."""

    table: str
    source: ClaimSource
    columns: tuple[PublishedColumn, ...]


@dataclass(frozen=True)
class Claim:
    """A published finding."""

    id: str
    study: str
    source: ClaimSource
    statement: Bilingual
    workload: str
    metric: str
    predicate: Predicate
    contrast: ClaimContrast | None = None
    """The two sides of an effect; None for a finding about the shape of each server's curve."""
    needs: ClaimNeeds = ClaimNeeds()
    printed: tuple[PrintedValue, ...] = ()
    published: PublishedCurves | PublishedQueries | None = None
    remark: Bilingual | None = None
    promise: str = ""
    """The major version whose release notes promise it; empty for a finding of a report."""
    work: tuple[Script, ...] = ()
    """Scripts that the workload runs in the study of the catalogue; empty for whatever it runs."""
    at: Levels = ()
    """Levels of further factors at which the finding was made."""


class ClaimStanding(StrEnum):
    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not-applicable"
    NOT_RUN = "not-run"
    """No campaign that could judge it has run."""


JUDGED = (ClaimStanding.REPRODUCED, ClaimStanding.CONTRADICTED, ClaimStanding.INCONCLUSIVE)
"""The outcomes of findings that apply to a campaign that has run."""


class ClaimWords(Protocol):
    """The texts of a report in one language, and its ways of writing."""

    def __call__(self, key: str, **values: object) -> str:
        """The text under ``key``, its placeholders filled in."""

    def plural(self, key: str, count: int, **values: object) -> str:
        """``key.one`` or ``key.many``."""

    def side(self, level: str) -> str:
        """The short name of a level of the contrasted factor, or of a server."""

    def part(self, name: str) -> str:
        """A part of a quantity: a step of a method."""

    def number(self, value: float) -> str:
        """A level, or what was counted."""

    def metric(self, name: str) -> str:
        """The name of a metric in the report; of ``storage:slow:busy_share`` which storage, too."""


@dataclass(frozen=True, eq=False)
class CheckKind:
    """A kind of comparison: what its ratio compares, and how that is said."""

    value: str
    wording: Callable[[Check, ClaimWords], str]
    """The text that says what is compared with what, without the ratio."""
    bound: Callable[[Check], str] | None = None
    """The key of the text for its bounds, where it says two numbers instead of a ratio."""
    speed_up: bool = False
    """Times are told as speed-ups, old by new, as the reports print them."""
    is_amount: bool = False
    """Its number is no ratio, and may have any size."""
    of_sides: bool = False
    """It compares two sides at the same levels, as the verdicts of a campaign do."""


NO_MARGIN = Share(0.0)


@dataclass(frozen=True)
class Check:
    """One ratio that a claim speaks of, with its interval and the bounds that it must keep."""

    kind: CheckKind
    sides: tuple[str, ...]
    """The levels of the contrast (old, new), or the server."""
    at: tuple[float, ...]
    """Clients, or cores."""
    ratio: float | None
    """None where nothing can be said."""
    low: float | None
    high: float | None
    least: float | None
    most: float | None
    pairs: int
    standing: ClaimStanding
    classes: tuple[tuple[str, ...], ...] = ()
    """Queries: one class, or two of an order."""
    server: str = ""
    """The level of ``server`` on which it was checked, where the campaign has several."""
    metric: str = ""
    """For curves, and where it is a number taken from plans."""
    confidence: Share | None = None
    """The level of the interval; None without one."""
    lack: str = ""
    """The code of the reason why nothing can be said; empty where there is an interval."""
    margin: Share = NO_MARGIN
    """The smallest difference that matters (δ), where two sides are compared."""
    is_below_margin: bool = False
    """Whether it contradicts only in that the difference is less than δ."""

    @property
    def contradicting(self) -> tuple[float | None, float | None]:
        """An interval wholly below the first contradicts, or wholly above the second: the bounds,
        but that a difference of less than δ contradicts a finding that says which side is ahead."""
        low = 1 + self.margin if self.least == 1 else self.least
        high = 1 / (1 + self.margin) if self.most == 1 else self.most
        return low, high

    @property
    def effect(self) -> Interval | None:
        """The ratio with its interval; None where it has none."""
        ratio, low, high = self.ratio, self.low, self.high
        if ratio is None or low is None or high is None or self.confidence is None:
            return None
        return Interval(ratio, low, high, self.confidence)


@dataclass(frozen=True)
class Reason:
    """Why a claim does not apply, or stays inconclusive; ``code`` has a text in the reports.

    Not applicable: study, systems, hardware, servers, workload, script, queries, factor, factors,
    contrast, cores, levels-…, no-plans, serial, sizes.
    Inconclusive: profile, too-few, not-positive, identical, left-behind, undecided, over-timeout.
    Contradicted: below-delta.
    """

    code: str
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ClaimQuestion:
    """Does the mean of ``values`` lie between ``low`` and ``high`` (logarithms)?"""

    kind: CheckKind
    sides: tuple[str, ...]
    at: tuple[float, ...]
    values: Mapping[int, float]
    """By block, of those that have all it takes; NaN where a metric was zero or infinite."""
    low: float
    high: float
    classes: tuple[tuple[str, ...], ...] = ()
    """Queries: one class, or two of an order."""
    server: str = ""
    metric: str = ""
    averaged: int = 1
    """The number of combinations of levels of which each value is a mean."""


@dataclass(frozen=True)
class ClaimOutcome:
    """A claim and what a campaign says of it."""

    claim: Claim
    standing: ClaimStanding
    reason: Reason | None = None
    checks: tuple[Check, ...] = ()
    deciding: Check | None = None
    """The one that contradicts, or else comes nearest to its bounds."""
    in_print: Check | None = None
    """The deciding check on the published table, where there is one; without an interval."""
    levels: frozenset[Level] = frozenset()
    """Those at which its numbers were read."""

    @property
    def applies(self) -> bool:
        return self.standing in JUDGED
