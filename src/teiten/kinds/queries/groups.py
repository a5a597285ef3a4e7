"""Conclusions on several queries together: the geometric mean of their ratios in each block.

Each group has its queries' part of α, so that groups which share no query hold together, and one
of a single query says what that query's own interval says. Where a query exceeded its time limit
there is no mean; but the limit stands for a time that is no less, and so bounds the ratio from one
side, as long as only one side exceeded it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from teiten.analysis.model.evidence import block_means
from teiten.analysis.model.observations import Context, Observation
from teiten.analysis.model.verdict import Verdict, VerdictKind
from teiten.analysis.verdict.contrasts import contexts_of, told_incomplete
from teiten.analysis.verdict.pairs import PairedValues, pair
from teiten.analysis.verdict.sequential import decide_by_design, pairs_to_decide
from teiten.analysis.verdict.verdict import Rule, over_timeout
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.kinds.queries.model import (
    OVER_TIMEOUT,
    QUERY,
    QUERY_TIME,
    QueryGroup,
    queries_of,
)
from teiten.kinds.queries.results import GroupConclusion, RatioBound
from teiten.model.plan import Plan


@dataclass(frozen=True)
class ComparedSides:
    """The counted trials of a workload of queries, and the two sides that are compared."""

    plan: Plan
    workload: str
    observations: Sequence[Observation]
    old: str
    new: str

    def rule(self, averaged: int = 1) -> Rule:
        """Make the rule of a mean over so many queries, each at one combination of levels."""
        alpha = comparison_alpha(self.plan, self.workload, averaged)
        return Rule(self.plan.study.measure.delta, alpha, QUERY_TIME.better)

    def decided(
        self, log_ratios: Sequence[float], rule: Rule, levels: int = 1, *, unusable: int = 0
    ) -> Verdict:
        """A verdict in the way of the campaign's design."""
        measure = self.plan.study.measure
        return decide_by_design(measure, log_ratios, rule, unusable=unusable, levels=levels)

    def decided_together(self, paired: Sequence[PairedValues], rule: Rule) -> Verdict:
        """Decide on the mean over several queries, in the blocks that have them all."""
        pairs = [pairs_of_query.log_ratios for pairs_of_query in paired]
        unusable = sum(pairs_of_query.unusable for pairs_of_query in paired)
        verdict = self.decided(
            list(block_means(pairs).values()), rule, len(pairs), unusable=unusable
        )
        return told_incomplete(verdict, pairs)


def conclusions(sides: ComparedSides) -> tuple[GroupConclusion, ...]:
    """Conclude about every group in every context; about all queries too, where there are several
    contexts. Empty where neither says more than the mean over all levels does."""
    contexts = _by_others(sides)
    groups = list(_groups(sides, several=len(contexts) > 1))
    parts = [
        (
            group,
            others,
            {
                name: context
                for name, context in queries.items()
                if not group or name in group.queries
            },
        )
        for others, queries in contexts.items()
        for group in groups
    ]
    parts = [part for part in parts if part[2]]
    return tuple(_conclusion(sides, *part, sides.rule(len(part[2]))) for part in parts)


def bounds(sides: ComparedSides) -> tuple[tuple[Context, RatioBound], ...]:
    """Bound the ratio of every query that exceeded its limit, where only one side did."""
    contexts, rule = contexts_of(sides.plan, sides.workload), sides.rule()
    candidates = (
        (context, _bound(sides, [context], rule)) for context in contexts if _over(sides, context)
    )
    return tuple((context, bound) for context, bound in candidates if bound is not None)


def _by_others(sides: ComparedSides) -> dict[Context, dict[str, Context]]:
    """The contexts of the queries by the levels of the other factors."""
    contexts: dict[Context, dict[str, Context]] = {}
    for context in contexts_of(sides.plan, sides.workload):
        others = tuple(level for level in context if level[0] != QUERY)
        contexts.setdefault(others, {})[dict(context).get(QUERY, "")] = context
    return contexts


def _groups(sides: ComparedSides, *, several: bool) -> Iterator[QueryGroup | None]:
    """The study's groups; None stands for all queries."""
    if several:
        yield None
    yield from queries_of(sides.plan.study.workload(sides.workload)).groups


def _conclusion(
    sides: ComparedSides,
    group: QueryGroup | None,
    others: Context,
    queries: Mapping[str, Context],
    rule: Rule,
) -> GroupConclusion:
    over = tuple(name for name, context in queries.items() if _over(sides, context))
    paired = [_pairs(sides, context) for context in queries.values()]
    complete = len(block_means([pairs_of_query.log_ratios for pairs_of_query in paired]))
    verdict = over_timeout(complete, rule) if over else sides.decided_together(paired, rule)
    foretold = verdict.kind is VerdictKind.INCONCLUSIVE and sides.plan.study.measure.sequential
    return GroupConclusion(
        group=group.name if group else "",
        title=group.title if group else None,
        context=others,
        queries=tuple(queries),
        over=over,
        verdict=verdict,
        bound=_bound(sides, list(queries.values()), rule) if over else None,
        needed=pairs_to_decide(verdict) if foretold else None,
    )


def _pairs(sides: ComparedSides, context: Context) -> PairedValues:
    return pair(
        sides.observations,
        context=context,
        metric=QUERY_TIME.name,
        old=sides.old,
        new=sides.new,
    )


def _over(sides: ComparedSides, context: Context) -> list[Observation]:
    return [
        observation
        for observation in sides.observations
        if observation.context == context
        and observation.side in (sides.old, sides.new)
        and OVER_TIMEOUT.name in observation.metrics
    ]


def _bound(sides: ComparedSides, contexts: Sequence[Context], rule: Rule) -> RatioBound | None:
    """The limit in the place of times that exceeded it: the end of the interval of such means."""
    exceeded = {observation.side for context in contexts for observation in _over(sides, context)}
    if len(exceeded) != 1:
        return None
    means = list(block_means([_with_limits(sides, context) for context in contexts]).values())
    effect = sides.decided(means, rule, len(contexts)).effect
    if effect is None:
        return None
    at_most = exceeded == {sides.old}
    return RatioBound(effect.high if at_most else effect.low, at_most)


def _with_limits(sides: ComparedSides, context: Context) -> dict[int, float]:
    times: dict[str, dict[int, float]] = {sides.old: {}, sides.new: {}}
    for observation in sides.observations:
        if observation.context == context and observation.side in times:
            value = observation.metrics.get(
                OVER_TIMEOUT.name, observation.metrics.get(QUERY_TIME.name, math.nan)
            )
            if value > 0:
                times[observation.side][observation.block] = value
    old, new = times[sides.old], times[sides.new]
    return {block: math.log(new[block] / old[block]) for block in sorted(old.keys() & new.keys())}


def step_verdicts(
    sides: ComparedSides, context: Context, levels: Sequence[str]
) -> tuple[Verdict | None, ...]:
    """Each level of a sweep against the one before it (there are as many steps as new sides); None
    of the first, and where a trial exceeded its limit there is no number."""
    rule = sides.rule()
    verdicts: list[Verdict | None] = [None]
    for old, new in itertools.pairwise(levels):
        step = ComparedSides(sides.plan, sides.workload, sides.observations, old, new)
        paired = _pairs(step, context)
        over = _over(step, context)
        verdicts.append(
            over_timeout(len(paired.log_ratios), rule)
            if over
            else step.decided_together([paired], rule)
        )
    return tuple(verdicts)
