"""Results of procedures: trials step by step, and the growth of their times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.verdict import Estimate
from teiten.kinds.procedure.model import NAME
from teiten.model.plan import Context

STEPS = "steps"
"""The fact of a trial that has them."""


@dataclass(frozen=True)
class StepOfTrial:
    """A timed step of a trial; None is what could not be measured, or was not looked at."""

    name: str
    seconds: float
    wal: float
    """Bytes of all WAL that the server wrote meanwhile."""
    cpu: float | None = None
    """Seconds of the backend."""
    read: float | None = None
    """Bytes that the backend let be fetched from disks."""
    written: float | None = None
    times: int = 1
    """How often it was done."""
    fast_path: float | None = None
    """Locks on relations in the backend's own slots, at the end of the last transaction."""
    in_table: float | None = None
    """Those in the lock table."""
    memory: float | None = None
    """Bytes of the backend's own memory after the step."""
    planning: float | None = None
    """Bytes that one planning used."""
    program_cpu: float | None = None
    """Seconds of the program that the step runs."""
    server_cpu: float | None = None
    """Those of all of the server's processes meanwhile."""
    to_recover: float | None = None
    """Bytes of WAL that a crash leaves to be recovered."""

    @property
    def fact(self) -> dict[str, Any]:
        """As a trial's facts have it: without what was not looked at."""
        figures = {name: getattr(self, name) for name in FIELDS}
        return {
            name: value for name, value in figures.items() if value is not None or name in OF_OS
        }


FIELDS = tuple(field.name for field in fields(StepOfTrial))
OF_OS = ("cpu", "read", "written")
"""Figures that the operating system tells of each step, where it tells any."""


def steps_of(facts: Mapping[str, Any]) -> tuple[StepOfTrial, ...]:
    """Read the steps from a trial's facts; none of a trial that measured nothing."""
    return tuple(
        StepOfTrial(**{name: step[name] for name in FIELDS if name in step})
        for step in facts.get(STEPS) or ()
    )


class GrowthUnit(StrEnum):
    """The unit of work for which a step's time is told."""

    ROW = "row"
    EXECUTION = "execution"


class GrowthKind(StrEnum):
    """How a time goes with the number of partitions, by the interval of its slope."""

    GROWS = "grows"
    FALLS = "falls"
    FLAT = "flat"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class GrowthPoint:
    """Seconds of one unit, over the blocks."""

    partitions: int
    seconds: float
    """The median."""


@dataclass(frozen=True)
class Growth:
    """The time of one step of a method over the numbers of partitions."""

    workload: str
    method: str
    step: str
    context: Context
    """The levels of what else is varied, servers among it."""
    unit: GrowthUnit
    points: tuple[GrowthPoint, ...]
    """By rising number; two or more."""
    slope: Estimate
    """Seconds of one unit for each further partition, by a line through each block's times."""
    kind: GrowthKind
    doubled: Estimate | None
    """The knee: at how many partitions the time is twice that with the fewest; None where it is
    not so in every block, or where there are fewer than three numbers of partitions."""

    @property
    def times(self) -> float:
        """The time with the most partitions by that with the fewest."""
        return self.points[-1].seconds / self.points[0].seconds


@dataclass(frozen=True)
class ProceduresFound:
    """Results of all procedures of a campaign, in the study's order."""

    growth: tuple[Growth, ...] = ()
    """Where layouts tell how many partitions they have; empty where fewer than two do."""
    confidence: float = 0.0
    """The confidence of each interval of ``growth``: the slopes share the study's α, and the
    knees, which decide no word, have the same level."""


def procedures_found(analysis: CampaignAnalysis) -> ProceduresFound:
    """Find a campaign's results of procedures; empty ones without any."""
    results = analysis.results.get(NAME, ProceduresFound())
    assert isinstance(results, ProceduresFound)
    return results
