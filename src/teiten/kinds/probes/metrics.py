"""The numbers of a trial of one probe; times in seconds, shares from 0 to 1.

Every trial has the first one. The others are there where the probe's steps measure them; what is
behind them, statement by statement, is in the trial's ``measurement``.
"""

from __future__ import annotations

from enum import StrEnum

from teiten.model.metrics import MEASURED_SECONDS, Better, Metric

PROBE_TIME = Metric("probe_seconds", "s", Better.LOWER, judged=True)
"""The number that the probe asks for (``Probe.number_of`` and ``take``): mostly the mean or median
execution time of its statements."""
COMMIT_TIME = Metric("commit_seconds", "s", Better.LOWER)
"""The median time of COMMIT."""
FROM_BUFFERS = Metric("from_buffers", "1", Better.HIGHER)
"""The share of the timed statements whose page was in the shared buffers."""
FROM_OS_CACHE = Metric("from_os_cache", "1")
"""The share of the timed statements whose page the OS page cache gave."""
FROM_DISK = Metric("from_disk", "1", Better.LOWER)
"""The share of the timed statements during which the backend's process read from the disk."""
SWEEP_PER_GIB = Metric("sweep_seconds_per_gib", "s", Better.LOWER)
"""The time that one sweep around all buffers adds to a statement, for each GiB of them."""
CHECKPOINT_TIME = Metric("checkpoint_seconds", "s", Better.LOWER)
"""The median time of a CHECKPOINT with a few dirty pages."""
PROBE_TPS = Metric("probe_tps", "tps", Better.HIGHER)
"""At the most clients of the probe."""

METRICS: tuple[Metric, ...] = (
    PROBE_TIME,
    COMMIT_TIME,
    FROM_BUFFERS,
    FROM_OS_CACHE,
    FROM_DISK,
    SWEEP_PER_GIB,
    CHECKPOINT_TIME,
    PROBE_TPS,
    MEASURED_SECONDS,
)
CONTRASTED = (PROBE_TIME.name, COMMIT_TIME.name)


class ProbeMeasure(StrEnum):
    """Numbers that claims take from what a trial measured, as ``MEASURE:OF``."""

    PART = "part_mean"
    """The mean time of the statements in a part: ``part_mean:100% of table``."""
    ORIGIN = "origin_mean"
    """The mean time of the statements whose page came from a place: ``origin_mean:buffers``."""
    EXECUTED = "executed_seconds"
    """The time of a statement that is executed once: ``executed_seconds:scan``."""


CLIENTS_TIME = "clients_seconds"
"""The quantity of the mean times with so many clients: ``clients_seconds:4``."""
