"""Findings on plans: a node that they have or not, a number of theirs within bounds, the parallel
workers that are launched by a rule of the planner, and the time by the number permitted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from statistics import median
from typing import Annotated, Literal, Self

from pydantic import Field, PlainValidator, model_validator
from pydantic.dataclasses import dataclass

from teiten.analysis.explain.worker_rules import workers_by_partitions, workers_by_size
from teiten.analysis.model.claims import (
    Check,
    CheckKind,
    Claim,
    ClaimQuestion,
    ClaimWords,
    PublishedCurves,
    PublishedQueries,
)
from teiten.analysis.model.evidence import Blocks
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.claims.curves import ClaimCurve, around, level_changes, published
from teiten.claims.forms import FORM, Count, Tolerance, Word, Yes, worded
from teiten.claims.sides import places_of
from teiten.kinds.queries.claims.of_queries import (
    ClaimSides,
    OfParts,
    OfQueries,
    QueryParts,
    all_or_none,
    asked_queries,
    listed,
    logs_of,
    measured_sides,
    of_metric,
    planned_queries,
    published_sides,
)
from teiten.kinds.queries.model import QUERY, plan_measure
from teiten.kinds.queries.plan_numbers import BY_PARTITIONS, BY_SIZE, LAUNCHED, PERMITTED, SERIAL
from teiten.kinds.queries.plan_numbers import HAS as HAS_NODE
from teiten.study.tables import Words
from teiten.study.values import member


def _having(check: Check, words: ClaimWords) -> str:
    having, count = (words.number(plans) for plans in check.at)
    nodes = words("list.or").join(check.sides)
    queries = listed(words, check.classes[0])
    return words("claim.has", queries=queries, nodes=nodes, found=having, count=count)


HAS = CheckKind("has", _having, bound=lambda _check: "claim.bound-has")
"""The share of the plans that have a node."""


@dataclass(frozen=True, config=FORM)
class PlanHas(OfQueries):
    """The plans have, or have not, a node that works in parallel on a share of its rows."""

    nodes: Annotated[Words, Field(min_length=1)]
    """Types as EXPLAIN in text names them: ``Parallel Index Scan``. One of them is enough."""
    queries: Words = ()
    absent: Yes = False
    kind: Literal["plan-has"] = "plan-has"

    @property
    def metric(self) -> str:
        """The name under which it is observed: 1 or 0."""
        return f"{HAS_NODE}:{'|'.join(self.nodes)}"

    def quantities(self, claim: Claim) -> tuple[str]:
        return (self.metric,)

    def questions(self, claim: Claim, ground: Ground) -> Iterator[Check]:
        for sides in measured_sides(claim, ground.evidence, self.metric):
            yield from self._of_server(sides)

    def _of_server(self, of_claim: ClaimSides) -> Iterator[Check]:
        """A check for each query on one server. Raises UnmetError without recorded plans."""
        for query in asked_queries(self.queries, of_claim.queries):
            plans = of_claim.values[0][query].values()
            if not plans:
                raise UnmetError("no-plans")
            agree = [bool(plan) != self.absent for plan in plans]
            share = sum(agree) / len(agree)
            yield Check(
                HAS,
                sides=self.nodes,
                at=(float(sum(map(bool, plans))), float(len(plans))),
                ratio=share,
                low=share,
                high=share,
                least=1.0,
                most=None,
                pairs=len(agree),
                standing=all_or_none(agree),
                classes=((query,),),
                server=of_claim.server,
            )


VALUE = CheckKind(
    "value",
    lambda check, words: of_metric(words, check.metric, listed(words, check.classes[0])),
)
"""The metric itself, no ratio."""


@dataclass(frozen=True, config=FORM)
class PlanValue(OfParts):
    """The claim's metric, a number taken from plans, lies within bounds."""

    parts: QueryParts
    kind: Literal["plan-value"] = "plan-value"

    def refuses(self, metric: str) -> str:
        return "" if plan_measure(metric) else "is about a metric taken from plans"

    def asked(self, of_claim: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        yield from self.bounded(logs_of(of_claim.values[0]), VALUE, of_claim, metric)


PRINTED_LEAST = 1024
"""Blocks from which a table has a worker: min_parallel_table_scan_size, as the reports left it."""


class RuleOfWorkers(StrEnum):
    """How the planner chooses the number of workers (src/backend/optimizer/path/allpaths.c)."""

    SIZE = "size"
    """One more for each tripling of the table's or the index's size."""
    PARTITIONS = "partitions"
    """The number of binary digits of the number of partitions."""


def _launched(check: Check, words: ClaimWords) -> str:
    launched, rule = (words.number(count) for count in check.at)
    queries = listed(words, check.classes[0])
    return words("claim.workers", queries=queries, launched=launched, rule=rule)


def _bound(check: Check) -> str:
    return "claim.fewer-than-rule" if check.least is None else "claim.bound-workers"


WORKERS = CheckKind("workers", _launched, bound=_bound)
"""Processes, the workers and their leader, launched and by a rule; ``at`` holds the workers."""


@dataclass(frozen=True, config=FORM)
class WorkersByRule(OfQueries):
    """The number of launched workers is what a rule says or, with ``fewer``, below it."""

    rule: Annotated[RuleOfWorkers, PlainValidator(partial(member, RuleOfWorkers))]
    queries: Words = ()
    relation: str = ""
    """The table of the rule; empty for what the plan scans first in parallel."""
    fewer: Yes = False
    printed_from: Annotated[int, Field(ge=0, strict=True)] = 0
    """In print: the table's size in blocks, or the number of partitions; 0 where it is not said."""
    kind: Literal["workers-by-rule"] = "workers-by-rule"

    @model_validator(mode="after")
    def _of_a_table(self) -> Self:
        if not self.relation and (self.fewer or self.rule is RuleOfWorkers.PARTITIONS):
            raise ValueError("needs the relation whose size or partitions count")
        return self

    @property
    def metric(self) -> str:
        """The name under which a trial's number by the rule is observed."""
        quantity = BY_SIZE if self.rule is RuleOfWorkers.SIZE else BY_PARTITIONS
        return f"{quantity}:{self.relation}" if self.relation else quantity

    def quantities(self, claim: Claim) -> tuple[str, ...]:
        return LAUNCHED, self.metric, PERMITTED, SERIAL

    def questions(self, claim: Claim, ground: Ground) -> Iterator[Check]:
        names = self.quantities(claim)
        measured = (measured_sides(claim, ground.evidence, name) for name in names)
        for sides in zip(*measured, strict=True):
            yield from self._of_server(*sides)

    def _of_server(
        self, launched: ClaimSides, by_rule: ClaimSides, permitted: ClaimSides, serial: ClaimSides
    ) -> Iterator[Check]:
        """A check for each query on one server.

        Raises UnmetError where plans or sizes were not recorded, where plans are serial, of which
        no rule says anything, and where the rule cannot be told from the limit: the data are too
        small for any worker, or the parameters permit fewer.
        """
        for query in asked_queries(self.queries, launched.queries):
            workers, wanted, limit, alone = (
                sides.values[0][query] for sides in (launched, by_rule, permitted, serial)
            )
            if not workers:
                raise UnmetError("no-plans")
            with_workers = workers.keys() - alone.keys()
            if not with_workers and (self.fewer or not wanted):
                raise UnmetError("serial")
            counted = with_workers if self.fewer else workers.keys()
            blocks = sorted(counted & wanted.keys())
            if not blocks:
                raise UnmetError("sizes")
            rule = max(wanted[block] for block in blocks)
            free = min(limit.get(block, math.inf) for block in blocks)
            if rule < 1:
                raise UnmetError("too-small")
            if rule > free:
                raise UnmetError("permitted", needed=f"{rule:g}", here=f"{free:g}")
            yield self._check(query, launched.server, [(workers[b], wanted[b]) for b in blocks])

    def printed_questions(self, claim: Claim) -> Sequence[Check]:
        """By the printed size or number of partitions."""
        table = claim.published
        if not isinstance(table, PublishedQueries) or not self.printed_from:
            return ()
        if self.rule is RuleOfWorkers.PARTITIONS:
            by_rule = workers_by_partitions(self.printed_from)
        else:
            by_rule = workers_by_size(self.printed_from, PRINTED_LEAST)
        sides = published_sides(table)
        return [
            self._check(query, "", [(workers, float(by_rule)) for workers in launched.values()])
            for query in asked_queries(self.queries, sides.queries)
            for launched in [sides.values[0][query]]
        ]

    def _check(self, query: str, server: str, plans: Sequence[tuple[float, float]]) -> Check:
        agree = [
            launched < wanted if self.fewer else launched == wanted for launched, wanted in plans
        ]
        launched, wanted = (median(numbers) for numbers in zip(*plans, strict=True))
        ratio = (launched + 1) / (wanted + 1)
        return Check(
            WORKERS,
            sides=(),
            at=(launched, wanted),
            ratio=ratio,
            low=ratio,
            high=ratio,
            least=None if self.fewer else 1.0,
            most=wanted / (wanted + 1) if self.fewer else 1.0,
            pairs=len(plans),
            standing=all_or_none(agree),
            classes=((query,),),
            server=server,
        )


_PERMITTED = worded("claim.permitted", at=("first", "second"))
PERMITTED_WORKERS = CheckKind("permitted", _PERMITTED, speed_up=True)
"""The second number of permitted workers and the first."""


@dataclass(frozen=True, config=FORM)
class WorkerCurve(OfQueries):
    """The time by the number of workers permitted, where a size bounds how many are launched.

    Up to that bound each step is faster; or, beyond it, the time stays within a share.
    """

    factor: Word
    """The parameter that permits workers."""
    printed_cap: Count
    """The most workers that were launched in print."""
    within: Tolerance | None = None
    """The share; None for the steps up to the bound."""
    kind: Literal["worker-curve"] = "worker-curve"

    def quantities(self, claim: Claim) -> tuple[str, ...]:
        return claim.metric, LAUNCHED

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        table = claim.published
        if isinstance(table, PublishedCurves):
            curve = replace(published(table)[0], side="")
            yield from self._steps(curve, self.printed_cap, table.cores, "")

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        """Ask the questions about each query on each server."""
        evidence = ground.evidence
        planned = evidence.levels(claim.workload).get(self.factor, ())
        for place in places_of(claim, evidence, along=(QUERY, self.factor)):
            for query in planned_queries(claim, evidence):
                cells = {
                    float(level): place.sides[0].further(QUERY, query).further(self.factor, level)
                    for level in planned
                    if level.isdecimal()
                }
                times, launched = (
                    {level: cell.blocks(evidence, name) for level, cell in cells.items()}
                    for name in self.quantities(claim)
                )
                yield from self._steps(
                    ClaimCurve(place.server, times), _cap(launched), ground.cores, query
                )

    def _steps(
        self, curve: ClaimCurve, cap: int, cores: int, query: str
    ) -> Iterator[ClaimQuestion]:
        """Faster at every step to the cap and to the cores; or within a share beyond the cap."""
        if cap < 1:
            raise UnmetError("too-small")
        below = [level for level in curve.levels if level <= cap]
        if self.within is None:
            usable = [level for level in below if level < cores]
            if len(usable) < 2:
                raise UnmetError("levels-of-workers")
            for lower, higher in itertools.pairwise(usable):
                yield _step(curve, lower, higher, (-math.inf, 0.0), query)
            return
        beyond = [level for level in curve.levels if level > cap]
        if not below or not beyond:
            raise UnmetError("levels-beyond-workers", cap=str(cap))
        for level in beyond:
            yield _step(curve, below[-1], level, around(self.within), query)


def _cap(launched: Mapping[float, Blocks]) -> int:
    """The most workers that were ever launched. Raises UnmetError without plans."""
    counts = [count for blocks in launched.values() for count in blocks.values()]
    if not counts:
        raise UnmetError("no-plans")
    return int(max(counts))


def _step(
    curve: ClaimCurve, first: float, second: float, bounds: tuple[float, float], query: str
) -> ClaimQuestion:
    values = level_changes(curve, first, curve, second)
    return ClaimQuestion(
        PERMITTED_WORKERS,
        (),
        (first, second),
        values,
        *bounds,
        classes=((query,),) if query else (),
        server=curve.side,
    )
