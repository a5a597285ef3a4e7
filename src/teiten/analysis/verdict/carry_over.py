"""Carry-over: what the sides of paired transactions leave behind for each other (METHOD.md, Paired
transactions). Where the difference could be due to it, there is no verdict.

Throughput of paired transactions against the servers' processor time for them.

Both come from the same starts, and the processor time neither waits nor depends on who else runs:
where the intervals exclude one another, throughput depends on more than what the servers do.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from teiten.analysis.model.findings import ContrastResult, TrialView
from teiten.analysis.model.observations import Observation
from teiten.analysis.model.verdict import CarryOver, CpuWitness, Interval, Verdict, VerdictKind
from teiten.analysis.verdict.sequential import patient_half_width
from teiten.analysis.verdict.verdict import (
    LEFT_BEHIND,
    Rule,
    classify,
    log_of,
    mean_and_deviation,
    withheld,
)
from teiten.kinds.contract import plan_of
from teiten.model.facts import Caution, HostFacts
from teiten.model.metrics import CPU_PER_TRANSACTION, TRANSACTIONS, Better
from teiten.model.plan import Context, Plan
from teiten.ways.registry import way_of, ways_by_clients

SHARE_OF_DELTA = 0.25
"""The share of δ up to which carry-over may be a part of the difference."""


def carry_overs(
    plan: Plan, workload: str, observations: Sequence[Observation]
) -> Iterator[CarryOver]:
    """Yield the carry-over of each new side in every number of a workload that has two starts or
    more; nothing of classic trials.

    ``observations``: the workload's.
    """
    base = next(iter(plan.study.contrasted_levels), "")
    for side in dict.fromkeys(observation.side for observation in observations):
        if side != base:
            of_side = [observation for observation in observations if observation.side == side]
            yield from _of_side(plan, workload, side, of_side)


def _of_side(
    plan: Plan, workload: str, side: str, observations: Sequence[Observation]
) -> Iterator[CarryOver]:
    measure, kind = plan.study.measure, plan_of(plan.study.workload(workload).kind)
    for name in kind.carry_over if way_of(measure).concurrent else ():
        logs = {
            (observation.block, observation.context): math.log(observation.metrics[name])
            for observation in observations
            if observation.metrics.get(name, 0.0) > 0
        }
        values = list(logs.values())
        if len(values) < 2:
            continue
        mean, deviation = mean_and_deviation(values)
        half = patient_half_width(deviation, len(values), measure.alpha)
        limit = math.log1p(measure.delta) * SHARE_OF_DELTA
        yield CarryOver(side, name, mean, mean - half, mean + half, limit)


@dataclass(frozen=True)
class CarryOverBias:
    """By how much carry-over may have moved the logarithm of a ratio, to either side."""

    sure: float
    """The end of the interval next to zero."""
    most: float
    """The end of the interval away from zero."""


def bias_of(
    plan: Plan, workload: str, observations: Sequence[Observation], sides: Collection[str]
) -> CarryOverBias | None:
    """Find the larger carry-over of the numbers of two sides that are compared; None where none is
    surely beyond the limit. Of two that are both compared with a third it may add up, or cancel.

    ``observations``: the workload's.
    """
    ends: dict[str, list[list[float]]] = defaultdict(list)
    for estimate in carry_overs(plan, workload, observations):
        if estimate.new in sides and estimate.is_too_much:
            ends[estimate.new].append(sorted((abs(estimate.low), abs(estimate.high))))
    biases = [
        CarryOverBias(max(sure for sure, _ in of_side), max(most for _, most in of_side))
        for of_side in ends.values()
    ]
    if len(biases) > 1:
        return CarryOverBias(0.0, sum(bias.most for bias in biases))
    return next(iter(biases), None)


def withheld_for_bias(verdict: Verdict, bias: CarryOverBias | None, rule: Rule) -> Verdict:
    """The verdict where no more than ``bias`` could change it, and otherwise that there is none;
    given up where that stays so however many starts there are."""
    if bias is None or verdict.effect is None or stands_despite(verdict.effect, bias, rule):
        return verdict
    return withheld(verdict, LEFT_BEHIND, given_up=_is_hopeless(verdict.effect, bias, rule))


def stands_despite(effect: Interval, bias: CarryOverBias, rule: Rule) -> bool:
    """Whether a verdict can be given beside a bias: a decided one where its interval, longer by the
    most at both ends, says the same, and an undecided one as long as starts are of use."""
    word, _, low, high = _word(effect, rule)
    if word[0] is VerdictKind.INCONCLUSIVE:
        return not _is_hopeless(effect, bias, rule)
    return classify(low - bias.most, high + bias.most, _by_sign(rule)) == word


def _is_hopeless(effect: Interval, bias: CarryOverBias, rule: Rule) -> bool:
    """Whether no number of starts gives a verdict, if the ratio stays: longer by what is sure of
    the bias, it is undecided by itself, or has another word than the interval, whose word is the
    ratio's already and so will not change."""
    word, ratio, _, _ = _word(effect, rule)
    last = classify(ratio - bias.sure, ratio + bias.sure, _by_sign(rule))
    is_settled = word == classify(ratio, ratio, _by_sign(rule))
    return last[0] is VerdictKind.INCONCLUSIVE or (is_settled and last != word)


def _word(effect: Interval, rule: Rule) -> tuple[tuple[VerdictKind, bool], float, float, float]:
    """The word of an interval, and its ratio and ends as logarithms."""
    ratio, low, high = map(log_of, (effect.ratio, effect.low, effect.high))
    return classify(low, high, _by_sign(rule)), ratio, low, high


def _by_sign(rule: Rule) -> Rule:
    """The rule for a number of which more is better, whichever is: what counts is whether words are
    the same."""
    return replace(rule, worded=True, better=Better.HIGHER)


BESIDE_THE_LOAD = 0.03
"""Seconds of processor time by which sides of a start may differ besides their load: connections
that begin, telemetry, ticks. Measured with clients that sleep, 16 and 18: 0 to 27 ms of each."""


def cpu_witnesses(
    contrasts: Sequence[ContrastResult], views: Sequence[TrialView]
) -> Iterator[CpuWitness]:
    """Yield the witness of each contrast that is judged and whose servers' processor time was
    counted."""
    used = {
        contrast.key: contrast for contrast in contrasts if contrast.metric == CPU_PER_TRANSACTION
    }
    for judged in contrasts:
        cpu = used.get(judged.key)
        if not judged.metric.judged or cpu is None or cpu.overall.effect is None:
            continue
        margins = _margins(cpu, views)
        of_level = {level.context: level.verdict.effect for level in cpu.levels}
        overall = fmean(margins.values()) if margins else 0.0
        excluded = _exclude(judged.overall.effect, cpu.overall.effect, overall)
        throughputs = (judged.overall, *(level.verdict for level in judged.levels))
        is_compared = any(verdict.effect is not None for verdict in throughputs)
        yield CpuWitness(
            *judged.key,
            cpu.overall.effect.inverse,
            not excluded if is_compared else None,
            tuple(
                level.context
                for level in judged.levels
                if _exclude(
                    level.verdict.effect,
                    of_level.get(level.context),
                    margins.get(level.context, 0.0),
                )
            ),
        )


def _margins(cpu: ContrastResult, views: Sequence[TrialView]) -> dict[Context, float]:
    """By how much the ratio may be wrong at each level, as a share: what is not the load's, of a
    side's processor time in a start."""
    used: dict[Context, list[float]] = defaultdict(list)
    for view in views:
        levels = dict(view.levels)
        per_transaction = view.metrics.get(CPU_PER_TRANSACTION.name, 0.0)
        seconds = per_transaction * view.metrics.get(TRANSACTIONS.name, 0.0)
        counted = view.workload == cpu.workload and view.counts
        for level in cpu.levels if counted and seconds > 0 else ():
            if level.context == tuple((name, levels.get(name)) for name, _ in level.context):
                used[level.context].append(seconds)
    return {context: BESIDE_THE_LOAD / fmean(seconds) for context, seconds in used.items()}


def _exclude(speed: Interval | None, times: Interval | None, margin: float) -> bool:
    """Whether both are known and exclude one another, even if the second is wrong by a margin."""
    if speed is None or times is None:
        return False
    by_cpu = times.inverse
    return speed.high < by_cpu.low / (1 + margin) or by_cpu.high * (1 + margin) < speed.low


def witness_cautions(witnesses: Sequence[CpuWitness]) -> Iterator[Caution]:
    """A caution for each contrast whose throughput and processor time exclude one another."""
    for witness in witnesses:
        if witness.agrees is False or witness.parting:
            levels = [" ".join(f"{name}={level}" for name, level in at) for at in witness.parting]
            listed, sides = "; ".join(filter(None, levels)), f"{witness.new}/{witness.old}"
            code = "cpu-parts-levels" if listed else "cpu-parts"
            yield Caution.warning(code, workload=witness.workload, sides=sides, levels=listed)


def mixed_cautions(plan: Plan, facts: HostFacts) -> Iterator[Caution]:
    """A caution where transactions of both sides ran at the same time with more clients than
    processors, as they did in campaigns of earlier versions."""
    mixed = [
        clients
        for clients, way in ways_by_clients(plan).items()
        if way.concurrent and not way.in_step and clients > facts.cpu.logical
    ]
    if mixed and not plan.servers_elsewhere:
        listed = ", ".join(map(str, mixed))
        yield Caution.warning(
            "pairs-beyond-processors", clients=listed, processors=facts.cpu.logical
        )
