"""Thresholds of small, medium and large, and of where a working set no longer fits: declared here,
in one place, and written into every report.

An effect is what the slower of two sides adds to the time of one statement. Its measure is a page
that has to be read from the disk, as it was measured in the same campaign: so that effects of all
probes are told on one scale, on any machine. (A checkpoint has another: the whole checkpoint.)
"""

from __future__ import annotations

from enum import StrEnum

NONE_WITHIN = 0.01
"""A share of an effect's measure: where no difference was decided, and the interval of what is
added lies within so much to both sides, there is no effect (nor where the sides are equivalent
within ±δ)."""
SMALL_BELOW = 0.05
"""A share of an effect's measure; from here on an effect is medium."""
MEDIUM_BELOW = 0.25
"""From here on an effect is large."""
CLIFF = 0.05
"""A share of the reads in a working set: where so many come from the disk, it no longer fits."""
SEEN_APART = 0.1
"""The share of the greater mean by which the means of two servers must be apart for what was
measured beside the time to differ; nor may the values of their trials overlap."""
OWN_OF_A_CONNECTION = 8 * 1024**2
"""Bytes that a backend takes for itself, beside work_mem and page tables: assumed, not measured."""
PAGE_TABLE_SHARE = 512
"""A backend that has touched all shared buffers has page tables of this part of them (8 bytes for
each 4 KiB), unless they are huge pages."""


class Size(StrEnum):
    """The size of an effect."""

    NONE = "none"
    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


def size_of(added: float) -> Size:
    """Find the size of an effect that is not none; ``added``: what it adds, by its measure."""
    if added < SMALL_BELOW:
        return Size.SMALL
    return Size.MEDIUM if added < MEDIUM_BELOW else Size.LARGE
