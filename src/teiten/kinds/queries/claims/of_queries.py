"""Findings on the times of queries: new against old, what it gains, and which query is quicker."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.across.unpaired import unpaired_check
from teiten.analysis.model.claims import (
    FIRST,
    LAST,
    Check,
    CheckKind,
    Claim,
    ClaimQuestion,
    ClaimWords,
)
from teiten.analysis.model.comparison import Systems
from teiten.analysis.model.evidence import Blocks, EvidenceTable, differences
from teiten.analysis.model.predicate import Aliases, Ground, UnmetError
from teiten.claims.curves import RISES
from teiten.claims.forms import FORM, Word
from teiten.kinds.queries.claims.sides import (
    ClaimSides,
    OfParts,
    OfQuery,
    OfSides,
    QueryParts,
    asked_queries,
    changes,
    listed,
    logs_of,
    means_of,
    measured_sides,
    of_metric,
)
from teiten.study.tables import Words


def _said(check: Check, words: ClaimWords) -> str:
    key = "claim.queries" if check.metric else "claim.speed-up"
    old, *_, new = (words.side(side) for side in check.sides)
    what = words(key, queries=listed(words, check.classes[0]), old=old, new=new)
    return of_metric(words, check.metric, what)


QUERIES = CheckKind("queries", _said, speed_up=True, of_sides=True)
"""New and old, of a query or of the mean over several."""


def _said_of_gain(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    return words("claim.gains", queries=listed(words, check.classes[0]), old=old, new=new)


GAINS = CheckKind("gains", _said_of_gain)
"""The gain on the new system by the gain on the old one."""


@dataclass(frozen=True, config=FORM)
class QueryEffect(OfParts):
    """The ratio new/old of the claim's contrast lies within bounds."""

    parts: QueryParts
    factor: Word | None = None
    """The ratio, of two campaigns, is of how many times queries are faster at this factor's last
    level than at its first; None for that of the claim's metric."""
    kind: Literal["query-effect"] = "query-effect"
    aliases: ClassVar[Aliases] = {"query-gain": {}}

    @property
    def compares(self) -> bool:
        return True

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        """Raises UnmetError where it is about two campaigns."""
        if self.factor is not None:
            raise UnmetError("compared")
        yield from super().questions(claim, ground)

    def asked(self, of_claim: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        yield from self.bounded(changes(*of_claim.values), QUERIES, of_claim, metric)

    def between(self, claim: Claim, systems: Systems) -> tuple[Check, ...]:
        """Check the ratio of two systems, of one campaign each, on each server that both have.
        Nothing is paired: Welch's interval of the blocks' means, as for curves. Raises UnmetError
        where the campaigns do not have what it takes.
        """
        if claim.contrast is None:
            raise UnmetError("compared")
        names = (claim.contrast.old, claim.contrast.new)
        old, new = (self._logs(claim, systems.here[name]) for name in names)
        shared = [server for server in old if server in new]
        if not shared:
            raise UnmetError("no-common-server")
        kind = QUERIES if self.factor is None else GAINS
        asked = [
            (
                question,
                [tuple(means_of(side, question.classes[0]).values()) for side in sides.values],
            )
            for server in shared
            for sides in (_shared_queries(names, old[server], new[server]),)
            for question in self.bounded({}, kind, sides, claim.metric)
        ]
        alpha = systems.here[names[0]].plan.study.measure.alpha
        return tuple(
            unpaired_check(question, samples, alpha, among=len(asked))
            for question, samples in asked
        )

    def _logs(self, claim: Claim, evidence: EvidenceTable) -> dict[str, OfQuery]:
        """The logarithms of what is compared on each server of a campaign: the claim's metric, or
        the gain by the factor's last level against its first, which belong to the same blocks."""
        if self.factor is None:
            return metric_by_server(claim, evidence)
        first, last = (
            metric_by_server(replace(claim, at=(*claim.at, (self.factor, level))), evidence)
            for level in (FIRST, LAST)
        )
        return {server: _shorter(times, last[server]) for server, times in first.items()}


def _said_of_order(check: Check, words: ClaimWords) -> str:
    first, second = (listed(words, queries) for queries in check.classes)
    return words("claim.order", first=first, second=second)


ORDER = CheckKind("order", _said_of_order)
"""The ratio of new and old of the second class of queries, and that of the first."""
Class = Annotated[Words, Field(min_length=1)]


@dataclass(frozen=True, config=FORM)
class QueryOrder(OfSides):
    """The ratio new/old rises from each class of queries to the next, as their geometric means."""

    classes: Annotated[tuple[Class, ...], Field(strict=False, min_length=2)]
    kind: Literal["query-order"] = "query-order"

    @property
    def compares(self) -> bool:
        return True

    def asked(self, of_claim: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        ratios, known = changes(*of_claim.values), of_claim.queries
        means = {group: means_of(ratios, asked_queries(group, known)) for group in self.classes}
        for first, second in itertools.pairwise(self.classes):
            yield ClaimQuestion(
                ORDER,
                of_claim.labels,
                (),
                differences(means[first], means[second]),
                *RISES,
                classes=(first, second),
                server=of_claim.server,
            )


def _shared_queries(names: tuple[str, str], old: OfQuery, new: OfQuery) -> ClaimSides:
    """The logarithms of both systems, of the queries that both have."""
    shared = [query for query in old if query in new]
    values = ({query: side[query] for query in shared} for side in (old, new))
    return ClaimSides("", names, tuple(values))


def metric_by_server(claim: Claim, evidence: EvidenceTable) -> dict[str, OfQuery]:
    """The logarithms of the claim's metric on each server of a campaign."""
    return {
        sides.server: {
            query: evidence.alone(logs) for query, logs in logs_of(sides.values[0]).items()
        }
        for sides in measured_sides(replace(claim, contrast=None), evidence, claim.metric)
    }


def _shorter(first: OfQuery, last: OfQuery) -> dict[str, Blocks]:
    """ln(time at the first level / time at the last), by query and block that have both."""
    return {
        query: differences(last[query], blocks) for query, blocks in first.items() if query in last
    }
