"""Claims about workers: as many as a rule says, plans that share a scan, time by their number."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from teiten.analysis.claims.curves import Curve, log_changes
from teiten.analysis.claims.queries import (
    QUERY,
    Blocks,
    Sides,
    by_query,
    in_cell,
    known_levels,
    wanted_levels,
)
from teiten.analysis.claims.query_questions import asked_queries
from teiten.analysis.claims.questions import Question, UnmetError, around
from teiten.analysis.explain.worker_rules import workers_by_partitions, workers_by_size
from teiten.analysis.verdict.pairs import Observation
from teiten.model.claims import Check, CheckKind, Claim, ClaimStanding
from teiten.model.plan import Plan
from teiten.model.query_claims import (
    LAUNCHED,
    PlanHas,
    WorkerCurve,
    WorkerRule,
    WorkersByRule,
)

PRINTED_LEAST = 1024
"""Blocks from which a table has a worker: min_parallel_table_scan_size, which the reports left as
it is."""


def workers_by_rule(
    predicate: WorkersByRule, launched: Sides, by_rule: Sides, permitted: Sides
) -> Iterator[Check]:
    """A check for each query on one server.

    Raises UnmetError where plans or sizes were not recorded, and where the rule cannot be told from
    the limit: the data are too small for any worker, or the parameters permit fewer.
    """
    for query in asked_queries(predicate.queries, launched.queries):
        found, wanted, limit = (
            one.sides[0].by_query[query] for one in (launched, by_rule, permitted)
        )
        if not found:
            raise UnmetError("no-plans")
        blocks = sorted(found.keys() & wanted.keys())
        if not blocks:
            raise UnmetError("sizes")
        rule = max(wanted[block] for block in blocks)
        free = min(limit.get(block, math.inf) for block in blocks)
        if rule < 1:
            raise UnmetError("too-small")
        if rule > free:
            raise UnmetError("permitted", needed=f"{rule:g}", here=f"{free:g}")
        yield _by_rule(predicate, query, launched.server, [(found[b], wanted[b]) for b in blocks])


def printed_workers(predicate: WorkersByRule, table: Sides) -> Iterator[Check]:
    """The same of a published table: by the printed size or number of partitions."""
    if not predicate.printed_from:
        return
    if predicate.rule is WorkerRule.PARTITIONS:
        by_rule = workers_by_partitions(predicate.printed_from)
    else:
        by_rule = workers_by_size(predicate.printed_from, PRINTED_LEAST)
    for query in asked_queries(predicate.queries, table.queries):
        found = table.sides[0].by_query[query].values()
        yield _by_rule(predicate, query, "", [(one, float(by_rule)) for one in found])


def _by_rule(
    predicate: WorkersByRule, query: str, server: str, plans: Sequence[tuple[float, float]]
) -> Check:
    agree = [
        launched < wanted if predicate.fewer else launched == wanted for launched, wanted in plans
    ]
    launched, wanted = median(one for one, _ in plans), median(one for _, one in plans)
    ratio = (launched + 1) / (wanted + 1)
    return Check(
        CheckKind.WORKERS,
        sides=(),
        at=(launched, wanted),
        ratio=ratio,
        low=ratio,
        high=ratio,
        least=None if predicate.fewer else 1.0,
        most=wanted / (wanted + 1) if predicate.fewer else 1.0,
        pairs=len(plans),
        standing=_all_or_none(agree),
        classes=((query,),),
        server=server,
    )


def plans_having(predicate: PlanHas, found: Sides) -> Iterator[Check]:
    """A check for each query on one server. Raises UnmetError where plans were not recorded."""
    for query in asked_queries(predicate.queries, found.queries):
        plans = found.sides[0].by_query[query].values()
        if not plans:
            raise UnmetError("no-plans")
        agree = [bool(one) != predicate.absent for one in plans]
        share = sum(agree) / len(agree)
        yield Check(
            CheckKind.HAS,
            sides=predicate.nodes,
            at=(float(sum(map(bool, plans))), float(len(plans))),
            ratio=share,
            low=share,
            high=share,
            least=1.0,
            most=None,
            pairs=len(agree),
            standing=_all_or_none(agree),
            classes=((query,),),
            server=found.server,
        )


def _all_or_none(agree: Sequence[bool]) -> ClaimStanding:
    """Plans that differ among repetitions decide nothing."""
    if all(agree):
        return ClaimStanding.REPRODUCED
    return ClaimStanding.INCONCLUSIVE if any(agree) else ClaimStanding.CONTRADICTED


def curve_questions(
    claim: Claim,
    predicate: WorkerCurve,
    plan: Plan,
    observations: Sequence[Observation],
    cores: int,
) -> Iterator[Question]:
    """The time by permitted workers, of each query on each server."""
    known = known_levels(plan, claim.workload)
    levels = [level for level in known.get(predicate.factor, ()) if level.isdecimal()]
    for server, sides in wanted_levels(claim, plan, known, axis=predicate.factor):
        _, at = sides[0]
        cells = {
            float(level): in_cell(
                plan, observations, claim.workload, {**at, predicate.factor: level}
            )
            for level in levels
        }
        for query in known.get(QUERY, ()):
            times, launched = (
                {level: by_query(found, [query], metric)[query] for level, found in cells.items()}
                for metric in (claim.metric, LAUNCHED)
            )
            curve = Curve(server, times)
            yield from shape(predicate, curve, _cap(launched), cores, query)


def _cap(launched: Mapping[float, Blocks]) -> int:
    """The most workers that were ever launched. Raises UnmetError without plans."""
    found = [one for blocks in launched.values() for one in blocks.values()]
    if not found:
        raise UnmetError("no-plans")
    return int(max(found))


def shape(
    predicate: WorkerCurve, curve: Curve, cap: int, cores: int, query: str
) -> Iterator[Question]:
    """Faster at every step to the cap and to the cores; or within a share beyond the cap."""
    if cap < 1:
        raise UnmetError("too-small")
    below = [level for level in curve.levels if level <= cap]
    if predicate.within is None:
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
        yield _step(curve, below[-1], level, around(predicate.within), query)


def _step(
    curve: Curve, first: float, second: float, bounds: tuple[float, float], query: str
) -> Question:
    values = tuple(log_changes(curve, first, curve, second).values())
    return Question(
        CheckKind.PERMITTED,
        (),
        (first, second),
        values,
        *bounds,
        classes=((query,),) if query else (),
        server=curve.side,
    )
