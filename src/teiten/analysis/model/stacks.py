"""How a server's CPU time, by sampled call stacks, differs between two sides.

Every cost is in CPU seconds per transaction, not in shares of a profile: where all of a server gets
slower alike, no share changes, but every cost does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from teiten.analysis.model.observations import ContrastSides
from teiten.analysis.model.verdict import Estimate
from teiten.model.plan import Context
from teiten.model.units import Share


@dataclass(frozen=True)
class FunctionCost:
    """A function's CPU seconds per transaction on both sides, means over the paired windows."""

    name: str
    old_self: float
    new_self: float
    """In the function itself."""
    old_total: float
    new_total: float
    """With all that it calls."""
    self_change: Estimate
    total_change: Estimate
    share_change: Estimate
    """Change of its share of all cost, with all that it calls."""

    @property
    def only_new(self) -> bool:
        """Not seen in the old side: new, renamed, or inlined there by the compiler."""
        return self.old_total == 0

    @property
    def only_old(self) -> bool:
        return self.new_total == 0


@dataclass(frozen=True)
class Explained:
    """The part of the whole difference that lies in one function."""

    function: str
    part: float
    """1 is all of it; may be above 1 where others changed the other way."""
    before: Share
    after: Share
    """Its share of each side's cost, means over the windows."""
    change: Estimate
    """Change of the function's share."""


class Unexplained(StrEnum):
    """Why no function is named."""

    TOO_FEW = "too-few"
    """Fewer than two pairs of windows."""
    NO_DIFFERENCE = "no-difference"
    """The interval of the whole difference includes 0."""
    SPREAD = "spread"
    """No function has half of the difference or more, and certainly more of it than of the cost."""


@dataclass(frozen=True)
class LevelStacks:
    """All windows of one level, merged."""

    workload: str
    context: Context
    side: str
    windows: int
    samples: int
    cost: float
    """CPU seconds per transaction."""
    stacks: Mapping[str, float]
    """Folded stack to CPU seconds per transaction."""
    unresolved: Share
    """The share of the samples whose function has no name."""
    kernel: bool


@dataclass(frozen=True)
class StacksContrast(ContrastSides):
    """Change of costs between two sides of a level."""

    context: Context
    pairs: int
    """Blocks in which both sides have a window."""
    old_cost: float
    new_cost: float
    """CPU seconds per transaction."""
    change: Estimate
    """Change of the whole cost, at α."""
    functions: tuple[FunctionCost, ...]
    """Those with a share that can be seen; what explains the difference most comes first."""
    compared: int
    """Differences of functions that were looked at: each has its interval at α/compared."""
    old_stacks: Mapping[str, float]
    new_stacks: Mapping[str, float]
    """CPU seconds per transaction, means over the paired windows."""
    explained: Explained | Unexplained
    """By the narrowest function that, with what it calls, holds half of the difference or more, and
    certainly more of the difference than of the cost."""
    most_itself: Explained | None
    """By the function whose own code has the greatest such part; None without one."""


@dataclass(frozen=True)
class StacksFound:
    """Results of the profiles of a campaign; empty without any."""

    levels: tuple[LevelStacks, ...] = ()
    contrasts: tuple[StacksContrast, ...] = ()
