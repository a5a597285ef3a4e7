"""The time of a query by the number of workers permitted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import (
    Check,
    CheckKind,
    Claim,
    ClaimQuestion,
    ClaimWords,
    PublishedCurves,
)
from teiten.analysis.model.evidence import Blocks
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.claims.curves import ClaimCurve, level_changes, published
from teiten.claims.forms import FORM, Count, Tolerance, Word
from teiten.claims.questions import around
from teiten.claims.sides import places_of
from teiten.kinds.queries.claims.evidence import LAUNCHED, Executed
from teiten.kinds.queries.claims.predicate import QUERY, OfQueries, queries_of


def _said(check: Check, words: ClaimWords) -> str:
    first, second = (words.number(count) for count in check.at)
    return words("claim.permitted", first=first, second=second)


PERMITTED_WORKERS = CheckKind("permitted", _said, speed_up=True)
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

    def of_plan(self, executed: Executed) -> Iterator[tuple[str, float]]:
        yield LAUNCHED, executed.launched

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
            for query in queries_of(claim, evidence):
                cells = {
                    float(level): place.sides[0].further(QUERY, query).further(self.factor, level)
                    for level in planned
                    if level.isdecimal()
                }
                times, launched = (
                    {level: cell.blocks(evidence, metric) for level, cell in cells.items()}
                    for metric in (claim.metric, LAUNCHED)
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
    counts = [block for blocks in launched.values() for block in blocks.values()]
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
