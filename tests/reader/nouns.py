"""Counts by the noun beside them: of what a report counts, a campaign has few numbers.

``5 blocks`` is wrong in a report of four, whatever the sentence is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from teiten.model.trial import Outcome
from tests.reader.campaign import JUDGED, Campaign
from tests.reader.language import printed

Counted = Callable[[Sequence[Campaign]], set[float]]
COUNT = r"(?<![A-Za-z0-9_.,/×+−-])(?P<number>\d[\d,]*)"


def _each(counts: Callable[[Campaign], Iterator[float]]) -> Counted:
    return lambda campaigns: {count for each in campaigns for count in counts(each)}


def _blocks(campaign: Campaign) -> Iterator[float]:
    ran = {trial.number for trial in campaign.trials}
    planned = campaign.plan.trials
    yield float(campaign.plan.study.measure.blocks or 0)
    yield float(len({trial.block for trial in planned}))
    yield float(len({trial.block for trial in planned if trial.number in ran}))
    yield from _pairs(campaign)
    yield 2.0  # fewer than two say nothing


def _pairs(campaign: Campaign) -> Iterator[float]:
    """Of every comparison and of its levels, and of all levels together."""
    for workload, new in campaign.answers():
        for metric in JUDGED:
            judged = campaign.judged(workload, metric, new)
            yield float(judged.overall.pairs)
            yield float(judged.overall.pairs * (len(judged.levels) - len(judged.left_out)))
            yield from (float(level.pairs) for level in judged.levels.values())
    yield 2.0


def _trials(campaign: Campaign) -> Iterator[float]:
    counted, planned = campaign.counted, campaign.plan.trials
    yield float(len(planned))
    yield float(len(campaign.trials))
    yield float(len(counted))
    yield float(sum(trial.outcome is not Outcome.COUNTED for trial in campaign.trials))
    yield float(len({trial.number for trial in campaign.trials} - counted.keys()))
    tried = {trial.number for trial in campaign.trials}
    yield float(sum(trial.number not in tried for trial in planned))
    yield float(sum(trial.number not in counted for trial in planned))


def _of(factor: str) -> Counted:
    """The levels of a factor that are numbers."""

    def levels(campaign: Campaign) -> Iterator[float]:
        for level in campaign.levels(factor):
            if re.fullmatch(r"\d+", level):
                yield float(level)

    return _each(levels)


def _cores(campaigns: Sequence[Campaign]) -> set[float]:
    return {float(each.facts.cpu.logical) for each in campaigns}


def _nodes(campaigns: Sequence[Campaign]) -> set[float]:
    return _of("nodes")(campaigns) | {1.0}


NOUNS: tuple[tuple[str, Counted], ...] = (
    (r" (?:further )?blocks?\b|ブロック", _each(_blocks)),
    (r" (?:valid )?pairs\b|組(?!み)", _each(_pairs)),
    (r" planned trials?\b|試行(?![:の])", _each(_trials)),
    (r" nodes\b|ノード", _nodes),
    (r" cores? of [A-Z]", _cores),
    (r" campaigns\b|件\\(時刻順\\)|件の検証", lambda campaigns: {float(len(campaigns))}),
)


def miscounted(text: str, campaigns: Sequence[Campaign], own: set[int]) -> Iterator[str]:
    """Objects to counts that nothing of what they name has.

    ``own``: where numbers begin that the text has of itself.
    """
    for noun, counted in NOUNS:
        for found in re.finditer(f"{COUNT}(?P<noun>{noun})", text):
            allowed = counted(campaigns)
            if (
                allowed
                and found.start("number") not in own
                and printed(found[0]).value not in allowed
            ):
                yield f"{found[0]}: there are {sorted(allowed)}"
