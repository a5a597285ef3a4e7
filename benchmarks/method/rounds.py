"""What lasts as long as the files, or the boot, simulated: seen by no start, and by every round.

Two equal servers. A copy of the data favours one of them by something, and so does a boot of the
machine; both stay for all starts of a usual campaign. A round has a copy of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.method.rules import fixed, sequential

STARTS = 20
"""Of a campaign, at the most; a round is one."""
FIXED = 8
"""Of a fixed design."""
OF_A_START = 0.01
"""Deviation of ln(B/A) from start to start."""
OF_FILES = 0.01
"""The same from copy to copy: as large as that of starts."""
OF_A_BOOT = 0.005


@dataclass(frozen=True)
class FalseAlarms:
    """As shares of the campaigns."""

    sequential: float
    """Looked at after every start, to the twentieth at the most."""
    fixed: float
    """One t interval after eight."""


def false_alarms(
    *, rounds: bool, boots: int, campaigns: int, seed: int, of_files: float = OF_FILES
) -> FalseAlarms:
    """Of equal servers, where an effect of each boot is there as well.

    ``rounds``: each start has files of its own; ``boots``: how many boots of the machine the starts
    are spread over, in equal parts that follow each other; 0 where a boot does nothing.
    """
    random = np.random.default_rng(seed)

    def numbers(starts: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        copies = starts if rounds else 1
        files = random.normal(0.0, of_files, (campaigns, copies))
        log_ratios = random.normal(0.0, OF_A_START, (campaigns, starts)) + files
        if boots:
            of_boots = random.normal(0.0, OF_A_BOOT, (campaigns, boots))
            log_ratios += of_boots[:, np.arange(starts) * boots // starts]
        return log_ratios

    return FalseAlarms(
        sequential=float(np.mean(sequential(numbers(STARTS), 0.0).differs)),
        fixed=float(np.mean(fixed(numbers(FIXED), 0.0).differs)),
    )
