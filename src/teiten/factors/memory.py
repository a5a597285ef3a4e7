"""How much memory server, load generator and the page cache of their files have together; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from teiten.factors.contract import FactorRule, Need
from teiten.model.memory import MACHINE
from teiten.model.quantities import parse_size
from teiten.model.study import Factor, Workload
from teiten.model.units import Bytes
from teiten.study.values import memory

if TYPE_CHECKING:
    from teiten.plan.setup import Around, Setup
    from teiten.study.draft import Draft
    from teiten.study.file import StudyFile


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

    def check_study(
        self, draft: Draft, tables: StudyFile, factor: Factor, workloads: Sequence[Workload]
    ) -> None:
        """Nothing fixes what the factor varies."""
        if tables.measure.memory is not None:
            raise draft.error(
                ("measure", "memory"),
                f"fixes the memory, but the factor memory varies it ({', '.join(factor.levels)})",
                "leave out one of the two",
            )

    def set(self, setup: Setup, factor: str, level: str, around: Around) -> Setup:
        return replace(setup, memory_limit=_limit(level))


def _limit(level: str) -> Bytes | None:
    return None if level == MACHINE else parse_size(level)


FACTOR = Memory()
