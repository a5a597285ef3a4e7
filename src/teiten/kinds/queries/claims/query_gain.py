"""A claim about what a factor brings on one system against what it brings on the other."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimWords
from teiten.analysis.model.comparison import Systems
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.claims.forms import FORM, Word
from teiten.kinds.queries.claims.between import gains_between
from teiten.kinds.queries.claims.bounded import QueryParts, named
from teiten.kinds.queries.claims.predicate import OfQueries
from teiten.kinds.queries.claims.told import listed


def _said(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    return words("claim.gains", queries=listed(words, check.classes[0]), old=old, new=new)


GAINS = CheckKind("gains", _said)
"""The gain on the new system by the gain on the old one."""


@dataclass(frozen=True, config=FORM)
class QueryGain(OfQueries):
    """By how many times queries are faster at a factor's last level than at its first: the new
    system's number by the old one's lies within bounds."""

    factor: Word
    parts: QueryParts
    kind: Literal["query-gain"] = "query-gain"
    compares: ClassVar[bool] = True

    @property
    def queries_named(self) -> tuple[str, ...]:
        return named(self.parts)

    def questions(self, claim: Claim, ground: Ground) -> tuple[Check, ...]:
        """Raises UnmetError: it is about two campaigns."""
        raise UnmetError("compared")

    def between(self, claim: Claim, systems: Systems) -> tuple[Check, ...]:
        return gains_between(claim, self.parts, GAINS, systems, self.factor)
