"""The queries of a workload, one by one; the workload's kind says which there are."""

from __future__ import annotations

from typing import Any, ClassVar

from teiten.factors.contract import FactorRule


class QueryFactor(FactorRule):
    name = "query"
    rank = 20
    of_server = False
    missing: ClassVar[tuple[str, str]] = ("needs a workload of queries", "give --queries DIR")

    def level(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            raise ValueError(f"{value!r} does not name a query: the name of its file without .sql")
        return str(value).strip()


FACTOR = QueryFactor()
