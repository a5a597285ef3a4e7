"""Clusters with and without page checksums."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from teiten.factors.contract import FactorRule, Need
from teiten.model.setup import PlannedCell, Setup
from teiten.study.values import one_of


class Checksums(FactorRule):
    name = "checksums"
    rank = 30
    needs: ClassVar[frozenset[Need]] = frozenset({Need.INITDB})

    def level(self, value: Any) -> str:
        if isinstance(value, bool):
            return "on" if value else "off"
        return one_of(value, ("off", "on"))

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        return replace(setup, checksums=level == "on")


FACTOR = Checksums()
