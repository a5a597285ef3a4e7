"""How often does a collection answer a published finding wrongly? A simulation.

``python -m benchmarks.trust collections`` prints the table.

The campaigns are those of ``pgecons`` whose findings are about throughput, planned for an invented
machine, judged as real ones are, and given blocks as real ones are; a trial's throughput is the
truth of its cell times noise. The truth of a finding is what the same code says of trials without
noise: whether each of its ratios lies within its bounds, or where it contradicts. A promise of a
gain says "more than 1": between equal sides it is contradicted rightly, as their difference is
smaller than δ, and one of a gain that is smaller than δ may be answered either way. A decision
where a ratio lies on a bound of another kind is wrong, whichever it is. It runs
on one core and measures nothing of this machine; seeds are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from tests.fixtures.planned import expanded
from tests.fixtures.synthetic_plan import HOST

from benchmarks.figures import binomial_interval, percent, row
from teiten.analysis.claims.forecast import CampaignProgress, next_allotment, open_findings
from teiten.analysis.claims.outcomes import assess
from teiten.analysis.model.claims import Check, Claim, ClaimOutcome, ClaimStanding
from teiten.claims.catalogue import claims_of
from teiten.claims.predicates.effect import Bounds, Effect
from teiten.cli.collection.planning import first_study
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.progress import GivenBlocks, MoreBlocks, is_given, levels_of, with_more
from teiten.model.study import Sequential
from teiten.model.trial import Attempt, Outcome
from teiten.model.units import Seconds
from teiten.plan.durations import LEAST_BLOCKS
from teiten.plan.sizing import size
from teiten.study.collection import read_collection

CAMPAIGNS = ("operations", "observe", "checksums")
MOST_BLOCKS = 24
SPARE = 40
"""Blocks beyond the first pass that a collection has time for."""
BLOCK = Seconds(60.0)
ON_BOUND = 1e-4
"""A ratio nearer to a bound lies on it."""
HARDLY_ANY = 1e-7
"""The deviation of trials without noise: with none an interval would have no width, and a design of
pairs says nothing."""
PRINTED, APART = 0.05, 0.03
"""The deviation of invented ratios in print, and of drawn speeds, as logarithms."""
WITHIN = 0.02
"""How far a ratio may be from an invented one in print."""
INVENTED = "of invented tables"
NOISES = ("even", "heavy tails", "drift")
MOST_DRIFT = 0.1
"""How much faster or slower the machine becomes over a collection, as a logarithm."""
PAIR = 0.02
"""The deviation of a pair."""
AT_EVERY_LOOK, STUDENT = "valid at every look", "Student's t"
"""The interval of a collection's campaigns, and one that its looks make wrong."""
HEAD = (
    *("sides", "findings", "noise", "interval", "judged", "decided", "wrongly reproduced"),
    *("wrongly contradicted", "wrong, of all judged (95 % interval)", "collections with any"),
)


@dataclass(frozen=True)
class InventedCampaign:
    plan: Plan
    claims: tuple[Claim, ...]


@dataclass
class Tally:
    """Counts over collections."""

    collections: int = 0
    judged: int = 0
    decided: int = 0
    reproduced: int = 0
    contradicted: int = 0
    with_any: int = 0


def rows(collections: int, seed: int) -> Iterator[str]:
    """The lines of a Markdown table."""
    yield row(*HEAD)
    yield row(*("---",) * 4, *("--:",) * (len(HEAD) - 4))
    plain = [
        (sides, findings, noise, AT_EVERY_LOOK)
        for sides in ("equal", "drawn")
        for findings in ("of the catalogue", INVENTED)
        for noise in NOISES
    ]
    known = {interval: campaigns(interval) for interval in (AT_EVERY_LOOK, STUDENT)}
    for sides, findings, noise, interval in (
        *plain,
        ("equal", "of the catalogue", "even", STUDENT),
    ):
        tally = Tally()
        for at in range(collections):
            random = np.random.default_rng([seed, at, NOISES.index(noise)])
            of_row = known[interval]
            invented = retold(of_row, random) if findings == INVENTED else of_row
            count(tally, invented, sides, noise, random)
        yield row(sides, findings, noise, interval, *_cells(tally))


def campaigns(interval: str) -> dict[str, InventedCampaign]:
    """The campaigns as a collection has them, on an invented machine."""
    collection = read_collection("pgecons").table
    made: dict[str, InventedCampaign] = {}
    for table in collection.campaigns:
        if table.called in CAMPAIGNS:
            sized = size(first_study(collection, table), HOST)
            looked_at = Sequential(budget=Seconds(1e6), most_blocks=MOST_BLOCKS)
            rule = looked_at if interval == AT_EVERY_LOOK else None
            measure = replace(sized.measure, blocks=MOST_BLOCKS, sequential=rule)
            plan = expanded(replace(sized, measure=measure))
            made[table.called] = InventedCampaign(plan, claims_of(sized.name))
    return made


def retold(
    known: Mapping[str, InventedCampaign], random: np.random.Generator
) -> dict[str, InventedCampaign]:
    """The same campaigns with findings of invented tables: each effect is the ratio in print."""

    def of_table(claim: Claim) -> Claim:
        printed = math.exp(random.normal(0.0, PRINTED))
        bounds = Bounds(low=printed / (1 + WITHIN), high=printed * (1 + WITHIN))
        return replace(claim, predicate=Effect((bounds,)))

    return {
        name: replace(
            campaign,
            claims=tuple(
                of_table(claim) for claim in campaign.claims if isinstance(claim.predicate, Effect)
            ),
        )
        for name, campaign in known.items()
    }


def count(
    tally: Tally,
    known: Mapping[str, InventedCampaign],
    sides: str,
    noise: str,
    random: np.random.Generator,
) -> None:
    """Run one collection to its end, and compare each outcome with the truth."""
    speeds: dict[tuple[str, str], float] = {}
    for campaign in known.values():
        for trial in campaign.plan.trials:
            key = _key(campaign.plan, trial)
            drawn = math.exp(random.normal(0.0, APART)) if sides == "drawn" else 1.0
            speeds.setdefault(key, drawn)
    truth = {
        name: judged(campaign, trials(campaign.plan, speeds, "even", HARDLY_ANY, random), {})
        for name, campaign in known.items()
    }
    noisy = {
        name: trials(campaign.plan, speeds, noise, PAIR, random) for name, campaign in known.items()
    }
    slope = random.uniform(-MOST_DRIFT, MOST_DRIFT) if noise == "drift" else 0.0
    outcomes = carried_out(known, noisy, slope)
    wrong = 0
    for name in known:
        for true, seen in zip(truth[name], outcomes[name], strict=True):
            if not seen.applies or not _is_known(true):
                continue
            tally.judged += 1
            tally.decided += seen.standing is not ClaimStanding.INCONCLUSIVE
            reproduced = seen.standing is ClaimStanding.REPRODUCED and not _within(true)
            contradicted = seen.standing is ClaimStanding.CONTRADICTED and not _outside(true)
            tally.reproduced += reproduced
            tally.contradicted += contradicted
            wrong += reproduced or contradicted
    tally.collections += 1
    tally.with_any += wrong > 0


def carried_out(
    known: Mapping[str, InventedCampaign],
    drawn: Mapping[str, Mapping[int, Attempt]],
    slope: float,
) -> dict[str, tuple[ClaimOutcome, ...]]:
    """The outcomes when no time is left, or nothing that time decides.

    ``drawn``: the trials of each campaign by their numbers; ``slope``: how much the machine becomes
    faster in all, as a logarithm.
    """
    given: dict[str, GivenBlocks] = {name: {} for name in known}
    ran: dict[str, dict[int, Attempt]] = {name: {} for name in known}
    outcomes: dict[str, tuple[ClaimOutcome, ...]] = {}
    whole = Seconds((LEAST_BLOCKS * len(known) + SPARE) * BLOCK)
    left = whole

    def run(name: str, more: MoreBlocks) -> None:
        nonlocal left
        plan, before = known[name].plan, left
        every = levels_of(plan)
        levels = every if more.levels is None else more.levels
        given[name] = with_more(given[name], levels, more.more)
        left = Seconds(left - more.more * len(levels) / len(every) * BLOCK)
        new = [
            trial.number
            for trial in plan.trials
            if trial.number not in ran[name] and is_given(plan, trial, given[name])
        ]
        for number, moment in zip(new, np.linspace(before, left, len(new)), strict=True):
            ran[name][number] = _faster(drawn[name][number], slope * (1 - moment / whole))
        outcomes[name] = judged(known[name], ran[name], given[name])

    for name in known:
        run(name, MoreBlocks(LEAST_BLOCKS))
    while allotment := next_allotment(
        [_progress(name, known[name], given[name], outcomes[name]) for name in known],
        left,
    ):
        assert allotment.blocks is not None, "nothing is cut off"
        run(allotment.name, allotment.blocks)
    return outcomes


def _faster(attempt: Attempt, log: float) -> Attempt:
    by = math.exp(log)
    metrics = attempt.metrics
    return replace(
        attempt,
        metrics={"tps": metrics["tps"] * by, "latency_mean": metrics["latency_mean"] / by},
    )


def judged(
    campaign: InventedCampaign, ran: Mapping[int, Attempt], given: GivenBlocks
) -> tuple[ClaimOutcome, ...]:
    """The outcomes by the trials that have run, by their numbers."""
    return assess(campaign.claims, campaign.plan, HOST, ran.values(), given)


def trials(
    plan: Plan,
    speeds: Mapping[tuple[str, str], float],
    noise: str,
    pair: float,
    random: np.random.Generator,
) -> dict[int, Attempt]:
    """The trials of a campaign by their numbers, as they would be without drift."""
    scatter = pair / math.sqrt(2)
    shape = len(plan.trials)
    added = (
        random.standard_t(3, shape) / math.sqrt(3) * scatter
        if noise == "heavy tails"
        else random.normal(0.0, scatter, shape)
    )
    drawn: dict[int, Attempt] = {}
    for trial, log in zip(plan.trials, added, strict=True):
        clients = trial.load.connections
        tps = 900.0 * min(clients, HOST.cpu.logical) * speeds[_key(plan, trial)] * math.exp(log)
        metrics = {"tps": tps, "latency_mean": clients / tps}
        drawn[trial.number] = Attempt(trial.number, 1, Outcome.COUNTED, metrics)
    return drawn


def _key(plan: Plan, trial: PlannedTrial) -> tuple[str, str]:
    return trial.cell.workload, trial.cell.level(plan.study.contrast) or ""


def _progress(
    name: str,
    campaign: InventedCampaign,
    given: GivenBlocks,
    outcomes: Sequence[ClaimOutcome],
) -> CampaignProgress:
    measure, levels = campaign.plan.study.measure, levels_of(campaign.plan)
    return CampaignProgress(
        name,
        given,
        unfinished=False,
        first=LEAST_BLOCKS,
        most=measure.blocks,
        preparing=Seconds(0.0),
        block=BLOCK,
        levels=dict.fromkeys(levels, Seconds(BLOCK / len(levels))),
        open=tuple(open_findings(outcomes, measure.alpha)),
    )


def _is_known(true: ClaimOutcome) -> bool:
    return bool(true.checks) and all(check.ratio is not None for check in true.checks)


def _room(check: Check, least: float | None, most: float | None) -> float:
    """How far a true ratio lies between two ends, as a logarithm; negative outside."""
    return min(
        math.inf if least is None else math.log((check.ratio or 0.0) / least),
        math.inf if most is None else math.log(most / (check.ratio or 1.0)),
    )


def _within(true: ClaimOutcome) -> bool:
    """Whether a finding is truly so, and on none of its bounds."""
    return min(_room(check, check.least, check.most) for check in true.checks) > ON_BOUND


def _outside(true: ClaimOutcome) -> bool:
    """Whether a finding is truly not so, and not by a bound alone."""
    return min(_room(check, *check.contradicting) for check in true.checks) < -ON_BOUND


def _cells(tally: Tally) -> tuple[str, ...]:
    wrong = tally.reproduced + tally.contradicted
    return (
        f"{tally.judged:,}",
        percent(tally.decided / max(1, tally.judged)),
        str(tally.reproduced),
        str(tally.contradicted),
        _with_interval(wrong, tally.judged),
        _with_interval(tally.with_any, tally.collections),
    )


def _with_interval(part: int, whole: int) -> str:
    low, high = binomial_interval(part, whole)
    return f"{percent(part / max(1, whole), 2)} ({100 * low:.2f} to {percent(high, 2)})"
