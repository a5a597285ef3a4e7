"""Clusters with and without page checksums."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from teiten.factors.contract import FactorRule, Need
from teiten.study.values import one_of

if TYPE_CHECKING:
    from teiten.plan.setup import Around, Setup


class Checksums(FactorRule):
    name = "checksums"
    rank = 30
    needs: ClassVar[frozenset[Need]] = frozenset({Need.INITDB})

    def level(self, value: Any) -> str:
        if isinstance(value, bool):
            return "on" if value else "off"
        return one_of(value, ("off", "on"))

    def set(self, setup: Setup, factor: str, level: str, around: Around) -> Setup:
        return replace(setup, checksums=level == "on")


FACTOR = Checksums()
