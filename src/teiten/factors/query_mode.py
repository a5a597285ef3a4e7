"""How pgbench sends its statements: simple, extended, prepared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from teiten.factors.contract import FactorRule
from teiten.model.study import QueryMode
from teiten.study.values import query_mode

if TYPE_CHECKING:
    from teiten.plan.setup import Around, Setup


class Mode(FactorRule):
    name = "query_mode"
    rank = 40

    def level(self, value: Any) -> str:
        return str(query_mode(value))

    def set(self, setup: Setup, factor: str, level: str, around: Around) -> Setup:
        return replace(setup, query_mode=QueryMode(level))


FACTOR = Mode()
