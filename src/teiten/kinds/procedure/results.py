"""What trials of procedures tell step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

STEPS = "steps"
"""The fact of a trial that has them."""


@dataclass(frozen=True)
class StepOfTrial:
    """A timed step of a trial; None is what could not be measured."""

    name: str
    seconds: float
    cpu: float | None
    """Seconds of the backend."""
    read: float | None
    """Bytes that the backend let be fetched from disks."""
    written: float | None
    wal: float


def steps_of(facts: Mapping[str, Any]) -> tuple[StepOfTrial, ...]:
    """Of a trial's facts; none of a trial that measured nothing."""
    found: Iterable[Mapping[str, Any]] = facts.get(STEPS) or ()
    return tuple(_steps(found))


def _steps(found: Iterable[Mapping[str, Any]]) -> Iterator[StepOfTrial]:
    for one in found:
        yield StepOfTrial(
            one["name"],
            float(one["seconds"]),
            one.get("cpu"),
            one.get("read"),
            one.get("written"),
            float(one["wal"]),
        )
