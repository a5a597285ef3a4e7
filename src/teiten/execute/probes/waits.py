"""Wait events of active backends: looked at ten times a second, averaged over each second.

Series ``waits``: a column ``Type:Event`` for each wait event that was seen, and ``CPU`` for those
without one (on a core, or ready to run). A value is the mean number of active client backends in
that state over the second's looks. Backends that are idle, in a transaction or not, do not count.
A look takes a core for about 0.1 ms: where all cores are busy, a backend may end its statement in
that time, and CPU comes out somewhat low. 9.6 has only locks among its wait events: there CPU
includes waiting for disks and for the client.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np

from teiten.model.trial import Series

FEWEST_LOOKS = 3
"""A second with fewer looks (the window's last one, a stalled server) says nothing."""


class WaitCounter:
    """Collects looks, and makes the series of them. Pure."""

    def __init__(self) -> None:
        self._looks: Counter[int] = Counter()
        self._seen: dict[str, Counter[int]] = {}

    def add(self, seconds: float, backends: Iterable[tuple[str, int]]) -> None:
        """One look: its planned time in seconds since the start, wait and number of backends."""
        second = max(1, math.ceil(seconds - 1e-6))
        self._looks[second] += 1
        for wait, count in backends:
            self._seen.setdefault(wait, Counter())[second] += count

    def series(self) -> Series | None:
        """None where there was no second with looks enough."""
        if not self._looks:
            return None
        last = max(self._looks)
        if self._looks[last] < FEWEST_LOOKS:
            last -= 1
        if last < 1:
            return None
        looks = np.array([self._looks[second] for second in range(1, last + 1)], dtype=np.float64)
        looks[looks < FEWEST_LOOKS] = np.nan
        columns = {
            wait: np.array([counts[second] for second in range(1, last + 1)]) / looks
            for wait, counts in sorted(self._seen.items())
        }
        return Series("waits", np.arange(1.0, last + 1.0), columns)
