"""The ratio of new and old lies within bounds, or within the campaign's δ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from teiten.claims.forms import FORM, Bounds, Yes
from teiten.claims.of_curves import ContrastOfCurves


@dataclass(frozen=True, config=FORM)
class Effect(ContrastOfCurves):
    """The ratio new/old of the claim's contrast lies within bounds; or new and old are equivalent
    within the campaign's δ, as the mean over the levels: the reports say so of a curve. At each
    level of a dozen it would hardly ever be shown."""

    parts: Annotated[tuple[Bounds, ...], Field(strict=False)] = ()
    equivalent: Yes = False
    kind: Literal["effect", "no-difference"] = "effect"
    """``no-difference`` is another name of equivalence."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.is_equivalence == bool(self.parts):
            raise ValueError("needs either parts, or equivalent = true")
        return self

    @property
    def is_equivalence(self) -> bool:
        return self.equivalent or self.kind == "no-difference"

    def bounds(self, delta: float) -> Sequence[Bounds]:
        return (Bounds(1 / (1 + delta), 1 + delta),) if self.is_equivalence else self.parts
