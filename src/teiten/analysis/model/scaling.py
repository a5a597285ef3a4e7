"""How throughput grows with load: the curve, fitted or withheld, the knee, and the efficiency."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from teiten.analysis.model.verdict import Interval
from teiten.model.plan import Context
from teiten.model.trial import FloatArray
from teiten.model.units import Share

NO_REPLICATES = "no-replicates"
"""No load has two trials."""


@dataclass(frozen=True)
class Curve:
    """The Universal Scalability Law: X(N) = λN / (1 + σ(N−1) + κN(N−1)) (Gunther 2007, ch. 4).

    It holds for N within the measured loads; nowhere in Teiten is it used beyond them.
    """

    rate: float
    """λ: the throughput of load 1, in the metric's unit."""
    contention: float
    """σ ≥ 0: the part of the work that is done one after another."""
    coherency: float
    """κ ≥ 0: the cost of keeping each pair of clients consistent."""

    def at(self, loads: FloatArray) -> FloatArray:
        """Throughput, shape of ``loads``."""
        slowdown = 1 + (loads - 1) * (self.contention + self.coherency * loads)
        values: FloatArray = self.rate * loads / slowdown
        return values


@dataclass(frozen=True)
class Parameter:
    """A coefficient of a fit, with its interval where replicates allow one."""

    value: float
    low: float | None = None
    high: float | None = None
    at_bound: bool = False
    """The best value is 0, the least that is allowed; such a coefficient has no interval."""


@dataclass(frozen=True)
class UslFit:
    """A curve that fits, with intervals of its coefficients."""

    rate: Parameter
    contention: Parameter
    coherency: Parameter

    @property
    def curve(self) -> Curve:
        return Curve(self.rate.value, self.contention.value, self.coherency.value)


@dataclass(frozen=True)
class LackOfFit:
    """How far the level means are from the curve, against how far repeated trials are apart.

    Deviations are of ln(metric): 0.02 is about 2 %.
    """

    lack: float
    """√(Σ residual² / (levels − 3)) of the level means."""
    pure: float | None
    """Standard deviation of repeated trials, without the blocks' own shifts; None without them."""
    limit: float
    """The greatest allowed ``lack``: three times ``pure``, or three times a presumed one."""
    probability: float | None
    """Probability of such a misfit if the curve were right (F test); None without ``pure``."""
    misfits: bool


@dataclass(frozen=True)
class Knee:
    """The smallest load that is equivalent to the maximum within δ, among the measured loads."""

    load: float
    low: float | None
    high: float | None
    """Interval, of measured loads; None without replicates, see ``ScalingResult.no_interval``."""
    delta: Share
    confidence: Share

    def at_end(self, loads: tuple[float, ...]) -> bool:
        """Throughput still grew at the greatest measured load: the true knee may lie beyond."""
        return self.load >= loads[-1]


class Form(StrEnum):
    """The course of throughput from its knee on, within the measured loads."""

    RISING = "rising"
    """The knee is the greatest load: whether it levels off beyond was not measured."""
    LEVEL = "level"
    """At the greatest load it is within δ of the greatest throughput."""
    FALLING = "falling"
    """At the greatest load it is lower by more than δ, and the interval excludes equality."""
    OPEN = "open"
    """Measured lower by more than δ, but without an interval that excludes equality."""


@dataclass(frozen=True)
class CurveShape:
    """The form of a curve, from its points alone."""

    form: Form
    peak: float
    """The load with the greatest measured throughput."""
    last: float
    """Throughput at the greatest load as a share of that at the peak."""
    decline: Interval | None
    """The ratio ``last`` with its interval, which allows for the peak having been chosen; None
    where the peak is the greatest load, or trials were not repeated enough."""


@dataclass(frozen=True)
class ScalingPoint:
    """One load. ``value`` is the geometric mean of its trials, in the metric's unit."""

    load: float
    value: float
    trials: int
    residual: float | None
    """ln(value / curve); None where no curve could be fitted."""
    per_load: float
    """Efficiency: throughput per client against that at the smallest measured load, a share."""
    per_core: float | None
    """Efficiency per busy core: at most one for each client, and no more than the machine has."""


@dataclass(frozen=True)
class Scaling:
    """A table of throughput by load, analysed."""

    points: tuple[ScalingPoint, ...]
    """In ascending order of load."""
    fit: UslFit | None
    """None where it is withheld; ``withheld`` tells why."""
    lack: LackOfFit | None
    """Also of a fit that is withheld because of it."""
    withheld: str | None
    """Code: too-few-levels, not-positive, misfit."""
    knee: Knee | None
    """None where ``withheld`` is not-positive, or fewer than two loads were measured."""
    no_interval: str | None
    """Code of why knee and coefficients have no interval: no-replicates, too-few-blocks,
    identical-trials (equal trials would claim certainty)."""
    shape: CurveShape | None = None
    """None where there is no knee."""

    @property
    def loads(self) -> tuple[float, ...]:
        return tuple(point.load for point in self.points)


@dataclass(frozen=True)
class ScalingResult:
    """The scaling of one side of a workload."""

    workload: str
    context: Context
    """The levels of the other factors, neither the load nor the contrasted one."""
    side: str
    """The level of the contrasted factor; of the server, where the load is what is contrasted."""
    scaling: Scaling
    load: str = "clients"
    """The factor whose levels are the load: clients or cores."""
