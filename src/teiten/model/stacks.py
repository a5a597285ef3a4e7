"""Where a server's CPU time goes: sampled call stacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from teiten.model.units import Seconds

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
