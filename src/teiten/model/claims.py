"""Published findings as predicates, and what a campaign says of them (METHOD.md, Claims).

Levels of clients are written as multiples of the cores, because the reports' machines had 32 and 80
cores and others have not. Every bound is a ratio: 0.98 is two per cent less.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from teiten.model.query_claims import QueryPredicate
from teiten.model.text import Bilingual


@dataclass(frozen=True)
class Span:
    """Levels of clients: from ``least`` to ``most`` cores' worth, both included, or one number."""

    least: float | None = None
    most: float | None = None
    clients: int | None = None


@dataclass(frozen=True)
class Bounds:
    """Where a ratio must lie at the levels of a span; None is open."""

    low: float | None
    high: float | None
    span: Span = Span()
    each: bool = False
    """At every level of the span; else the mean over them."""


@dataclass(frozen=True)
class Effect:
    """The ratio new/old of the claim's contrast lies within bounds."""

    parts: tuple[Bounds, ...]


@dataclass(frozen=True)
class NoDifference:
    """New and old are equivalent within the campaign's δ, at every level."""


@dataclass(frozen=True)
class Plateau:
    """The metric rises up to the number of cores; beyond it, it stays within a share, or falls."""

    within: float | None
    """A share of the value at the cores; None: every level beyond is lower."""


@dataclass(frozen=True)
class Linear:
    """From the cores on, the metric lies on a rising straight line, within a share."""

    within: float


@dataclass(frozen=True)
class Rising:
    """The metric rises at every step up to ``to`` clients per core."""

    to: float
    slower_beyond: bool = False
    """Beyond that it rises by less for each client than before."""


@dataclass(frozen=True)
class Flat:
    """The metric stays within a share of its value at the first level of the span."""

    span: Span
    within: float
    rises_beyond: bool = False
    """Beyond the span it is higher than at its end."""


@dataclass(frozen=True)
class Proportional:
    """The metric is proportional to the number of cores, within a share."""

    within: float


@dataclass(frozen=True)
class FunctionShare:
    """The ratio new/old of a function's share of the server's CPU time, with what it calls, lies
    within bounds. Needs flame graphs."""

    function: str
    parts: tuple[Bounds, ...]

    @property
    def metric(self) -> str:
        """The name under which a trial's share is observed."""
        return f"function_share:{self.function}"


CurvePredicate = (
    Effect | NoDifference | Plateau | Linear | Rising | Flat | Proportional | FunctionShare
)
"""About a metric by clients or cores."""
Predicate = CurvePredicate | QueryPredicate

Levels = tuple[tuple[str, str], ...]
"""Factors and their levels."""


@dataclass(frozen=True)
class ClaimContrast:
    """What a finding compares: two levels of a factor; of ``server``, two major versions; of
    ``build``, two builds of one source by the study's names; of ``system``, two operating
    systems."""

    factor: str
    old: str
    new: str
    old_at: Levels = ()
    """Further levels of the old side alone: of two means against one another."""
    new_at: Levels = ()


@dataclass(frozen=True)
class ClaimNeeds:
    """What a campaign must have for a claim to apply to it."""

    servers: tuple[str, ...] = ()
    """Major versions. Empty where a finding is not about versions."""
    factor: str | None = None
    """A factor that the campaign must vary."""
    cores: int = 1
    """The least number of cores."""
    systems: tuple[str, ...] = ()
    """Operating systems (Linux, Windows, Darwin): one on which the campaign must have run; or two,
    on hardware of one kind, which only the comparison of two campaigns has."""

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
    """Of the machine on which it was measured."""
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
    """Of an effect; None for a finding about the shape of each server's curve."""
    needs: ClaimNeeds = ClaimNeeds()
    printed: tuple[PrintedValue, ...] = ()
    published: PublishedCurves | PublishedQueries | None = None
    remark: Bilingual | None = None
    script: str = ""
    """What the workload runs in the study of the catalogue; empty for whatever it runs."""
    at: Levels = ()
    """Levels of further factors at which the finding was made."""
    queries: tuple[tuple[str, str], ...] = ()
    """Name and text of the queries that the workload has in the study of the catalogue."""


class ClaimStanding(StrEnum):
    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not-applicable"


class CheckKind(StrEnum):
    """What a ratio compares."""

    CONTRAST = "contrast"
    """New and old, at the levels named."""
    LEVELS = "levels"
    """The second level and the first."""
    LINE = "line"
    """The middle level and the straight line through the others."""
    PER_CORE = "per-core"
    """The metric per core at the second level and at the first."""
    QUERIES = "queries"
    """New and old, of a query or of the mean over several."""
    ORDER = "order"
    """The ratio of new and old of the second class of queries, and that of the first."""
    PERMITTED = "permitted"
    """The second number of permitted workers and the first."""
    WORKERS = "workers"
    """Processes, the workers and their leader, launched and by a rule; ``at`` holds the workers."""
    VALUE = "value"
    """The metric itself, no ratio."""
    HAS = "has"
    """The share of the plans that have a node."""


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
    """Where it is a number taken from plans."""


@dataclass(frozen=True)
class Reason:
    """Why a claim does not apply, or stays inconclusive; ``code`` has a text in the reports.

    Not applicable: study, systems, hardware, servers, workload, script, queries, factor, factors,
    contrast, cores, levels-…, no-plans, sizes.
    Inconclusive: profile, too-few, undecided, over-timeout.
    """

    code: str
    values: tuple[tuple[str, str], ...] = ()


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
    """The same of the published table, where there is one; without an interval."""
