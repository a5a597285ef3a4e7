"""Predicates about probes: how a probe's time goes with the number of clients that run its
statement. Others are about levels of any factor (``teiten.claims.predicates.levels``); these are
named ``first``, ``middle`` and ``last``, as the sizes of a campaign are the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords
from teiten.analysis.model.evidence import Blocks, EvidenceTable, log_changes
from teiten.analysis.model.predicate import Ground, Predicate, UnmetError
from teiten.claims.curves import RISES, beyond_reach
from teiten.claims.forms import FORM, Ratio, RatioBounds, Span, Word
from teiten.claims.predicates.levels import OfLevels
from teiten.claims.sides import ClaimSide
from teiten.kinds.probes.metrics import CLIENTS_TIME
from teiten.study.tables import Words

Times = Mapping[int, Blocks]
"""By number of clients, in rising order."""


class OfClients(OfLevels):
    """About times by the number of clients."""

    def quantities(self, claim: Claim) -> tuple[str]:
        return (CLIENTS_TIME,)


def _growth(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    few, many = (words.number(clients) for clients in check.at)
    values = {"probe": check.classes[0][0], "few": few, "many": many}
    return words("claim.probe-growth", old=old, new=new, **values)


GROWTH = CheckKind("probe-growth", _growth)
"""By how much the time grows from few clients to many: at the new level by that at the old."""


@dataclass(frozen=True, config=FORM, kw_only=True)
class ProbeCourse(RatioBounds, OfClients):
    """The time grows with the clients at the new level as at the old: at every number of clients,
    its ratio to that with the fewest. How long it takes at each level is not asked."""

    of: Word
    kind: Literal["probe-course"] = "probe-course"
    compares: ClassVar[bool] = True

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for place in self.places(claim, ground.evidence):
            before, after = (_times(side, ground.evidence) for side in place.sides)
            few, *further = sorted(before.keys() & after.keys()) or (0,)
            if not further:
                raise UnmetError("probe-clients", probe=self.of)
            for many in further:
                growth = log_changes(before[few], before[many])
                there = log_changes(after[few], after[many])
                values = {block: there[block] - growth[block] for block in growth if block in there}
                compared = (GROWTH, place.labels, (few, many))
                yield self.question(claim, place, compared, values, self.log_bounds)


def _rise(check: Check, words: ClaimWords) -> str:
    few, many = (words.number(clients) for clients in check.at)
    values = {"probe": check.classes[0][0], "few": few, "many": many}
    return words("claim.probe-rise", side=words.side(check.sides[0]), **values)


RISE = CheckKind("probe-rise", _rise)
"""The time with many clients by that with few, at one level."""


@dataclass(frozen=True, config=FORM, kw_only=True)
class ProbeRise(OfClients):
    """Beyond a multiple of the processors, the time is longer than with as many clients as that: at
    each of some levels, and at every number of clients."""

    of: Word
    factor: Word
    levels: Annotated[Words, Field(min_length=1)]
    beyond: Ratio
    kind: Literal["probe-rise"] = "probe-rise"

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        most = self.beyond * ground.cores
        for place in self.places(claim, ground.evidence, self.factor, self.levels):
            for side in place.sides:
                times = _times(side, ground.evidence)
                within = [clients for clients in times if clients <= most]
                further = [clients for clients in times if clients > most]
                if not within or not further:
                    raise beyond_reach(Span(least=self.beyond))
                few = within[-1]
                for many in further:
                    compared = (RISE, (side.label,), (few, many))
                    changes = log_changes(times[few], times[many])
                    yield self.question(claim, place, compared, changes, RISES)


def _times(side: ClaimSide, evidence: EvidenceTable) -> Times:
    counts = sorted(map(int, evidence.parts(side.workload, side.at, CLIENTS_TIME)))
    return {clients: side.blocks(evidence, f"{CLIENTS_TIME}:{clients}") for clients in counts}


PREDICATES: tuple[type[Predicate], ...] = (ProbeCourse, ProbeRise)
