"""Options of the Star Schema Benchmark's tables. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from teiten.model.ssb import SsbVariant
from teiten.model.study import DataOptions, DataSet, Layout

NAME = "ssb"


@dataclass(frozen=True)
class StarSchemaTables(DataOptions):
    variant: SsbVariant = SsbVariant.REFERENCE

    @property
    def told(self) -> Mapping[str, Any]:
        return {"variant": str(self.variant)}

    def described(self, scale: float | None) -> str:
        variant = "" if self.variant is SsbVariant.REFERENCE else f", variant {self.variant}"
        return f"Star Schema Benchmark, scale factor {scale}{variant}"


def ssb_data(
    scale: float | None,
    variant: SsbVariant = SsbVariant.REFERENCE,
    layout: Layout | None = None,
) -> DataSet:
    return DataSet(scale, NAME, StarSchemaTables(variant), layout)
