"""Which campaign of a collection gets the next blocks: a pure function of how each stands.

Every campaign has its first blocks before any has more. After that, time goes where a finding costs
least of it: the campaign with the most findings decided per second, as their intervals and the
noise of its blocks foretell. A forecast is worth as much as the blocks it is made from, so that
blocks are at the most doubled before the next one. The intervals are valid at every look, which
makes this choice harmless to their error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from teiten.model.units import Seconds


@dataclass(frozen=True)
class CampaignProgress:
    """How a campaign of a collection stands."""

    name: str
    blocks: int
    """Those that have run."""
    allotted: int
    """Those that it was given, of which a part may still have to run."""
    first: int
    """Those of its first pass."""
    most: int
    """Those of its plan."""
    preparing: Seconds
    """Until its first block; 0 once it has begun."""
    block: Seconds
    """One block."""
    further: tuple[int, ...] = ()
    """For each open finding that a number of further blocks decides, that number."""
    unit: int = 1
    """Blocks that share a start of their servers, and are given together."""


@dataclass(frozen=True)
class Allotment:
    """Blocks for a campaign, in all."""

    name: str
    blocks: int


def next_allotment(campaigns: Sequence[CampaignProgress], left: Seconds) -> Allotment | None:
    """The next blocks to run in the time that is left; None where nothing useful fits.

    What was given and cut off is finished first; what does not fit into the first pass is left
    out, and tried again with a larger budget.
    """
    for campaign in campaigns:
        if campaign.blocks < campaign.allotted:
            return Allotment(campaign.name, campaign.allotted)
    for campaign in campaigns:
        if campaign.allotted == 0 and first_pass(campaign) <= left:
            return Allotment(campaign.name, min(campaign.first, campaign.most))
    return max(_offers(campaigns, left), key=lambda pair: pair[0], default=(0.0, None))[1]


def first_pass(campaign: CampaignProgress) -> Seconds:
    """The seconds of a campaign's first blocks."""
    return Seconds(campaign.preparing + min(campaign.first, campaign.most) * campaign.block)


def _offers(
    campaigns: Sequence[CampaignProgress], left: Seconds
) -> Iterator[tuple[float, Allotment]]:
    """Yield the blocks that each campaign could have, with the findings decided per second."""
    for campaign in campaigns:
        for decided, further in enumerate(sorted(campaign.further), start=1):
            seconds = further * campaign.block
            within = campaign.blocks + further <= campaign.most and seconds <= left
            if campaign.blocks and within:
                more = _whole(min(further, campaign.blocks), campaign.unit)
                given = min(campaign.blocks + more, campaign.most)
                yield decided / max(seconds, 1e-9), Allotment(campaign.name, given)


def _whole(blocks: int, unit: int) -> int:
    return -(-blocks // unit) * unit
