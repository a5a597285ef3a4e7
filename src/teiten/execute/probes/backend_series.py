"""The CPU time of one backend over the seconds of a trial."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from teiten.execute.probes.backend import Usage, usage_of
from teiten.execute.probes.ticker import ticks
from teiten.model.trial import Series

SOURCE = "backend"
CPU_SHARE = "cpu_share"
"""The column: the share of one processor since the sample before."""
INTERVAL = 0.25


class BackendWatch:
    """Looks at a process from ``with`` to its end; ``series`` is then what was seen."""

    def __init__(
        self,
        pid: int | None,
        look: Callable[[int | None], Usage] = usage_of,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``pid``: None where the process is not on this machine: nothing is seen of it."""
        self._pid, self._look, self._clock = pid, look, clock
        self._seen: list[tuple[float, float]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="teiten-backend", daemon=True)

    def __enter__(self) -> BackendWatch:
        self.look()
        if self._seen:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self.look()

    def look(self) -> None:
        """Nothing of a process that has ended."""
        used = self._look(self._pid).cpu
        if used is not None:
            self._seen.append((self._clock(), used))

    @property
    def series(self) -> tuple[Series, ...]:
        """None of fewer than two looks, or of no time between them."""
        at, used = (np.array([one[column] for one in self._seen]) for column in (0, 1))
        apart = np.diff(at)
        if not len(apart) or not (apart > 0).all():
            return ()
        return (Series(SOURCE, at[1:] - at[0], {CPU_SHARE: np.diff(used) / apart}),)

    def _run(self) -> None:
        for _ in ticks(self._clock(), INTERVAL, self._clock, self._stop.wait):
            self.look()
