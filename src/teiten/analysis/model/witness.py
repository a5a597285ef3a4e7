"""Processor time of the servers as evidence beside the throughput of paired transactions."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.analysis.model.observations import Context
from teiten.analysis.model.verdict import Interval


@dataclass(frozen=True)
class CpuWitness:
    """Evidence on one contrast: whether throughput and processor time per transaction can both be
    true."""

    workload: str
    old: str
    new: str
    speed: Interval
    """New by old, as throughput would be if a transaction took processor time and nothing else."""
    agrees: bool
    """The intervals of both have a value in common."""
    parting: tuple[Context, ...]
    """Levels at which they have none."""
