"""Two campaigns' values to what a comparison's report is made from; nothing is paired.

A block of the one campaign has no counterpart in the other, so the unit is the block of each
campaign on its own: the mean of ln over the levels in a block, then Welch's interval of the
blocks' means. The levels of a block ran close to one another and share its disturbances, which
adding up intervals of single levels would not see. Blocks that share a start of their servers are
one, their mean, as in a campaign's own verdicts.

Published findings about two operating systems, checked on two campaigns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.across.comparability import common_contexts, comparability, matched_levels
from teiten.analysis.across.fingerprint import machine_fingerprint
from teiten.analysis.across.unpaired import decide_unpaired
from teiten.analysis.claims.outcomes import (
    deciding_of,
    further_numbers,
    in_print,
    other_question,
    standing_of,
    with_further,
)
from teiten.analysis.model.claims import Claim, ClaimOutcome, ClaimStanding
from teiten.analysis.model.comparison import ComparedLevel, Comparison, Systems, UnpairedResult
from teiten.analysis.model.evidence import EvidenceTable
from teiten.analysis.model.findings import CampaignAnalysis, LevelResult
from teiten.analysis.model.observations import Context
from teiten.analysis.model.predicate import UnmetError
from teiten.analysis.verdict.conclusive import marked
from teiten.analysis.verdict.contrasts import contrasted_here
from teiten.analysis.verdict.mixed import is_averaged, over_levels
from teiten.analysis.verdict.pairs import by_start, in_block_order, observe, starts_of
from teiten.analysis.verdict.verdict import Rule, median, over_timeout
from teiten.model.metrics import Metric
from teiten.model.units import Share

Values = Mapping[Context, Mapping[int, float]]
"""Context to block to value."""


def compare(
    a: CampaignAnalysis,
    b: CampaignAnalysis,
    *,
    claims: Sequence[Claim] = (),
    insisted: bool = False,
) -> Comparison:
    """B against A: differences, and every metric that both have measured.

    Whether obstacles forbid the comparison is the caller's to decide: it is made in any case.
    """
    differences = comparability(a, b)
    results = tuple(_results(a, b))
    if not (a.plan.study.conclusive and b.plan.study.conclusive):
        results = marked(results)
    same_machine = machine_fingerprint(a.facts) == machine_fingerprint(b.facts)
    comparison = Comparison(a, b, differences, results, (), same_machine)
    of_systems = [claim for claim in claims if claim.needs.compared]
    evidence = (evidence_of(campaign, of_systems) for campaign in (a, b))
    return replace(
        comparison,
        claims=assess_comparison(of_systems, comparison, *evidence),
        insisted=insisted and bool(comparison.obstacles),
    )


def evidence_of(campaign: CampaignAnalysis, claims: Sequence[Claim] = ()) -> EvidenceTable:
    """The trials that count, with the numbers of their plans that claims speak of."""
    further = further_numbers(claims, campaign.plan, campaign.trials, campaign.events)
    trials = with_further(campaign.trials, further)
    starts = starts_of(campaign.plan, trials)
    return EvidenceTable(campaign.plan, observe(campaign.plan, trials), starts)


@dataclass(frozen=True)
class Logs:
    """Logarithms of one metric of one campaign on one side."""

    by_context: dict[Context, dict[int, float]]
    unusable: int
    """Values that are zero, negative or infinite."""

    @property
    def complete(self) -> tuple[int, ...]:
        """Blocks, or the first ones of a start, that have every context."""
        blocks = [set(found) for found in self.by_context.values()]
        return tuple(sorted(set.intersection(*blocks))) if blocks else ()

    def block_means(self) -> list[float]:
        count = len(self.by_context)
        return [
            math.fsum(found[block] for found in self.by_context.values()) / count
            for block in self.complete
        ]


def logs(campaign: CampaignAnalysis, values: Values) -> Logs:
    """The logarithms of a campaign's values by context and block, or start of the servers."""
    usable: dict[Context, dict[int, float]] = {}
    unusable = 0
    for context, by_block in values.items():
        usable[context] = {}
        for block, value in by_block.items():
            if 0 < value < math.inf:
                usable[context][block] = math.log(value)
            else:
                unusable += 1
    starts = {
        context: by_start(campaign.plan, campaign.trials, found)
        for context, found in usable.items()
    }
    return Logs(starts, unusable)


def _results(a: CampaignAnalysis, b: CampaignAnalysis) -> Iterator[UnpairedResult]:
    """The primary statements, of each workload on each side, share α."""
    here, there = evidence_of(a), evidence_of(b)
    names = {workload.name for workload in b.plan.study.workloads}
    common = {
        (workload, side): contexts
        for workload in (
            workload.name for workload in a.plan.study.workloads if workload.name in names
        )
        for side in matched_levels(a.plan, b.plan)
        if (contexts := common_contexts(a.plan, b.plan, workload, side))
    }
    for workload in dict.fromkeys(workload for workload, _ in common):
        mine = [
            [observation for observation in found.observations if observation.workload == workload]
            for found in (here, there)
        ]
        for metric in contrasted_here(a.plan, workload, *mine):
            for (of, side), contexts in common.items():
                if of == workload:
                    yield _result(
                        (a, b),
                        (here, there),
                        workload=workload,
                        metric=metric,
                        side=side,
                        contexts=contexts,
                        alpha=Share(a.plan.study.measure.alpha / len(common)),
                    )


def _result(
    campaigns: tuple[CampaignAnalysis, CampaignAnalysis],
    found: tuple[EvidenceTable, EvidenceTable],
    *,
    workload: str,
    metric: Metric,
    side: ComparedLevel,
    contexts: Sequence[Context],
    alpha: Share,
) -> UnpairedResult:
    old, new = (
        {context: one.side(workload, context, level, metric.name) for context in contexts}
        for one, level in zip(found, (side.a, side.b), strict=True)
    )
    a, b = campaigns
    rule = Rule(a.plan.study.measure.delta, alpha, metric.better, metric.judged)
    level_rule = replace(rule, alpha=Share(alpha / len(contexts)))
    over = _over(found, workload, (side.a, side.b), metric.exceeded)
    whole = [context for context in contexts if context not in over]
    logs_old, logs_new = (
        logs(campaign, {context: one[context] for context in whole})
        for campaign, one in ((a, old), (b, new))
    )
    levels = tuple(
        _level(context, (a, old), (b, new), level_rule, over=context in over)
        for context in contexts
    )
    mean = decide_unpaired(
        logs_old.block_means(),
        logs_new.block_means(),
        rule,
        unusable=logs_old.unusable + logs_new.unusable,
    )
    return UnpairedResult(
        workload=workload,
        metric=metric,
        side=side,
        levels=levels,
        overall=over_levels(mean, levels, rule, averaged=is_averaged(a.plan, workload, contexts)),
        blocks=(len(logs_old.complete), len(logs_new.complete)),
        left_out=tuple(context for context in contexts if context in over),
    )


def _over(
    found: tuple[EvidenceTable, EvidenceTable],
    workload: str,
    levels: tuple[str, str],
    exceeded: str,
) -> frozenset[Context]:
    """The contexts in which a trial was cut off at its limit: they have no ratio."""
    return frozenset(
        observation.context
        for observed, level in zip(found, levels, strict=True)
        for observation in observed.observations
        if (observation.workload, observation.side) == (workload, level)
        and exceeded in observation.metrics
    )


def _level(
    context: Context,
    old: tuple[CampaignAnalysis, Values],
    new: tuple[CampaignAnalysis, Values],
    rule: Rule,
    *,
    over: bool,
) -> LevelResult:
    of_old, of_new = (logs(one, {context: values[context]}) for one, values in (old, new))
    old_values, new_values = (in_block_order(values[context]) for _, values in (old, new))
    return LevelResult(
        context=context,
        old_values=old_values,
        new_values=new_values,
        old_median=median(old_values),
        new_median=median(new_values),
        verdict=over_timeout(0, rule)
        if over
        else decide_unpaired(
            list(of_old.by_context[context].values()),
            list(of_new.by_context[context].values()),
            rule,
            unusable=of_old.unusable + of_new.unusable,
        ),
    )


def assess_comparison(
    claims: Sequence[Claim],
    comparison: Comparison,
    of_a: EvidenceTable,
    of_b: EvidenceTable,
) -> tuple[ClaimOutcome, ...]:
    """The outcome of each finding about two systems; others are left to each campaign's report."""
    return tuple(_assess(claim, comparison, of_a, of_b) for claim in claims if claim.needs.compared)


def _assess(
    claim: Claim,
    comparison: Comparison,
    of_a: EvidenceTable,
    of_b: EvidenceTable,
) -> ClaimOutcome:
    printed = in_print(claim)
    try:
        systems = systems_of(claim, comparison, of_a, of_b)
        checks = claim.predicate.between(claim, systems)
    except UnmetError as unmet:
        return ClaimOutcome(claim, ClaimStanding.NOT_APPLICABLE, unmet.reason, in_print=printed)
    reasons = (side.plan.study.withholds_findings for side in (comparison.a, comparison.b))
    standing, reason = standing_of(checks, withheld=next(filter(None, reasons), ""))
    return ClaimOutcome(claim, standing, reason, checks, deciding_of(checks), printed)


def systems_of(
    claim: Claim,
    comparison: Comparison,
    of_a: EvidenceTable,
    of_b: EvidenceTable,
) -> Systems:
    """The campaigns by their operating systems. Raises UnmetError where they do not do what the
    claim is about, or not on the same hardware."""
    a, b = comparison.a, comparison.b
    for one in (a, b):
        unmet = other_question(claim, one.plan)
        if unmet is not None:
            raise UnmetError(unmet.code, **dict(unmet.values))
    here = {a.facts.system: of_a, b.facts.system: of_b}
    if set(here) != set(claim.needs.systems):
        listed = f"{a.facts.system}, {b.facts.system}"
        raise UnmetError("systems", needed=", ".join(claim.needs.systems), here=listed)
    hardware = [(one.facts.cpu.model, one.facts.cpu.logical) for one in (a, b)]
    if hardware[0] != hardware[1]:
        raise UnmetError("hardware")
    return Systems(comparison, here)
