"""Predicates about queries as questions: where must which mean of logarithms lie?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from teiten.analysis.claims.queries import Blocks, QueryValues, Sides
from teiten.analysis.claims.questions import Question, UnmetError, log_bound
from teiten.analysis.verdict.verdict import log_ratio
from teiten.model.claims import CheckKind
from teiten.model.query_claims import (
    PlanValue,
    Queries,
    QueryBounds,
    QueryEffect,
    QueryOrder,
    plan_measure,
)


def ask(
    predicate: QueryEffect | QueryOrder | PlanValue, found: Sides, metric: str
) -> Iterator[Question]:
    """What a predicate asks of a claim's sides.

    Raises UnmetError for queries that the campaign has not.
    """
    match predicate:
        case QueryEffect(parts):
            old, new = found.sides
            ratios = changes(old, new)
            for part in parts:
                yield from _bounded(part, ratios, CheckKind.QUERIES, found, metric)
        case PlanValue(parts):
            values = logs_of(found.sides[0].by_query)
            for part in parts:
                yield from _bounded(part, values, CheckKind.VALUE, found, metric)
        case QueryOrder(classes):
            yield from _order(classes, found)


def changes(old: QueryValues, new: QueryValues) -> dict[str, dict[int, float]]:
    """ln(new/old) by query and block; NaN where a value is not positive and finite."""
    found: dict[str, dict[int, float]] = {}
    for query, before in old.by_query.items():
        after = new.by_query.get(query, {})
        ratios = {
            block: log_ratio(before[block], after[block])
            for block in sorted(before.keys() & after.keys())
        }
        found[query] = {block: math.nan if one is None else one for block, one in ratios.items()}
    return found


def asked_queries(queries: Queries, found: Sequence[str]) -> Queries:
    """Those of a predicate, or all. Raises UnmetError where the campaign lacks some."""
    missing = [query for query in queries if query not in found]
    if missing or not found:
        raise UnmetError("queries", queries=", ".join(missing))
    return queries or tuple(found)


def logs_of(values: Mapping[str, Blocks]) -> dict[str, dict[int, float]]:
    """ln by query and block; NaN where a value is not positive and finite."""
    return {
        query: {
            block: math.log(value) if 0 < value < math.inf else math.nan
            for block, value in sorted(blocks.items())
        }
        for query, blocks in values.items()
    }


def _bounded(
    part: QueryBounds, values: Mapping[str, Blocks], kind: CheckKind, found: Sides, metric: str
) -> Iterator[Question]:
    queries = asked_queries(part.queries, found.queries)
    for group in [queries] if part.mean else [(query,) for query in queries]:
        yield Question(
            kind,
            tuple(one.side for one in found.sides),
            (),
            tuple(means_of(values, group).values()),
            log_bound(part.low, -math.inf),
            log_bound(part.high, math.inf),
            classes=(group,),
            server=found.server,
            metric=metric if plan_measure(metric) else "",
        )


def _order(classes: Sequence[Queries], found: Sides) -> Iterator[Question]:
    old, new = found.sides
    ratios = changes(old, new)
    means = [means_of(ratios, asked_queries(one, found.queries)) for one in classes]
    for at in range(1, len(classes)):
        lower, higher = means[at - 1], means[at]
        yield Question(
            CheckKind.ORDER,
            (old.side, new.side),
            (),
            tuple(higher[block] - lower[block] for block in sorted(lower.keys() & higher.keys())),
            0.0,
            math.inf,
            classes=(classes[at - 1], classes[at]),
            server=found.server,
        )


def means_of(values: Mapping[str, Blocks], queries: Queries) -> dict[int, float]:
    """The mean over queries, of each block that has them all."""
    blocks = set.intersection(*(set(values.get(query, {})) for query in queries))
    return {
        block: math.fsum(values[query][block] for query in queries) / len(queries)
        for block in sorted(blocks)
    }
