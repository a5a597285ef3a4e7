"""Resources that a transaction took on both sides of a contrast, besides time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from teiten.model.stacks import CostChange


class Origin(StrEnum):
    """In which window something was counted."""

    MEASURED = "measured"
    PROFILE = "profile"
    """The extra window after it (``--flame-graph``)."""


WAL_ROW = "wal-bytes"
"""The row of the WAL that a transaction wrote."""


class Counted(StrEnum):
    """The quantity that a row counts, and so its unit."""

    SECONDS = "s"
    BYTES = "B"
    COUNT = "1"


@dataclass(frozen=True)
class Taken:
    """One thing per transaction; ``name`` has a text under ``taken.``, but for a wait event."""

    name: str
    """``cpu``, ``wal-bytes``, … or a wait event ``Type:Event``."""
    kind: Counted
    origin: Origin
    old: float
    new: float
    """Means over the pairs."""
    pairs: int
    change: CostChange

    @property
    def is_wait(self) -> bool:
        return ":" in self.name


@dataclass(frozen=True)
class PerTransaction:
    """All rows of one contrast at one level; each interval is at α divided by their number."""

    workload: str
    context: tuple[tuple[str, str], ...]
    old: str
    new: str
    rows: tuple[Taken, ...]
