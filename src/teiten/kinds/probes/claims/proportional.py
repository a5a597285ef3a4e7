"""A probe's number is proportional to the size of the buffers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.claims.forms import FORM, Tolerance, Word
from teiten.claims.questions import around
from teiten.kinds.probes.claims.cells import contrasted_cells, ratios
from teiten.kinds.probes.claims.measures import OfProbe, told


def _said(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    values = {"probe": check.classes[0][0], "old": old, "new": new}
    return told(check, words, "claim.probe-per-size", sizes=words.number(check.at[0]), **values)


PER_SIZE = CheckKind("probe-per-size", _said, of_sides=True)
"""New and old, by the ratio of their sizes: 1 where the number is proportional to it."""


@dataclass(frozen=True, config=FORM)
class ProbeProportional(OfProbe):
    """The number at the new level by that at the old is the ratio of their shared buffers, within
    a share."""

    probe: Word
    within: Tolerance
    kind: Literal["probe-proportional"] = "probe-proportional"
    compares: ClassVar[bool] = True

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for old, new in contrasted_cells(claim, ground, self.probe):
            if not old.buffers or not new.buffers or old.buffers == new.buffers:
                raise UnmetError("probe-sizes")
            sizes = new.buffers / old.buffers
            yield ClaimQuestion(
                PER_SIZE,
                (old.level, new.level),
                (round(sizes, 2),),
                {block: change - math.log(sizes) for block, change in ratios(old, new).items()},
                *around(self.within),
                classes=((self.probe,),),
                server=old.server,
                metric=claim.metric,
            )
