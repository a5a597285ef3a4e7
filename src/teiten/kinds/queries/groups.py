"""Conclusions on several queries together: the geometric mean of their ratios in each block.

Each group has its queries' part of α, so that groups which share no query hold together, and one
of a single query says what that query's own interval says. Where a query exceeded its time limit
there is no mean; but the limit stands for a time that is no less, and so bounds the ratio from one
side, as long as only one side exceeded it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.model.evidence import block_means
from teiten.analysis.model.observations import Observation, without
from teiten.analysis.model.verdict import Verdict, VerdictKind
from teiten.analysis.verdict.contrasts import contexts_of, told_incomplete
from teiten.analysis.verdict.pairs import pair
from teiten.analysis.verdict.sequential import decide_by_design, pairs_to_decide
from teiten.analysis.verdict.verdict import Rule, over_timeout
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.kinds.queries.model import OVER_TIMEOUT, QUERY, QUERY_TIME, QueryGroup, queries_of
from teiten.kinds.queries.results import GroupConclusion, RatioBound
from teiten.model.plan import Context, Plan


@dataclass(frozen=True)
class ComparedSides:
    """The counted trials of a workload of queries, and the two sides that are compared."""

    plan: Plan
    workload: str
    observations: Sequence[Observation]
    old: str
    new: str

    def verdict(self, contexts: Sequence[Context]) -> Verdict:
        """Decide on the mean over several queries, each at one combination of levels, in the blocks
        that have them all, in the way of the campaign's design; without a number where a trial
        exceeded its limit."""
        alpha = comparison_alpha(self.plan, self.workload, len(contexts))
        rule = Rule(self.plan.study.measure.delta, alpha, QUERY_TIME.better)
        paired = [
            pair(
                self.observations,
                context=context,
                metric=QUERY_TIME.name,
                old=self.old,
                new=self.new,
            )
            for context in contexts
        ]
        ratios = [pairs.log_ratios for pairs in paired]
        means = list(block_means(ratios).values())
        if any(self.over(context) for context in contexts):
            return over_timeout(len(means), rule)
        unusable = sum(pairs.unusable for pairs in paired)
        measure = self.plan.study.measure
        verdict = decide_by_design(measure, means, rule, unusable=unusable, levels=len(ratios))
        return told_incomplete(verdict, ratios)

    def over(self, context: Context) -> frozenset[str]:
        """The sides of which a trial exceeded its limit."""
        return frozenset(
            observation.side
            for observation in self.observations
            if observation.context == context
            and observation.side in (self.old, self.new)
            and OVER_TIMEOUT.name in observation.metrics
        )

    def bound(self, contexts: Sequence[Context]) -> RatioBound | None:
        """The limit in the place of times that exceeded it, where only one side did: the end of
        the interval of such means."""
        exceeded = frozenset[str]().union(*map(self.over, contexts))
        if len(exceeded) != 1:
            return None
        effect = self._with_limits().verdict(contexts).effect
        if effect is None:
            return None
        at_most = exceeded == {self.old}
        return RatioBound(effect.high if at_most else effect.low, at_most)

    def _with_limits(self) -> ComparedSides:
        """With the limits that trials exceeded as their times."""
        limited = [
            replace(observation, metrics={QUERY_TIME.name: observation.metrics[OVER_TIMEOUT.name]})
            if OVER_TIMEOUT.name in observation.metrics
            else observation
            for observation in self.observations
        ]
        return replace(self, observations=limited)


def conclusions(sides: ComparedSides) -> Iterator[GroupConclusion]:
    """Conclude about every group in every context; about all queries too, where there are several
    contexts. Nothing where neither says more than the mean over all levels does."""
    contexts = _by_others(sides)
    groups: list[QueryGroup | None] = [None] if len(contexts) > 1 else []
    groups += queries_of(sides.plan.study.workload(sides.workload)).groups
    for others, queries in contexts.items():
        for group in groups:
            mine = {
                name: context
                for name, context in queries.items()
                if group is None or name in group.queries
            }
            if mine:
                yield _conclusion(sides, group, others, mine)


def bounds(sides: ComparedSides) -> Iterator[tuple[Context, RatioBound]]:
    """Bound the ratio of every query that exceeded its limit, where only one side did."""
    for context in contexts_of(sides.plan, sides.workload):
        bound = sides.bound([context])
        if bound is not None:
            yield context, bound


def _by_others(sides: ComparedSides) -> dict[Context, dict[str, Context]]:
    """The contexts of the queries by the levels of the other factors."""
    contexts: dict[Context, dict[str, Context]] = {}
    for context in contexts_of(sides.plan, sides.workload):
        query = dict(context).get(QUERY, "")
        contexts.setdefault(without(context, QUERY), {})[query] = context
    return contexts


def _conclusion(
    sides: ComparedSides, group: QueryGroup | None, others: Context, queries: Mapping[str, Context]
) -> GroupConclusion:
    contexts = list(queries.values())
    verdict = sides.verdict(contexts)
    foretold = verdict.kind is VerdictKind.INCONCLUSIVE and sides.plan.study.measure.sequential
    return GroupConclusion(
        group=group.name if group else "",
        title=group.title if group else None,
        context=others,
        queries=tuple(queries),
        over=tuple(name for name, context in queries.items() if sides.over(context)),
        verdict=verdict,
        bound=sides.bound(contexts),
        needed=pairs_to_decide(verdict) if foretold else None,
    )


def step_verdicts(
    sides: ComparedSides, context: Context, levels: Sequence[str]
) -> tuple[Verdict | None, ...]:
    """Each level of a sweep against the one before it (there are as many steps as new sides); None
    of the first."""
    steps = (replace(sides, old=old, new=new) for old, new in itertools.pairwise(levels))
    return (None, *(step.verdict([context]) for step in steps))
