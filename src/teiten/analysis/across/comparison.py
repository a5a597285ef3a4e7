"""Two campaigns' values to what a comparison's report is made from; nothing is paired.

A block of the one campaign has no counterpart in the other, so the unit is the block of each
campaign on its own: the mean of ln over the levels in a block, then Welch's interval of the
blocks' means. The levels of a block ran close to one another and share its disturbances, which
adding up intervals of single levels would not see. Blocks that share a start of their servers are
one, their mean, as in a campaign's own verdicts.

Published findings about two operating systems, checked on two campaigns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.across.comparability import common_contexts, comparability, matched_levels
from teiten.analysis.across.fingerprint import machine_fingerprint
from teiten.analysis.across.unpaired import decide_unpaired
from teiten.analysis.claims.numbers import with_numbers
from teiten.analysis.claims.outcomes import outcome_of, require_question
from teiten.analysis.model.claims import Check, Claim, ClaimOutcome
from teiten.analysis.model.comparison import ComparedLevel, Comparison, Systems, UnpairedResult
from teiten.analysis.model.evidence import (
    Blocks,
    EvidenceTable,
    block_means,
    logarithm,
    with_logarithm,
)
from teiten.analysis.model.findings import CampaignAnalysis, LevelResult
from teiten.analysis.model.predicate import UnmetError
from teiten.analysis.verdict.conclusive import marked
from teiten.analysis.verdict.contrasts import contrasted_here
from teiten.analysis.verdict.mixed import is_averaged, over_levels
from teiten.analysis.verdict.pairs import observe, starts_of
from teiten.analysis.verdict.verdict import Rule, over_timeout
from teiten.model.metrics import Metric
from teiten.model.plan import Context
from teiten.model.progress import given_blocks
from teiten.model.units import Share

Values = Mapping[Context, Blocks]
"""Context to block to value."""


def compare(
    a: CampaignAnalysis,
    b: CampaignAnalysis,
    *,
    claims: Sequence[Claim] = (),
) -> Comparison:
    """B against A: differences, and every metric that both have measured.

    Whether obstacles forbid the comparison is the caller's to decide: it is made in any case.
    """
    differences = comparability(a, b)
    results = tuple(_results(a, b))
    if not (a.plan.study.conclusive and b.plan.study.conclusive):
        results = marked(results)
    alike = machine_fingerprint(a.facts) == machine_fingerprint(b.facts)
    same_machine = alike and not (a.plan.servers_elsewhere or b.plan.servers_elsewhere)
    comparison = Comparison(a, b, differences, results, (), same_machine)
    of_systems = [claim for claim in claims if claim.needs.compared]
    tables = evidence_of(a, of_systems), evidence_of(b, of_systems)
    return replace(
        comparison, claims=tuple(_assess(claim, comparison, tables) for claim in of_systems)
    )


def evidence_of(campaign: CampaignAnalysis, claims: Sequence[Claim] = ()) -> EvidenceTable:
    """The trials that count, with the numbers of their plans that claims speak of."""
    trials = with_numbers(claims, campaign.plan, campaign.trials, campaign.events)
    starts = starts_of(campaign.plan, trials)
    given = given_blocks(campaign.plan, campaign.events)
    return EvidenceTable(campaign.plan, observe(campaign.plan, trials), starts, given)


@dataclass(frozen=True)
class Logs:
    """Logarithms of one metric of one campaign on one side."""

    by_context: Mapping[Context, Blocks]
    """By block, or by the first one of a start of the servers."""
    unusable: int
    """Values that are zero, negative or infinite."""

    @property
    def means(self) -> list[float]:
        """Over the contexts, of the blocks that have all of them."""
        return list(block_means(list(self.by_context.values())).values())


def logs(evidence: EvidenceTable, values: Values) -> Logs:
    """The logarithms of a campaign's values by context and block, or start of the servers."""
    usable = {
        context: with_logarithm({block: logarithm(value) for block, value in by_block.items()})
        for context, by_block in values.items()
    }
    unusable = sum(len(by_block) - len(usable[context]) for context, by_block in values.items())
    return Logs(
        {context: evidence.alone(by_block) for context, by_block in usable.items()}, unusable
    )


def _results(a: CampaignAnalysis, b: CampaignAnalysis) -> Iterator[UnpairedResult]:
    """The primary statements, of each workload on each side, share α."""
    tables = evidence_of(a), evidence_of(b)
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
            [observation for observation in table.observations if observation.workload == workload]
            for table in tables
        ]
        for metric in contrasted_here(a.plan, workload, *mine):
            for (of, side), contexts in common.items():
                if of == workload:
                    yield _result(
                        tables,
                        workload=workload,
                        metric=metric,
                        side=side,
                        contexts=contexts,
                        alpha=Share(a.plan.study.measure.alpha / len(common)),
                    )


def _result(
    tables: tuple[EvidenceTable, EvidenceTable],
    *,
    workload: str,
    metric: Metric,
    side: ComparedLevel,
    contexts: Sequence[Context],
    alpha: Share,
) -> UnpairedResult:
    plan = tables[0].plan
    values = tuple(
        {context: table.side(workload, context, level, metric.name) for context in contexts}
        for table, level in zip(tables, (side.a, side.b), strict=True)
    )
    rule = Rule(plan.study.measure.delta, alpha, metric.better, metric.judged)
    level_rule = replace(rule, alpha=Share(alpha / len(contexts)))
    over = _over(tables, workload, (side.a, side.b), metric.exceeded)
    old, new = _logs_at([context for context in contexts if context not in over], tables, values)
    levels = tuple(
        _level(context, tables, values, level_rule, over=context in over) for context in contexts
    )
    mean = decide_unpaired(old.means, new.means, rule, unusable=old.unusable + new.unusable)
    return UnpairedResult(
        workload=workload,
        metric=metric,
        side=side,
        levels=levels,
        overall=over_levels(mean, levels, rule, averaged=is_averaged(plan, workload, contexts)),
        blocks=(len(old.means), len(new.means)),
        left_out=tuple(context for context in contexts if context in over),
    )


def _over(
    tables: tuple[EvidenceTable, EvidenceTable],
    workload: str,
    levels: tuple[str, str],
    exceeded: str,
) -> frozenset[Context]:
    """The contexts in which a trial was cut off at its limit: they have no ratio."""
    return frozenset(
        observation.context
        for table, level in zip(tables, levels, strict=True)
        for observation in table.observations
        if (observation.workload, observation.side) == (workload, level)
        and exceeded in observation.metrics
    )


def _logs_at(
    contexts: Sequence[Context], tables: Sequence[EvidenceTable], values: Sequence[Values]
) -> Iterator[Logs]:
    """The logarithms of both campaigns, in these contexts."""
    for table, of_table in zip(tables, values, strict=True):
        yield logs(table, {context: of_table[context] for context in contexts})


def _level(
    context: Context,
    tables: Sequence[EvidenceTable],
    values: Sequence[Values],
    rule: Rule,
    *,
    over: bool,
) -> LevelResult:
    old, new = _logs_at([context], tables, values)
    old_values, new_values = (tuple(of_table[context].values()) for of_table in values)
    unusable = old.unusable + new.unusable
    return LevelResult(
        context=context,
        old_values=old_values,
        new_values=new_values,
        verdict=over_timeout(0, rule)
        if over
        else decide_unpaired(old.means, new.means, rule, unusable=unusable),
    )


def _assess(
    claim: Claim, comparison: Comparison, tables: tuple[EvidenceTable, EvidenceTable]
) -> ClaimOutcome:
    """The outcome of a finding about two systems; others are left to each campaign's report."""

    def ask() -> tuple[Check, ...]:
        return claim.predicate.between(claim, _systems_of(claim, comparison, tables))

    reasons = (table.plan.study.withholds_findings for table in tables)
    return outcome_of(claim, ask, withheld=next(filter(None, reasons), ""))


def _systems_of(
    claim: Claim, comparison: Comparison, tables: tuple[EvidenceTable, EvidenceTable]
) -> Systems:
    """The campaigns by their operating systems. Raises UnmetError where they do not do what the
    claim is about, or not on the same hardware."""
    for table in tables:
        require_question(claim, table.plan)
    machines = comparison.a.facts, comparison.b.facts
    systems = [facts.system for facts in machines]
    if set(systems) != set(claim.needs.systems):
        needed = ", ".join(claim.needs.systems)
        raise UnmetError("systems", needed=needed, here=", ".join(systems))
    if len({(facts.cpu.model, facts.cpu.logical) for facts in machines}) > 1:
        raise UnmetError("hardware")
    return Systems(comparison, dict(zip(systems, tables, strict=True)))
