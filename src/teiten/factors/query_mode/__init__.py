"""How pgbench sends its statements: simple, extended, prepared."""

from __future__ import annotations

from typing import Any

from teiten.factors.contract import FactorRule
from teiten.model.study import QueryMode
from teiten.study.values import member


class Mode(FactorRule):
    name = "query_mode"
    rank = 40

    def level(self, value: Any) -> str:
        return str(member(QueryMode, value))


FACTOR = Mode()
