"""The part of a campaign's trials that enters results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from teiten.model.plan import Context


def without(context: Context, *factors: str) -> Context:
    """The levels of all factors but these."""
    return tuple(pair for pair in context if pair[0] not in factors)


@dataclass(frozen=True)
class ContrastSides:
    """Two sides of a workload: a base of what is said of new against old."""

    workload: str
    old: str
    new: str

    @property
    def key(self) -> tuple[str, str, str]:
        """By which findings on the same sides are known."""
        return self.workload, self.old, self.new


@dataclass(frozen=True)
class Observation:
    """A planned trial that counts."""

    workload: str
    context: Context
    side: str
    """The level of the contrasted factor."""
    block: int
    metrics: Mapping[str, float]
