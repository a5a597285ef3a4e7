"""How much memory server, load generator and the page cache of their files have together; pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from teiten.factors.contract import FactorRule, Need, WrittenStudy
from teiten.model.memory import MACHINE
from teiten.model.quantities import parse_size
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import Factor
from teiten.model.units import Bytes
from teiten.study.values import memory


class Memory(FactorRule):
    name = "memory"
    rank = 50
    needs: ClassVar[frozenset[Need]] = frozenset({Need.START, Need.HERE})

    def level(self, value: Any) -> str:
        memory(value)
        return str(value).strip()

    def compared(self, level: str) -> object:
        """``1GiB`` and ``1024MB`` are the same."""
        return _limit(level)

    def check_study(self, written: WrittenStudy, factor: Factor) -> None:
        """Nothing fixes what the factor varies."""
        if written.measure.memory is not None:
            raise written.contradiction(
                ("measure", "memory"),
                f"fixes the memory, but the factor memory varies it ({', '.join(factor.levels)})",
            )

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        return replace(setup, memory_limit=_limit(level))


def _limit(level: str) -> Bytes | None:
    return None if level == MACHINE else parse_size(level)


FACTOR = Memory()
