"""Where a server's CPU time goes: sampled call stacks, and how they differ between two sides.

Every cost is in CPU seconds per transaction, not in shares of a profile: where all of a server gets
slower alike, no share changes, but every cost does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from teiten.model.units import Seconds, Share

FRAMES = ";"
"""Between the frames of a folded stack, the outermost first (Gregg's form)."""
KERNEL = "_[k]"
"""Ends the name of a frame of the kernel."""


def innermost(stack: str) -> str:
    """The function in which a sample was taken."""
    return stack.rpartition(FRAMES)[2]


def is_unresolved(stack: str) -> bool:
    """The innermost frame is of a program, and has no name but its file's."""
    leaf = innermost(stack)
    return leaf.startswith("[") and not leaf.endswith(KERNEL) and leaf != "[vdso]"


COUNTERS = ("cpu_seconds", "context_switches", "page_faults", "instructions", "cycles")
"""Counters of the server's processes in the window; the last two need hardware counters."""


class CallGraph(StrEnum):
    """How perf finds the callers of a function."""

    FRAME_POINTERS = "fp"
    DWARF = "dwarf"
    """From a copy of the stack and the binary's unwind tables: works with every build."""


@dataclass(frozen=True)
class StackSamples:
    """One extra window after the measured one of a trial; nothing of it enters a result."""

    stacks: Mapping[str, int]
    """Folded stack to its number of samples."""
    frequency: float
    """Samples per second of CPU time."""
    seconds: Seconds
    """Seconds of load in the window."""
    transactions: float
    """Transactions that ended in the window."""
    call_graph: CallGraph
    kernel: bool
    """Samples inside the kernel were allowed; else time there is not seen."""
    truncated: int = 0
    """Samples whose stack did not reach the program's start."""
    counters: Mapping[str, float] = field(default_factory=dict)
    """Some of ``COUNTERS``: totals of the window."""

    @property
    def samples(self) -> int:
        return sum(self.stacks.values())

    @property
    def sample_seconds(self) -> float:
        """CPU seconds that a sample stands for: by what was counted, where samples can be lost."""
        counted = self.counters.get("cpu_seconds", 0.0)
        if self.kernel and counted > 0 and self.samples:
            return counted / self.samples
        return 1 / self.frequency


@dataclass(frozen=True)
class CostChange:
    """New minus old, per transaction, with its interval; pairs of one block are the unit."""

    difference: float
    low: float | None
    """None where there are too few pairs, or equal ones."""
    high: float | None

    @property
    def certain(self) -> bool:
        """The interval excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def half_width(self) -> float:
        """The half-width of the interval; 0 without one."""
        return 0.0 if self.low is None or self.high is None else (self.high - self.low) / 2

    def times(self, factor: float) -> CostChange:
        """The change in another unit."""
        ends = (None if end is None else end * factor for end in (self.low, self.high))
        return CostChange(self.difference * factor, *ends)


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
    self_change: CostChange
    total_change: CostChange
    share_change: CostChange
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
    change: CostChange
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
    context: tuple[tuple[str, str], ...]
    """The levels of the other factors."""
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
class StacksContrast:
    """Change of costs between two sides of a level."""

    workload: str
    context: tuple[tuple[str, str], ...]
    old: str
    new: str
    pairs: int
    """Blocks in which both sides have a window."""
    old_cost: float
    new_cost: float
    """CPU seconds per transaction."""
    change: CostChange
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
