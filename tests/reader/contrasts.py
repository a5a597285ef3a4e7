"""What JSON and tables take their numbers from, against the trials: every contrast of every kind.

A contrast has one level over all its levels, and one at each of them: JSON, table and sentence of
the same comparison have the same one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.printed.form import jsonable, taken
from teiten.cli.printed.outcome import JsonContrast, JsonVerdict, json_contrast
from tests.reader.arithmetic import Judgement
from tests.reader.campaign import Campaign

KINDS = {"different-but-small": "small", "unjudged": "alone"}
ROOM = 1e-9
MOST = 700.0
"""The logarithm of what is still written as a number."""


def contrasts_of(analysis: CampaignAnalysis) -> list[dict[str, Any]]:
    """The contrasts as JSON has them, and their levels in the same form."""
    return [
        {
            **jsonable(json_contrast(JsonContrast, analysis, one)),
            "levels": [
                {**jsonable(taken(JsonVerdict, level.verdict)), "levels": dict(level.context)}
                for level in one.levels
            ],
        }
        for one in analysis.contrasts
    ]


def contrast_objections(
    campaign: Campaign, contrasts: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """What of the contrasts does not follow from the trials.

    ``contrasts``: as JSON has them, each with its ``levels`` in the same form.
    """
    judged = {(one["workload"], one["old"], one["new"]) for one in contrasts}
    for workload in campaign.workloads():
        missing = {
            (workload.name, campaign.reference(workload.name, new), new)
            for new in campaign.sides(workload.name)[1:]
        } - judged
        if missing:
            yield f"not in JSON: {missing}"
    for one in contrasts:
        found = campaign.judged(one["workload"], one["metric"], one["new"])
        about = f"{one['workload']}, {one['metric']}, {one['new']}"
        if one["old"] != found.old:
            yield f"{about}: compared with {one['old']}, not with {found.old}"
        yield from _verdict(about, one, found.overall)
        named = [found.levels[context] for context in found.overall.extremes]
        for extreme, level in zip(one["extremes"], named, strict=True):
            yield from _interval(f"{about}, an extreme", extreme, level)
        levels = {frozenset(each["levels"].items()): each for each in one["levels"]}
        if levels.keys() != {frozenset(context) for context in found.levels}:
            yield f"{about}: other levels"
            continue
        for context, level in found.levels.items():
            yield from _verdict(f"{about}, {context}", levels[frozenset(context)], level)


def _verdict(about: str, said: Mapping[str, Any], found: Judgement) -> Iterator[str]:
    kind = KINDS.get(said["verdict"], said["verdict"])
    if kind != found.word:
        yield f"{about}: it is {found.word}, not {kind}"
    if (said["interval"] is None) != bool(found.reason) or (said["reason"] or "") != found.reason:
        yield f"{about}: the reason is {found.reason}, not {said['reason']}"
    elif not found.reason:
        if said["at_least_delta"] != found.beyond:
            yield f"{about}: by at least δ is {found.beyond}"
        yield from _interval(about, said, found)


def _interval(about: str, said: Mapping[str, Any], found: Judgement) -> Iterator[str]:
    logs = dict(zip(("ratio", "low", "high"), (found.mean, found.low, found.high), strict=True))
    numbers = {"ratio": said["ratio"]} | dict(zip(("low", "high"), said["interval"], strict=True))
    for name, log in logs.items():
        beyond = log > MOST and numbers[name] is None
        if not beyond and not math.isclose(numbers[name], math.exp(min(log, MOST)), rel_tol=ROOM):
            yield f"{about}: {name} is {math.exp(min(log, MOST))}, not {numbers[name]}"
    if not math.isclose(said["confidence"], found.confidence, rel_tol=ROOM):
        yield f"{about}: the confidence is {found.confidence}, not {said['confidence']}"
