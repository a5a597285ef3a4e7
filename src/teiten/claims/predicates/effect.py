"""The ratio of new and old lies within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic.dataclasses import dataclass

from teiten.claims.forms import FORM, Bounds, Parts
from teiten.claims.of_curves import ContrastOfCurves


@dataclass(frozen=True, config=FORM)
class Effect(ContrastOfCurves):
    """The ratio new/old of the claim's contrast lies within bounds."""

    parts: Parts
    kind: Literal["effect"] = "effect"

    def bounds(self, delta: float) -> Sequence[Bounds]:  # noqa: ARG002
        return self.parts
