"""Counts by the noun beside them: of what a report counts, a campaign has few numbers.

``5 blocks`` is wrong in a report of four, whatever the sentence is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from teiten.model.trial import Outcome
from tests.reader.campaign import JUDGED, Campaign
from tests.reader.language import printed
from tests.reader.method import pairs_of_groups
from tests.reader.named import needed_trials, unended_trials

Counted = Callable[[Sequence[Campaign]], set[float]]
COUNT = r"(?<![A-Za-z0-9_.,/×+−-])(?P<number>\d+(?:,\d{3})*)"


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
    if campaign.plan.study.measure.sequential is not None:
        yield from map(float, needed_trials(campaign)[1])


def _pairs(campaign: Campaign) -> Iterator[float]:
    """Of every comparison and of its levels, of all levels together, and of groups of queries."""
    for workload, new in campaign.answers():
        for metric in JUDGED:
            judged = campaign.judged(workload, metric, new)
            yield float(judged.overall.pairs)
            yield float(judged.overall.pairs * (len(judged.levels) - len(judged.left_out)))
            yield from (float(level.pairs) for level in judged.levels.values())
    for event in campaign.events:  # of what was measured before
        yield from (float(value or 0) for name, value in event.detail.items() if name == "pairs")
    yield from pairs_of_groups(campaign)
    yield 2.0


def _trials(campaign: Campaign) -> Iterator[float]:
    counted, planned = campaign.counted, campaign.plan.trials
    yield float(len(planned))
    yield float(len(campaign.trials))
    yield float(len(counted))
    yield float(sum(trial.outcome is not Outcome.COUNTED for trial in campaign.trials))
    yield float(len({trial.number for trial in campaign.trials} - counted.keys()))
    if campaign.plan.study.measure.sequential is not None:
        yield from map(float, needed_trials(campaign)[0])
    tried = {trial.number for trial in campaign.trials}
    yield float(unended_trials(campaign))
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


def _cores_named(campaigns: Sequence[Campaign]) -> set[float]:
    """Those of the machine, of levels, and what cautions count."""
    cautioned = {
        float(value)
        for each in campaigns
        for caution in each.cautions
        for _, value in caution.values
        if value.isdigit()
    }
    return _cores(campaigns) | _of("cores")(campaigns) | cautioned


def _levels(campaign: Campaign) -> Iterator[float]:
    """Of factors; of comparisons all of them, and those with an interval."""
    yield from (float(len(factor.levels)) for factor in campaign.plan.study.factors)
    for workload, new in campaign.answers():
        for metric in (*JUDGED, "latency_mean"):
            levels = campaign.judged(workload, metric, new).levels
            yield float(len(levels))
            yield float(sum(not level.reason for level in levels.values()))


def _clients(campaign: Campaign) -> Iterator[float]:
    """Of trials, and those that cautions and what was measured before name."""
    yield from (float(trial.load.connections) for trial in campaign.plan.trials)
    for caution in campaign.cautions:
        yield from (float(value) for name, value in caution.values if name == "clients")
    for event in campaign.events:
        yield from (float(value) for name, value in event.detail.items() if name == "clients")
    for workload in campaign.workloads():
        if workload.kind == "probes":  # of what a connection takes, and of so many
            yield 1.0
            yield float(getattr(workload.options, "connections", None) or 1)


def _nodes(campaigns: Sequence[Campaign]) -> set[float]:
    varied = _of("nodes")(campaigns)
    return varied | {1.0} if varied else varied


NOUNS: tuple[tuple[str, Counted], ...] = (
    (r" (?:further )?blocks?\b|ブロック", _each(_blocks)),
    (r" (?:valid )?pairs\b|組(?!み|で判定)", _each(_pairs)),
    (r" planned trials?\b|試行(?![:の])", _each(_trials)),
    (r" nodes\b|ノード", _nodes),
    (r" cores? of [A-Z]", _cores),
    (r" cores?\b(?! of)|コア(?!あたり|数|分)", _cores_named),
    (r" logical processors", _cores),
    (r" levels\b|条件(?=のいずれ|のすべて|のうち)", _each(_levels)),
    (r" clients?\b(?! and)|接続(?!あたり|分|数)", _each(_clients)),
    (
        r" campaigns?\b(?! file)|件\(時刻順\)|件の(?:検証|記録)|件(?<=検証\d件)|件(?<=検証\d\d件)",
        lambda campaigns: {float(len(campaigns))},
    ),
)


COUNTABLE = "block|core|partition"
NUMBER_OF = re.compile(
    rf"(?<![\d.,§#])(?P<number>\d[\d,]*) (?P<noun>{COUNTABLE})(?P<s>s?)\b(?![-’'])"
)


def agreement_objections(text: str) -> Iterator[str]:
    """Objects to a noun in the singular behind another number than one, and to a plural behind it."""
    for found in NUMBER_OF.finditer(text):
        if (found["number"] == "1") is bool(found["s"]):
            yield f"{found[0]} is no English"


def counted(text: str, campaigns: Sequence[Campaign]) -> Iterator[tuple[int, str]]:
    """Where counts begin whose nouns say what they are of, and what is wrong of each."""
    for noun, counts in NOUNS:
        for found in re.finditer(f"{COUNT}(?P<noun>{noun})", text):
            allowed = counts(campaigns)
            if allowed:
                right = printed(found[0]).value in allowed
                why = f"{found[0]}: there are {sorted(allowed)}"
                yield found.start("number"), "" if right else why
