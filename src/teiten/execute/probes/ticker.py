"""Ticks at start + k × interval: no drift, and a tick that was missed is not made up for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
