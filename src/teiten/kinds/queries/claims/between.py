"""Queries of two systems, of one campaign each: nothing is paired.

As for curves (``claims.between``): Welch's interval of the blocks' means.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.across.unpaired import estimate_unpaired
from teiten.analysis.claims.checks import check_of, lack_of
from teiten.analysis.model.claims import FIRST, LAST, Check, CheckKind, Claim, ClaimQuestion
from teiten.analysis.model.comparison import Systems
from teiten.analysis.model.evidence import Blocks, EvidenceTable
from teiten.analysis.model.predicate import UnmetError
from teiten.claims.questions import log_bound
from teiten.kinds.queries.claims.bounded import QueryBounds, asked_queries, logs_of, means_of
from teiten.kinds.queries.claims.evidence import plan_measure
from teiten.kinds.queries.claims.predicate import measured_sides

Logs = Mapping[str, Blocks]
"""Logarithms by query and block."""


@dataclass(frozen=True)
class _Asked:
    """One ratio of two systems, and its bounds."""

    question: ClaimQuestion
    old: tuple[float, ...]
    """The blocks' means of logarithms."""
    new: tuple[float, ...]


def effects_between(
    claim: Claim, parts: Sequence[QueryBounds], kind: CheckKind, systems: Systems
) -> tuple[Check, ...]:
    """Every check of the ratio of two systems, on each server that both campaigns have.

    Raises UnmetError where the campaigns do not have what it takes.
    """
    return _between(claim, parts, kind, systems, _by_server)


def gains_between(
    claim: Claim, parts: Sequence[QueryBounds], kind: CheckKind, systems: Systems, factor: str
) -> tuple[Check, ...]:
    """Check what a factor's last level brings against its first, on each of the systems: the ratio
    of the two ratios. Within a campaign both levels belong to the same blocks.

    Raises UnmetError where the campaigns do not have what it takes.
    """

    def gains(of: Claim, evidence: EvidenceTable) -> dict[str, Logs]:
        first, last = (
            _by_server(replace(of, at=(*of.at, (factor, level))), evidence)
            for level in (FIRST, LAST)
        )
        return {server: _shorter(times, last[server]) for server, times in first.items()}

    return _between(claim, parts, kind, systems, gains)


def _shorter(first: Logs, last: Logs) -> dict[str, Blocks]:
    """ln(time at the first level / time at the last), by query and block that have both."""
    return {
        query: {
            block: value - last[query][block]
            for block, value in blocks.items()
            if block in last[query]
        }
        for query, blocks in first.items()
        if query in last
    }


def _between(
    claim: Claim,
    parts: Sequence[QueryBounds],
    kind: CheckKind,
    systems: Systems,
    logs: Callable[[Claim, EvidenceTable], dict[str, Logs]],
) -> tuple[Check, ...]:
    if claim.contrast is None:
        raise UnmetError("compared")
    names = (claim.contrast.old, claim.contrast.new)
    found = [logs(claim, systems.here[name]) for name in names]
    shared = [server for server in found[0] if server in found[1]]
    if not shared:
        raise UnmetError("no-common-server")
    asked = [
        one
        for server in shared
        for part in parts
        for one in _ask(claim, part, kind, names, (found[0][server], found[1][server]))
    ]
    measure = systems.here[names[0]].plan.study.measure
    return tuple(_check(one, measure.alpha, len(asked)) for one in asked)


def _by_server(claim: Claim, evidence: EvidenceTable) -> dict[str, Logs]:
    """The logarithms of the claim's metric on each server of a campaign."""
    found = measured_sides(replace(claim, contrast=None), evidence, claim.metric)
    return {
        one.server: {
            query: evidence.alone(logs) for query, logs in logs_of(one.sides[0].by_query).items()
        }
        for one in found
    }


def _ask(
    claim: Claim,
    part: QueryBounds,
    kind: CheckKind,
    systems: tuple[str, str],
    sides: tuple[Logs, Logs],
) -> Iterator[_Asked]:
    old, new = sides
    queries = asked_queries(part.queries, [query for query in old if query in new])
    for group in [queries] if part.mean else [(query,) for query in queries]:
        question = ClaimQuestion(
            kind,
            systems,
            (),
            {},
            log_bound(part.low, -math.inf),
            log_bound(part.high, math.inf),
            classes=(group,),
            metric=claim.metric if plan_measure(claim.metric) else "",
        )
        means = (tuple(means_of(side, group).values()) for side in sides)
        yield _Asked(question, *means)


def _check(one: _Asked, alpha: float, among: int) -> Check:
    check = check_of(
        one.question,
        alpha,
        lambda _values, at: estimate_unpaired(one.old, one.new, at),
        among=among,
    )
    lack = lack_of(one.old, one.new) if check.lack else ""
    return replace(check, pairs=min(len(one.old), len(one.new)), lack=lack)
