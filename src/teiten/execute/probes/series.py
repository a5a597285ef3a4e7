"""The rhythm and the rows of a probe.

Ticks at start + k × interval: no drift, and a tick that was missed is not made up for. Rows of one
source become a series: a column that a row lacks is NaN there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from teiten.model.trial import Series

SHORTEST_SAMPLE = 0.5
"""The share of an interval that the rest at a window's end needs for a row of its own."""


def ticks(
    start: float,
    interval: float,
    clock: Callable[[], float],
    wait: Callable[[float], bool],
) -> Iterator[int]:
    """Yield k at ``start + k * interval`` (seconds of ``clock``), k from 1, until ``wait`` is True.

    ``wait`` sleeps for some seconds and tells whether to stop, as ``threading.Event.wait`` does.
    """
    number = 1
    while True:
        late = clock() - (start + number * interval)
        if late >= interval:
            number += int(late // interval)
        if wait(max(0.0, start + number * interval - clock())):
            return
        yield number
        number += 1


@dataclass(frozen=True)
class Rhythm:
    """When the probes of a window sample, and until when."""

    interval: float
    """Seconds between two samples."""
    clock: Callable[[], float]
    """Seconds, which only rise."""
    stop: threading.Event

    def ticks(self, start: float, *, parts: int = 1) -> Iterator[int]:
        """``ticks`` from ``start`` on until the window is stopped, ``parts`` in an interval."""
        return ticks(start, self.interval / parts, self.clock, self.stop.wait)

    def is_sample(self, seconds: float) -> bool:
        """Whether so long a rest at the window's end gets a row of its own."""
        return seconds >= SHORTEST_SAMPLE * self.interval


class SeriesTable:
    """Collects the samples of one source."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._seconds: list[float] = []
        self._rows: list[dict[str, float]] = []

    def add(self, seconds: float, row: dict[str, float]) -> None:
        """``seconds`` since the start of the window: the end of the sample's interval."""
        self._seconds.append(seconds)
        self._rows.append(row)

    def series(self) -> Series:
        names = dict.fromkeys(name for row in self._rows for name in row)
        return Series(
            source=self._source,
            seconds=np.array(self._seconds, dtype=np.float64),
            columns={
                name: np.array([row.get(name, np.nan) for row in self._rows], dtype=np.float64)
                for name in names
            },
        )
