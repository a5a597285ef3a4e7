"""A share that a probe measured lies within bounds at a level."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import (
    Check,
    CheckKind,
    Claim,
    ClaimQuestion,
    ClaimWords,
    PublishedQueries,
)
from teiten.analysis.model.evidence import Blocks, logarithm
from teiten.analysis.model.predicate import Ground
from teiten.claims.forms import FORM, RatioBounds, Word
from teiten.claims.questions import log_bound
from teiten.claims.sides import ANY_BLOCK
from teiten.kinds.probes.claims.cells import cells_of
from teiten.kinds.probes.claims.measures import OfProbe, printed
from teiten.kinds.probes.metrics import FROM_BUFFERS, FROM_DISK, FROM_OS_CACHE

SHARES = (FROM_BUFFERS.name, FROM_OS_CACHE.name, FROM_DISK.name)
LEAST_SHARE = 1e-4
"""A share of nothing has no logarithm: none of ten thousand statements."""


def _said(check: Check, words: ClaimWords) -> str:
    (side,) = check.sides
    what = words(f"metric.{check.metric}")
    return words("claim.probe-share", probe=check.classes[0][0], side=words.side(side), what=what)


SHARE = CheckKind("probe-share", _said)
"""The share itself, no ratio."""


@dataclass(frozen=True, config=FORM, kw_only=True)
class ProbeValue(RatioBounds, OfProbe):
    """The claim's metric, a share of statements, lies within bounds at a level of the factor."""

    probe: Word
    factor: Word
    level: Word
    quantity: str = ""
    """The row of the published table that has it, in per cent."""
    kind: Literal["probe-value"] = "probe-value"
    counts: ClassVar[bool] = True

    def refuses(self, metric: str) -> str:
        return "" if metric in SHARES else f"is about a share: {', '.join(SHARES)}"

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for (cell,) in cells_of(claim, ground, self.probe, self.factor, (self.level,)):
            yield self._question(claim, cell.level, cell.blocks, cell.server)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        numbers = printed(claim, self.quantity)
        table = claim.published
        if len(numbers) == 1 and isinstance(table, PublishedQueries):
            yield self._question(claim, table.columns[0].label, {ANY_BLOCK: numbers[0] / 100}, "")

    def _question(self, claim: Claim, side: str, shares: Blocks, server: str) -> ClaimQuestion:
        return ClaimQuestion(
            SHARE,
            (side,),
            (),
            {block: logarithm(max(LEAST_SHARE, share)) for block, share in shares.items()},
            log_bound(self.low, -math.inf),
            log_bound(self.high, math.inf),
            classes=((self.probe,),),
            server=server,
            metric=claim.metric,
        )
