"""Queries of two systems, of one campaign each: nothing is paired.

As for curves (``claims.of_curves``): Welch's interval of the blocks' means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from teiten.analysis.across.unpaired import unpaired_check
from teiten.analysis.model.claims import FIRST, LAST, Check, CheckKind, Claim
from teiten.analysis.model.comparison import Systems
from teiten.analysis.model.evidence import Blocks, EvidenceTable
from teiten.analysis.model.predicate import UnmetError
from teiten.kinds.queries.claims.bounded import QueryBounds, bounded, logs_of, means_of
from teiten.kinds.queries.claims.predicate import ClaimSides, QueryValues, measured_sides

Logs = Mapping[str, Blocks]
"""Logarithms by query and block."""
LogsByServer = Callable[[Claim, EvidenceTable], dict[str, Logs]]
"""What is compared of a campaign, on each of its servers."""


def checks_between(
    claim: Claim,
    parts: Sequence[QueryBounds],
    kind: CheckKind,
    systems: Systems,
    logs: LogsByServer,
) -> tuple[Check, ...]:
    """Every check of the ratio of two systems, on each server that both campaigns have.

    Raises UnmetError where the campaigns do not have what it takes.
    """
    if claim.contrast is None:
        raise UnmetError("compared")
    names = (claim.contrast.old, claim.contrast.new)
    old, new = (logs(claim, systems.here[name]) for name in names)
    shared = [server for server in old if server in new]
    if not shared:
        raise UnmetError("no-common-server")
    asked = [
        (question, tuple(_means(side, question.classes[0]) for side in sides.sides))
        for server in shared
        for sides in (_shared_queries(names, old[server], new[server]),)
        for part in parts
        for question in bounded(part, {}, kind, sides, claim.metric)
    ]
    alpha = systems.here[names[0]].plan.study.measure.alpha
    return tuple(
        unpaired_check(question, samples, alpha, among=len(asked)) for question, samples in asked
    )


def _shared_queries(names: tuple[str, str], old: Logs, new: Logs) -> ClaimSides:
    """The logarithms of both systems, of the queries that both have."""
    return ClaimSides(
        "",
        tuple(
            QueryValues(name, {query: side[query] for query in old if query in new})
            for name, side in zip(names, (old, new), strict=True)
        ),
    )


def _means(side: QueryValues, queries: tuple[str, ...]) -> tuple[float, ...]:
    return tuple(means_of(side.by_query, queries).values())


def metric_by_server(claim: Claim, evidence: EvidenceTable) -> dict[str, Logs]:
    """The logarithms of the claim's metric on each server of a campaign."""
    return {
        sides.server: {
            query: evidence.alone(logs) for query, logs in logs_of(sides.sides[0].by_query).items()
        }
        for sides in measured_sides(replace(claim, contrast=None), evidence, claim.metric)
    }


def gains_by_server(factor: str) -> LogsByServer:
    """What the last level of a factor brings against its first: within a campaign both levels
    belong to the same blocks."""

    def gains(claim: Claim, evidence: EvidenceTable) -> dict[str, Logs]:
        first, last = (
            metric_by_server(replace(claim, at=(*claim.at, (factor, level))), evidence)
            for level in (FIRST, LAST)
        )
        return {server: _shorter(times, last[server]) for server, times in first.items()}

    return gains


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
