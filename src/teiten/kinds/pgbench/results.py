"""Results of loads of pgbench, beside verdicts: how they scale, and what limits them; and trials by
the number of nodes, with the commits that nodes share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from teiten.analysis.model.discussion import Tail
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.scaling import ScalingResult
from teiten.analysis.model.verdict import CarryOver, Estimate
from teiten.kinds.pgbench.model import NAME
from teiten.kinds.pgbench.placements import PlacementResult
from teiten.model.bottleneck import BottleneckResult
from teiten.model.plan import Context
from teiten.model.units import Share

LINEAR_WITHIN = 0.25
"""In proportion to the nodes: within this share of it."""
FLAT_WITHIN = 0.1
"""Neither rising nor falling: within this share of one node's throughput."""


class Shape(StrEnum):
    """How throughput goes from one node to the most; told of a whole interval alone."""

    SUPER_LINEAR = "super-linear"
    """More than in proportion."""
    LINEAR = "linear"
    RISING = "rising"
    """Rising, and less than in proportion."""
    FLAT = "flat"
    FALLING = "falling"
    UNDECIDED = "undecided"
    WITHHELD = "withheld"
    """The profile supports no conclusion."""


class Cause(StrEnum):
    """A cause that the servers' figures suggest for a shape, and do not prove."""

    CACHE = "cache"
    """More than in proportion, as more blocks were found in memory and each node read less."""
    ALREADY = "already"
    """One node had its tables in memory, so that a larger cache could gain nothing."""
    ALIKE = "alike"
    """In proportion, and each node found as much in memory as one."""


class ServerRole(StrEnum):
    PLAIN = "plain"
    """PostgreSQL by itself."""
    COORDINATOR = "coordinator"
    NODE = "node"
    """Holds rows."""


@dataclass(frozen=True)
class RoleUse:
    """Use by one server of a role, in their mean."""

    role: ServerRole
    figures: Mapping[str, float | None]
    """Medians of trials by their names (``scale_out.FIGURES``); None where not counted."""


@dataclass(frozen=True)
class NodesPoint:
    """Trials on one number of nodes; 0 is PostgreSQL by itself. None where it is not known. Ratios
    are those of throughputs, taken block by block."""

    nodes: int
    tps: float
    """The median."""
    to_plain: Estimate | None
    to_one: Estimate | None
    """Against one node of the same engine."""
    participants: float | None
    retries: float | None
    """Per transaction."""
    uses: tuple[RoleUse, ...]
    """Resources that the servers used, by their roles; those that hold rows last."""

    def figure(self, name: str) -> float | None:
        """A figure (``scale_out.FIGURES``) of the servers that hold rows."""
        return self.uses[-1].figures[name]


@dataclass(frozen=True)
class Pays:
    """How many nodes do more than plain PostgreSQL, of the numbers measured."""

    nodes: int | None
    """The smallest number whose whole interval lies above it; None where none does."""
    possibly: int | None
    """The smallest number whose interval reaches above it."""
    ratio: Estimate | None
    """At ``nodes``."""
    most: int
    """The largest number measured; nothing is said beyond."""


@dataclass(frozen=True)
class ScaleOutResult:
    """The result of one workload in one context."""

    workload: str
    context: Context
    engine: str
    confidence: Share
    """The confidence of each interval: that of the verdicts on the same sides in this context."""
    points: tuple[NodesPoint, ...]
    """By rising numbers of nodes."""
    shape: Shape
    grown: Estimate | None
    """The most nodes against one."""
    most: int
    cost: Estimate | None
    """One node against plain PostgreSQL."""
    pays: Pays | None
    """None where plain PostgreSQL was not measured."""
    cause: Cause | None
    """None where the figures do not say."""
    rows: int | None
    """Rows that each transaction chooses at random and changes; None where it is not known."""

    def point(self, nodes: int) -> NodesPoint | None:
        return next((point for point in self.points if point.nodes == nodes), None)


ROWS: Mapping[str, int] = {"tpcb-like": 3, "simple-update": 1}
"""Rows that pgbench's own scripts choose at random and change, by a script's name. The row that
they add to the history lies with the account's."""
PRINTED: Mapping[int, Fraction] = {
    1: Fraction(1),
    2: Fraction(7, 4),
    3: Fraction(13, 9),
    4: Fraction(7, 4),
}
"""The report's participants by nodes, as printed in table 5.7 for k = 3."""


def participants(nodes: int, rows: int) -> Fraction:
    """The expected number of nodes on which a transaction changes k rows that are chosen at random.

    Each row lies on one of n nodes with equal chance, by itself. A node takes part in a transaction
    unless all k rows lie elsewhere: 1 − (1 − 1/n)ᵏ. Each participant commits, and writes its WAL to
    its disk (2013 §5.6.2, table 5.7; the table's figures for 3 and 4 nodes do not follow from
    this). Raises ValueError where either number is below 1.
    """
    if nodes < 1 or rows < 1:
        raise ValueError(f"needs a node and a row at least, not {nodes} and {rows}")
    return nodes * (1 - (1 - Fraction(1, nodes)) ** rows)


def commits_per_node(nodes: int, rows: int) -> Fraction:
    """Commits that a node sees for each transaction of the whole."""
    return participants(nodes, rows) / nodes


def best_scaling(nodes: int, rows: int) -> Fraction:
    """How many times the throughput of one node, at most, where commits are all that limits."""
    return 1 / commits_per_node(nodes, rows)


@dataclass(frozen=True)
class PgbenchFound:
    """Results of all loads of pgbench of a campaign, in the study's order."""

    scaling: tuple[ScalingResult, ...] = ()
    """Results for every workload, context and side with four loads or more."""
    bottlenecks: tuple[BottleneckResult, ...] = ()
    """Findings for every entry of ``scaling`` with a knee; none without measured ceilings."""
    placements: tuple[PlacementResult, ...] = ()
    """Results for every workload and context; empty without the factor placement."""
    carry_over: tuple[tuple[str, CarryOver], ...] = ()
    """By workload, of paired transactions: one for each of the two numbers."""
    scale_out: tuple[ScaleOutResult, ...] = ()
    """Results for every workload and context, where numbers of nodes are contrasted."""
    tails: tuple[Tail, ...] = ()
    """Latency's tail for every contrast whose trials have percentiles."""


def pgbench_found(analysis: CampaignAnalysis) -> PgbenchFound:
    """Find a campaign's results of loads of pgbench; empty ones without any."""
    results = analysis.results.get(NAME, PgbenchFound())
    assert isinstance(results, PgbenchFound)
    return results
