"""The metric is proportional to the number of cores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, ClaimQuestion, ClaimWords
from teiten.analysis.model.predicate import UnmetError
from teiten.claims.curves import CORES, ClaimCurve, level_changes
from teiten.claims.forms import FORM, Tolerance
from teiten.claims.of_curves import ShapeOfCurve
from teiten.claims.questions import around


def _said(check: Check, words: ClaimWords) -> str:
    first, second = (words.number(one) for one in check.at)
    return words("claim.per-core", side=words.side(check.sides[0]), first=first, second=second)


PER_CORE = CheckKind("per-core", _said)
"""The metric per core at the second level and at the first."""


@dataclass(frozen=True, config=FORM)
class Proportional(ShapeOfCurve):
    """The metric is proportional to the number of cores, within a share."""

    within: Tolerance
    kind: Literal["proportional"] = "proportional"
    axis: ClassVar[str] = CORES

    def shape(self, curve: ClaimCurve, cores: int) -> Iterator[ClaimQuestion]:  # noqa: ARG002
        first, *others = curve.levels or (0.0,)
        if not others:
            raise UnmetError("levels-of-cores")
        for level in others:
            changes = level_changes(curve, first, curve, level).values()
            values = tuple(change - math.log(level / first) for change in changes)
            yield ClaimQuestion(
                PER_CORE, (curve.side,), (first, level), values, *around(self.within)
            )
