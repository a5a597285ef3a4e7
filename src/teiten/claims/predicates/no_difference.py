"""New and old are equivalent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic.dataclasses import dataclass

from teiten.claims.forms import FORM, Bounds
from teiten.claims.of_curves import ContrastOfCurves


@dataclass(frozen=True, config=FORM)
class NoDifference(ContrastOfCurves):
    """New and old are equivalent within the campaign's δ, as the mean over the levels: the reports
    say so of a curve. At each level of a dozen it would hardly ever be shown."""

    kind: Literal["no-difference"] = "no-difference"

    def bounds(self, delta: float) -> Sequence[Bounds]:
        return (Bounds(1 / (1 + delta), 1 + delta),)
