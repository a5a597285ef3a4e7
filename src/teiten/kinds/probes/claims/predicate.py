"""Parts that all predicates about probes share."""

from __future__ import annotations

from teiten.analysis.model.claims import Check, Claim, ClaimWords, PublishedQueries
from teiten.analysis.model.predicate import Predicate, Reader
from teiten.kinds.probes.claims.measures import numbers_of, probe_measure
from teiten.kinds.probes.metrics import PROBE_TIME


class OfProbe(Predicate):
    """About a number of one probe, block by block, on every server by itself."""

    def reader(self) -> Reader | None:
        return numbers_of


def printed(claim: Claim, quantity: str) -> tuple[float, ...]:
    """The numbers of a row of the published table, one for each of the claim's columns; empty where
    there is no table, or the row does not have them all."""
    table = claim.published
    if not quantity or not isinstance(table, PublishedQueries):
        return ()
    found = [dict(column.values).get(quantity) for column in table.columns]
    return tuple(one for one in found if one is not None) if None not in found else ()


def told(check: Check, words: ClaimWords, key: str, **values: object) -> str:
    """``mean time in 100% of table, working-set: 75% ÷ 25%``; only the last of a probe's number."""
    what = words(key, **values)
    found = probe_measure(check.metric)
    if found is not None:
        return words(f"claim.{found[0].value}", of=found[1], what=what)
    if check.metric == PROBE_TIME.name:
        return what
    return words("claim.probe-metric", metric=words(f"metric.{check.metric}"), what=what)
