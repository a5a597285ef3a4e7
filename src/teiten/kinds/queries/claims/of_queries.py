"""The basis of claims about single queries: a number by query, for each side, block by block.

Findings on the times of queries: new against old, what it gains, and which query is quicker.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal, NamedTuple

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
    ClaimStanding,
    ClaimWords,
    PublishedQueries,
)
from teiten.analysis.model.comparison import Systems
from teiten.analysis.model.evidence import (
    Blocks,
    EvidenceTable,
    block_means,
    differences,
    log_changes,
    logarithm,
)
from teiten.analysis.model.predicate import Ground, Predicate, UnmetError
from teiten.claims.curves import RISES
from teiten.claims.forms import FORM, RatioBounds, Word, Yes
from teiten.claims.sides import ANY_BLOCK, places_of
from teiten.kinds.queries.model import QUERY, plan_measure
from teiten.study.tables import Words


@dataclass(frozen=True, config=FORM)
class QueryBounds(RatioBounds):
    """Where a number must lie for these queries; empty for every query of the workload."""

    queries: Words = ()
    mean: Yes = False
    """Their geometric mean; else each of them."""


QueryParts = Annotated[tuple[QueryBounds, ...], Field(strict=False, min_length=1)]


OfQuery = Mapping[str, Blocks]
"""A number of each query, by block; a planned query without a counted trial has no blocks."""


class ClaimSides(NamedTuple):
    """A number of the sides of a claim on one server: of old and new, or of one."""

    server: str
    """Its level, where the campaign has several; else empty."""
    labels: tuple[str, ...]
    """The levels of the contrasted factor; empty without a contrast."""
    values: tuple[OfQuery, ...]

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(self.values[0])


class OfQueries(Predicate):
    """About queries, block by block; empty ``queries`` are every one of the workload."""

    queries: Words = ()

    @property
    def queries_named(self) -> tuple[str, ...]:
        """The queries that it speaks of; empty for all."""
        return self.queries

    @property
    def only_at(self) -> Mapping[str, Collection[str]]:
        return {QUERY: self.queries_named} if self.queries_named else {}

    def is_counted(self, claim: Claim) -> bool:
        measure = plan_measure(claim.metric)
        return measure is not None and measure[0].counted


class OfSides(OfQueries):
    """About a number of each query, on every server by itself."""

    @abstractmethod
    def asked(self, of_claim: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        """List the questions about a claim's sides. Raises UnmetError for queries they lack."""

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        """Raises UnmetError also where counted trials tell nothing of a metric of plans."""
        for sides in measured_sides(claim, ground.evidence, claim.metric):
            values = [blocks for side in sides.values for blocks in side.values()]
            if plan_measure(claim.metric) is not None and not any(values):
                raise UnmetError("no-plans")
            yield from self.asked(sides, claim.metric)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        table = claim.published
        if isinstance(table, PublishedQueries):
            yield from self.asked(published_sides(table), claim.metric)


class OfParts(OfSides):
    """About numbers within the bounds of its parts."""

    parts: QueryParts

    @property
    def queries_named(self) -> tuple[str, ...]:
        every = tuple(query for part in self.parts for query in part.queries)
        return every if all(part.queries for part in self.parts) else ()

    def bounded(
        self, values: OfQuery, kind: CheckKind, of_claim: ClaimSides, metric: str
    ) -> Iterator[ClaimQuestion]:
        for part in self.parts:
            queries = asked_queries(part.queries, of_claim.queries)
            for group in [queries] if part.mean else [(query,) for query in queries]:
                yield ClaimQuestion(
                    kind,
                    of_claim.labels,
                    (),
                    means_of(values, group),
                    *part.log_bounds,
                    classes=(group,),
                    server=of_claim.server,
                    metric=metric if plan_measure(metric) else "",
                    averaged=len(group),
                )


def published_sides(table: PublishedQueries) -> ClaimSides:
    """A table as one block, without replicates."""
    return ClaimSides(
        "",
        tuple(column.label for column in table.columns),
        tuple(
            {query: {ANY_BLOCK: value} for query, value in column.values}
            for column in table.columns
        ),
    )


def measured_sides(claim: Claim, evidence: EvidenceTable, metric: str) -> Iterator[ClaimSides]:
    """The claim's sides on each server. Raises UnmetError where the campaign has none."""
    named = claim.predicate.only_at.get(QUERY, ())
    planned = planned_queries(claim, evidence)
    queries = [query for query in planned if not named or query in named]
    for place in places_of(claim, evidence, along=(QUERY,)):
        values = (
            {query: side.further(QUERY, query).blocks(evidence, metric) for query in queries}
            for side in place.sides
        )
        yield ClaimSides(place.server, place.labels, tuple(values))


def planned_queries(claim: Claim, evidence: EvidenceTable) -> tuple[str, ...]:
    """The planned queries of the claim's workload."""
    return evidence.levels(claim.workload).get(QUERY, ())


def changes(old: OfQuery, new: OfQuery) -> dict[str, dict[int, float]]:
    """ln(new/old) by query and block; NaN where a value has no logarithm."""
    return {query: log_changes(before, new.get(query, {})) for query, before in old.items()}


def asked_queries(queries: tuple[str, ...], known: Sequence[str]) -> tuple[str, ...]:
    """Those of a predicate, or all. Raises UnmetError where the campaign lacks some."""
    missing = [query for query in queries if query not in known]
    if missing or not known:
        raise UnmetError("queries", queries=", ".join(missing))
    return queries or tuple(known)


def logs_of(values: OfQuery) -> dict[str, dict[int, float]]:
    """ln by query and block; NaN where a value has none."""
    return {
        query: {block: logarithm(value) for block, value in blocks.items()}
        for query, blocks in values.items()
    }


def means_of(values: OfQuery, queries: tuple[str, ...]) -> dict[int, float]:
    """The mean over queries, of each block that has them all."""
    return block_means([values.get(query, {}) for query in queries])


def listed(words: ClaimWords, queries: Sequence[str]) -> str:
    """One query by its name, several as their mean."""
    text = words("list.separator").join(queries)
    return text if len(queries) == 1 else words("claim.mean-of", queries=text)


def of_metric(words: ClaimWords, metric: str, what: str) -> str:
    """With the words for a number that is taken from plans; else as it is."""
    measure = plan_measure(metric)
    return what if measure is None else words(f"claim.{measure[0].value}", of=measure[1], what=what)


def all_or_none(agree: Sequence[bool]) -> ClaimStanding:
    """Plans that differ among repetitions decide nothing."""
    if all(agree):
        return ClaimStanding.REPRODUCED
    return ClaimStanding.INCONCLUSIVE if any(agree) else ClaimStanding.CONTRADICTED


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
        measure = systems.here[names[0]].plan.study.measure
        return tuple(
            unpaired_check(question, samples, measure.alpha, among=len(asked), delta=measure.delta)
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
