"""The contrasts of a campaign: for each workload and metric, each new level against the old one.

The primary question is the mean over the levels of the sweep: in each block the mean of d over the
levels, then one interval over the blocks, at this statement's share of α (``comparison_alpha``).
Only blocks in which every level has both sides enter it, or else the levels would weigh differently
in different blocks. A query of which a trial of either side exceeds its time limit has no ratio and
is left out of the mean (``left_out``). Each single level gets its own interval at a K-th of that
share, K the levels in the plan. Metrics beside the judged one have the same intervals, and no
words: mean latency in a closed loop only repeats the throughput, and each further word is a further
chance to err.

The intervals are Student's t for a fixed design, and valid at every look for a sequential one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from teiten.analysis.model.evidence import block_means, means_of_starts
from teiten.analysis.model.findings import ContrastResult, LevelResult, Verdict
from teiten.analysis.model.observations import Observation
from teiten.analysis.verdict.carry_over import bias_of, withheld_for_bias
from teiten.analysis.verdict.drift import drift_of
from teiten.analysis.verdict.mixed import is_averaged, over_levels
from teiten.analysis.verdict.pairs import observe, pair, starts_of
from teiten.analysis.verdict.sequential import (
    decide_by_design,
    forecast,
    is_a_matter_of_pairs,
    least_pairs,
)
from teiten.analysis.verdict.verdict import (
    INCOMPLETE_BLOCKS,
    TOO_FEW_PAIRS,
    Rule,
    over_timeout,
)
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.kinds.metrics import contrasted
from teiten.model.metrics import Metric
from teiten.model.plan import Context, Plan
from teiten.model.trial import Attempt
from teiten.model.units import Seconds


def contrasts(
    plan: Plan, attempts: Iterable[Attempt], *, judged_only: bool = False
) -> tuple[ContrastResult, ...]:
    """Every contrast of the campaign; none where the study contrasts nothing.

    ``judged_only``: of what each workload's question is about, and of no further metric.
    """
    known = tuple(attempts)
    by_workload: dict[str, list[Observation]] = defaultdict(list)
    for observation in observe(plan, known):
        by_workload[observation.workload].append(observation)
    return tuple(
        _contrast(plan, by_workload[workload], workload, metric, old=old, new=new, attempts=known)
        for workload in (workload.name for workload in plan.study.workloads)
        if plan.cells_of(workload)
        for metric in contrasted_here(plan, workload, by_workload[workload])
        if metric.judged or not judged_only
        for old, new in compared_sides(plan, workload)
    )


def compared_sides(plan: Plan, workload: str) -> Iterator[tuple[str, str]]:
    """Old and new: each side of a workload against its reference, which is the first one but where
    the workload names another that takes part too."""
    first, *others = sides = sides_of(plan, workload)
    references = plan.study.workload(workload).options.references
    for new in others:
        old = references.get(new, first)
        yield old if old in sides else first, new


def sides_of(plan: Plan, workload: str) -> tuple[str, ...]:
    """The levels of the contrasted factor that a workload has, in their order: never none, but a
    single one where nothing is contrasted."""
    planned = {cell.level(plan.study.contrast) for cell in plan.cells_of(workload)}
    levels = plan.study.contrasted_levels or ("",)
    return tuple(level for level in levels if level in planned) or levels


def contrasted_here(
    plan: Plan, workload: str, *measured: Sequence[Observation]
) -> Iterator[Metric]:
    """The metrics of a workload that get verdicts.

    The judged one always, so that a campaign without a counted trial says so; another where each
    of ``measured`` has it.
    """
    for metric in contrasted(plan.study.workload(workload).kind):
        if metric.judged or all(
            any(metric.name in observation.metrics for observation in observations)
            for observations in measured
        ):
            yield metric


def _contrast(
    plan: Plan,
    observations: Sequence[Observation],
    workload: str,
    metric: Metric,
    *,
    old: str,
    new: str,
    attempts: Sequence[Attempt],
) -> ContrastResult:
    contexts = contexts_of(plan, workload)
    paired = {
        context: pair(observations, context=context, metric=metric.name, old=old, new=new)
        for context in contexts
    }
    starts = starts_of(plan, attempts)
    alone = {
        context: means_of_starts(pairs.log_ratios, starts) for context, pairs in paired.items()
    }
    bias = bias_of(plan, workload, observations, (old, new)) if metric.judged else None
    measure = plan.study.measure
    alpha = comparison_alpha(plan, workload, len(contexts))
    rule = Rule(measure.delta, alpha, metric.better, metric.judged)
    level_rule = replace(rule, alpha=comparison_alpha(plan, workload))
    compared = [observation for observation in observations if observation.side in (old, new)]
    over = {context: _over(compared, context, metric) for context in contexts}
    whole = [context for context in contexts if not over[context]]
    means = list(block_means([alone[context] for context in whole]).values())
    unusable = sum(paired[context].unusable for context in whole)
    overall = decide_by_design(measure, means, rule, unusable=unusable, levels=len(whole))
    overall = told_incomplete(overall, [alone[context] for context in whole])
    overall = withheld_for_bias(overall, bias, rule)

    def level(context: Context) -> LevelResult:
        pairs, own = paired[context], list(alone[context].values())
        verdict = decide_by_design(measure, own, level_rule, unusable=pairs.unusable)
        if over[context]:
            verdict = over_timeout(verdict.pairs, level_rule)
        return LevelResult(
            context=context,
            old_values=pairs.old_values,
            new_values=pairs.new_values,
            verdict=withheld_for_bias(verdict, bias, level_rule),
            old_over=sum(observation.side == old for observation in over[context]),
            new_over=sum(observation.side == new for observation in over[context]),
            limit=next((Seconds(trial.metrics[metric.exceeded]) for trial in over[context]), None),
        )

    levels = tuple(map(level, contexts))
    averaged = is_averaged(plan, workload, contexts)
    overall = over_levels(overall, levels, rule, averaged=averaged)
    is_foretold = measure.sequential is not None and is_a_matter_of_pairs(overall)
    return ContrastResult(
        workload=workload,
        metric=metric,
        old=old,
        new=new,
        levels=levels,
        overall=overall,
        drift=drift_of([alone[context] for context in whole]),
        forecast=forecast(means, rule, len(whole)) if is_foretold else None,
        left_out=tuple(context for context in contexts if over[context]),
    )


def told_incomplete(verdict: Verdict, levels: Sequence[Mapping[int, float]]) -> Verdict:
    """The verdict of a mean over several levels. Where a level by itself has pairs enough, it is
    not pairs that are missing, but blocks that have every level."""
    if verdict.reason == TOO_FEW_PAIRS and any(len(level) > 1 for level in levels):
        return replace(verdict, reason=INCOMPLETE_BLOCKS)
    return verdict


def _over(
    observations: Sequence[Observation], context: Context, metric: Metric
) -> list[Observation]:
    """The trials of a context that were cut off at a limit, of the sides that are compared: known
    to be beyond it, and no more. A mean without them would be wrong, so that a level with any has
    no ratio."""
    return [
        observation
        for observation in observations
        if observation.context == context and metric.exceeded in observation.metrics
    ]


def pairs_to_interval(plan: Plan, workload: str) -> int:
    """Compute from how many pairs on a sequential mean over a workload's levels has an interval."""
    levels = len(contexts_of(plan, workload))
    return least_pairs(comparison_alpha(plan, workload, levels), levels)


def contexts_of(plan: Plan, workload: str) -> tuple[Context, ...]:
    """The contexts of a workload, in the order of the factors' levels."""
    contexts = {cell.context(plan.study.contrast) for cell in plan.cells_of(workload)}

    def in_order(context: Context) -> list[tuple[int, tuple[str, str]]]:
        return list(zip(plan.study.ranks(context), context, strict=True))

    return tuple(sorted(contexts, key=in_order))
