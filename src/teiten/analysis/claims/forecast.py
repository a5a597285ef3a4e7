"""How many further blocks decide a published finding, foretold from its intervals; and which
campaign of a collection gets the next blocks: a pure function of how each stands.

Every campaign has its first blocks before any has more. After that, time goes where a finding costs
least of it: the campaign with the most findings decided per second, as their intervals and the
noise of its blocks foretell, in blocks that hold only the levels by which these findings are
judged. A forecast is worth as much as the blocks it is made from, so that a finding's blocks are at
most doubled before the next one. The intervals are valid at every look, which makes this choice
harmless to their error.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from teiten.analysis.model.claims import Check, ClaimOutcome, ClaimStanding
from teiten.analysis.verdict.sequential import deviation_behind, least_pairs, pairs_until
from teiten.model.plan import Level
from teiten.model.progress import GivenBlocks, MoreBlocks, taken_blocks
from teiten.model.units import Seconds, Share


def further_blocks(outcome: ClaimOutcome, alpha: Share, blocks_of_a_number: int = 1) -> int | None:
    """Foretell after how many further blocks an inconclusive finding is decided, if they are like
    those so far and its intervals are those of a sequential design.

    A finding is contradicted by one check, and reproduced by all. None where no number of blocks
    decides, or nothing can be foretold.
    """
    checks = [check for check in outcome.checks if check.standing is ClaimStanding.INCONCLUSIVE]
    if outcome.standing is not ClaimStanding.INCONCLUSIVE or not checks:
        return None
    strict = alpha / len(outcome.checks)
    contradicted = [_until_outside(check, strict) for check in checks if _beyond(check) > 0]
    numbers = [number for number in contradicted if number is not None]
    reproduced = [_until_inside(check, alpha) for check in checks]
    if None not in reproduced:
        numbers.append(max(number for number in reproduced if number is not None))
    return min(numbers) * blocks_of_a_number if numbers else None


def _until_inside(check: Check, alpha: Share) -> int | None:
    if check.ratio is None:
        return _until_an_interval(check, alpha)
    own = _own_alpha(check, alpha)
    return _until(check, _room(check.ratio, check.least, check.most), own, own)


def _until_outside(check: Check, strict: float) -> int | None:
    own = _own_alpha(check, strict)
    return _until(check, _beyond(check), own, min(own, strict))


def _until(check: Check, room: float, shown: float, wanted: float) -> int | None:
    """Further blocks until half the interval at α ``wanted`` is narrower than ``room``; ``shown``:
    the α of the interval from which the deviation of a block is taken."""
    if check.low == 0 or check.high == math.inf:
        return _until_an_interval(check, wanted)
    if check.low is None or check.high is None:
        return None
    deviation = deviation_behind(check.low, check.high, check.pairs, shown)
    if deviation is None or not room > 0:
        return None
    needed = pairs_until(room, deviation, wanted) if math.isfinite(room) else 0
    return None if needed is None else max(needed - check.pairs, 1)


def _until_an_interval(check: Check, alpha: float) -> int | None:
    least = least_pairs(alpha)
    return least - check.pairs if 0 < check.pairs < least else None  # 0: blocks have no number


def _own_alpha(check: Check, alpha: float) -> float:
    return alpha if check.confidence is None else 1 - check.confidence


def _room(ratio: float | None, least: float | None, most: float | None) -> float:
    """How far a ratio is from the nearer bound, in logarithms: negative beyond it, infinite where
    there is none."""
    rooms = []
    if ratio is not None and ratio > 0:
        if least is not None and least > 0:
            rooms.append(math.log(ratio / least))
        if most is not None and most > 0:
            rooms.append(math.log(most / ratio))
    return min(rooms, default=math.inf)


def _beyond(check: Check) -> float:
    """How far the ratio is where it contradicts; 0 or less where it does not."""
    return -_room(check.ratio, *check.contradicting)


@dataclass(frozen=True)
class OpenFinding:
    """A finding, or a verdict, that further blocks are foretold to decide."""

    blocks: int
    levels: frozenset[Level]
    """At which its numbers are read."""
    ran: int
    """The blocks that it has."""


@dataclass(frozen=True)
class CampaignProgress:
    """How a campaign of a collection stands."""

    name: str
    given: GivenBlocks
    """Empty before the first pass."""
    unfinished: bool
    """Whether a part of what was given still has to run."""
    first: int
    """Those of its first pass."""
    most: int
    """Those of its plan."""
    preparing: Seconds
    """Until its first block; 0 once it has begun."""
    block: Seconds
    """One block with every level."""
    levels: Mapping[Level, Seconds] = field(default_factory=dict)
    """Each level's part of a block, once it has begun."""
    open: tuple[OpenFinding, ...] = ()
    unit: int = 1
    """Blocks that share a start of their servers, and are given together."""


@dataclass(frozen=True)
class Allotment:
    """Blocks for a campaign."""

    name: str
    blocks: MoreBlocks | None
    """None for the rest of those that it was given."""


def seconds_of(
    blocks: int, levels: Collection[Level], in_a_block: Mapping[Level, Seconds]
) -> Seconds:
    """Compute what so many blocks of some levels take. ``in_a_block``: what each takes in one."""
    return Seconds(blocks * math.fsum(in_a_block.get(level, 0.0) for level in levels))


def open_findings(
    outcomes: Iterable[ClaimOutcome], alpha: Share, blocks_of_a_number: int = 1
) -> Iterator[OpenFinding]:
    """Yield the findings that further blocks are foretold to decide."""
    for outcome in outcomes:
        blocks = further_blocks(outcome, alpha, blocks_of_a_number)
        if blocks is not None:
            ran = min(check.pairs for check in outcome.checks) * blocks_of_a_number
            yield OpenFinding(blocks, outcome.levels, ran)


def next_allotment(campaigns: Sequence[CampaignProgress], left: Seconds) -> Allotment | None:
    """The next blocks to run in the time that is left; None where nothing useful fits.

    What was given and cut off is finished first; what does not fit into the first pass is left
    out, and tried again with a larger budget.
    """
    for campaign in campaigns:
        if campaign.unfinished:
            return Allotment(campaign.name, None)
    for campaign in campaigns:
        if not campaign.given and first_pass(campaign) <= left:
            return Allotment(campaign.name, MoreBlocks(min(campaign.first, campaign.most)))
    return max(_offers(campaigns, left), key=lambda pair: pair[0], default=(0.0, None))[1]


def first_pass(campaign: CampaignProgress) -> Seconds:
    """The seconds of a campaign's first blocks."""
    return Seconds(campaign.preparing + min(campaign.first, campaign.most) * campaign.block)


def _offers(
    campaigns: Sequence[CampaignProgress], left: Seconds
) -> Iterator[tuple[float, Allotment]]:
    """Yield the blocks that each campaign could have, with the findings decided per second."""
    for campaign in campaigns:
        within_plan = (
            finding
            for finding in campaign.open
            if finding.levels and finding.blocks <= _free_blocks(campaign, finding.levels)
        )
        ordered = sorted(
            within_plan,
            key=lambda finding: seconds_of(finding.blocks, finding.levels, campaign.levels),
        )
        further, levels, ran = 0, frozenset[Level](), campaign.most
        for decided, finding in enumerate(ordered, start=1):
            further, levels = max(further, finding.blocks), levels | finding.levels
            ran = min(ran, finding.ran)
            seconds = seconds_of(further, levels, campaign.levels)
            fits = seconds <= left and further <= _free_blocks(campaign, levels)
            if campaign.given and fits:
                more = math.ceil(max(1, min(further, ran)) / campaign.unit) * campaign.unit
                fitting = min(more, _free_blocks(campaign, levels))
                yield (
                    decided / max(seconds, 1e-9),
                    Allotment(campaign.name, MoreBlocks(fitting, levels)),
                )


def _free_blocks(campaign: CampaignProgress, levels: Iterable[Level]) -> int:
    """Count the blocks of the plan that none of the levels has."""
    return campaign.most - len(taken_blocks(campaign.given, levels))
