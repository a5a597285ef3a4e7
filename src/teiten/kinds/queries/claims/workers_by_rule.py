"""A claim that as many workers are launched as a rule of the planner says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import StrEnum
from statistics import median
from typing import Annotated, Literal, Self

from pydantic import Field, PlainValidator, model_validator
from pydantic.dataclasses import dataclass

from teiten.analysis.explain.worker_rules import workers_by_partitions, workers_by_size
from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimWords, PublishedQueries
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.claims.forms import FORM, Yes
from teiten.kinds.queries.claims.bounded import asked_queries
from teiten.kinds.queries.claims.evidence import (
    LAUNCHED,
    PERMITTED,
    SERIAL,
    Executed,
    all_or_none,
    listed,
)
from teiten.kinds.queries.claims.predicate import (
    ClaimSides,
    OfQueries,
    measured_sides,
    published_sides,
)
from teiten.study.tables import Words
from teiten.study.values import one_of

PRINTED_LEAST = 1024
"""Blocks from which a table has a worker: min_parallel_table_scan_size, which the reports left as
it is."""


class RuleOfWorkers(StrEnum):
    """How the planner chooses the number of workers (src/backend/optimizer/path/allpaths.c)."""

    SIZE = "size"
    """One more for each tripling of the table's or the index's size."""
    PARTITIONS = "partitions"
    """The number of binary digits of the number of partitions."""


def _rule(value: object) -> RuleOfWorkers:
    return RuleOfWorkers(one_of(value, [RuleOfWorker.value for RuleOfWorker in RuleOfWorkers]))


def _said(check: Check, words: ClaimWords) -> str:
    launched, rule = (words.number(count) for count in check.at)
    queries = listed(words, check.classes[0])
    return words("claim.workers", queries=queries, launched=launched, rule=rule)


def _bound(check: Check) -> str:
    return "claim.fewer-than-rule" if check.least is None else "claim.bound-workers"


WORKERS = CheckKind("workers", _said, bound=_bound)
"""Processes, the workers and their leader, launched and by a rule; ``at`` holds the workers."""


@dataclass(frozen=True, config=FORM)
class WorkersByRule(OfQueries):
    """The number of launched workers is what a rule says or, with ``fewer``, below it."""

    rule: Annotated[RuleOfWorkers, PlainValidator(_rule)]
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
        quantity = f"workers_by_{self.rule.value}"
        return f"{quantity}:{self.relation}" if self.relation else quantity

    @property
    def queries_named(self) -> tuple[str, ...]:
        return self.queries

    def of_plan(self, executed: Executed) -> Iterator[tuple[str, float]]:
        yield LAUNCHED, executed.launched
        if executed.serial:
            yield SERIAL, 1.0
        by_rule = self._wanted(executed)
        if by_rule is not None and executed.permitted is not None:
            yield self.metric, float(by_rule)
            yield PERMITTED, executed.permitted

    def _wanted(self, executed: Executed) -> int | None:
        """Workers by the rule; None where sizes were not recorded, or none is known for a plan."""
        if not self.relation:
            return executed.of_source
        if self.rule is RuleOfWorkers.PARTITIONS:
            return executed.by_partitions(self.relation)
        return executed.by_size(self.relation)

    def questions(self, claim: Claim, ground: Ground) -> Iterator[Check]:
        wanted = (LAUNCHED, self.metric, PERMITTED, SERIAL)
        measured = (measured_sides(claim, ground.evidence, metric) for metric in wanted)
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
                sides.sides[0].by_query[query] for sides in (launched, by_rule, permitted, serial)
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
            self._check(query, "", [(one, float(by_rule)) for one in found.values()])
            for query in asked_queries(self.queries, sides.queries)
            for found in [sides.sides[0].by_query[query]]
        ]

    def _check(self, query: str, server: str, plans: Sequence[tuple[float, float]]) -> Check:
        agree = [
            launched < wanted if self.fewer else launched == wanted for launched, wanted in plans
        ]
        launched, wanted = median(one for one, _ in plans), median(one for _, one in plans)
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
