"""The contrasts of a campaign: for each workload and metric, each new level against the old one.

The primary question is the mean over the levels of the sweep: in each block the mean of d over the
levels, then one t interval over the blocks, at α. Only blocks in which every level has both sides
enter it, or else the levels would weigh differently in different blocks; the others are named in
``incomplete_blocks``. Each single level gets its own interval at α/K, K the levels in the plan.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from teiten.analysis.pairs import Attempt, Context, Observation, Pairs, observe, pair
from teiten.analysis.verdict import Rule, decide, median
from teiten.model.analysis import ContrastResult, LevelResult
from teiten.model.metrics import BY_NAME, Metric
from teiten.model.plan import Plan
from teiten.model.units import Share

CONTRASTED = ("tps", "latency_mean", "latency_p95", "latency_p99")
"""The metrics that get verdicts, where they were measured."""


def contrasts(plan: Plan, attempts: Iterable[Attempt]) -> tuple[ContrastResult, ...]:
    """Every contrast of the campaign; none where the study contrasts nothing."""
    factor = plan.study.factor(plan.study.contrast)
    if factor is None or len(factor.levels) < 2:
        return ()
    old, *others = factor.levels
    by_workload: dict[str, list[Observation]] = defaultdict(list)
    for observation in observe(plan, attempts):
        by_workload[observation.workload].append(observation)
    return tuple(
        _contrast(plan, by_workload[workload], workload, metric, old=old, new=new)
        for workload in _workloads(plan)
        for metric in _measured(by_workload[workload])
        for new in others
    )


def _workloads(plan: Plan) -> list[str]:
    """Those that have trials, in the study's order."""
    planned = {trial.cell.workload for trial in plan.trials}
    return [workload.name for workload in plan.study.workloads if workload.name in planned]


def _measured(observations: Sequence[Observation]) -> Iterator[Metric]:
    """TPS always, so that a campaign without a counted trial says so; others where measured."""
    for name in CONTRASTED:
        if name == "tps" or any(name in one.metrics for one in observations):
            yield BY_NAME[name]


def _contrast(
    plan: Plan,
    observations: Sequence[Observation],
    workload: str,
    metric: Metric,
    *,
    old: str,
    new: str,
) -> ContrastResult:
    contexts = _contexts(plan, workload)
    paired = {
        context: pair(observations, context=context, metric=metric.name, old=old, new=new)
        for context in contexts
    }
    measure = plan.study.measure
    rule = Rule(measure.delta, measure.alpha, metric.better)
    level_rule = Rule(measure.delta, Share(measure.alpha / len(contexts)), metric.better)
    blocks = _block_means(list(paired.values()))
    return ContrastResult(
        workload=workload,
        metric=metric,
        old=old,
        new=new,
        levels=tuple(_level(context, paired[context], level_rule) for context in contexts),
        overall=decide(
            list(blocks.values()), rule, unusable=sum(one.unusable for one in paired.values())
        ),
        incomplete_blocks=tuple(sorted({trial.block for trial in plan.trials} - blocks.keys())),
    )


def _level(context: Context, pairs: Pairs, rule: Rule) -> LevelResult:
    ratios = list(pairs.log_ratios.values())
    return LevelResult(
        context=context,
        old_values=pairs.old_values,
        new_values=pairs.new_values,
        old_median=median(pairs.old_values),
        new_median=median(pairs.new_values),
        verdict=decide(ratios, rule, unusable=pairs.unusable),
    )


def _contexts(plan: Plan, workload: str) -> tuple[Context, ...]:
    """The contexts of a workload, in the order of the factors' levels."""
    ranks = {
        (factor.name, level): rank
        for factor in plan.study.factors
        for rank, level in enumerate(factor.levels)
    }
    found = {
        trial.cell.context(plan.study.contrast)
        for trial in plan.trials
        if trial.cell.workload == workload
    }
    return tuple(sorted(found, key=lambda context: [(ranks.get(one, 0), one) for one in context]))


def _block_means(levels: Sequence[Pairs]) -> dict[int, float]:
    """The mean of d over all levels, for each block that has them all."""
    complete = set.intersection(*(set(one.log_ratios) for one in levels)) if levels else set()
    return {
        block: math.fsum(one.log_ratios[block] for one in levels) / len(levels)
        for block in sorted(complete)
    }
