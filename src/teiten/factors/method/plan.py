"""The methods of a procedure, one by one; the workload's kind says which there are."""

from __future__ import annotations

from typing import Any, ClassVar

from teiten.factors.contract import FactorRule


class MethodFactor(FactorRule):
    name = "method"
    rank = 20
    of_server = False
    missing: ClassVar[tuple[str, str]] = (
        "needs a workload of procedures",
        "use teiten run log-partitions",
    )

    def level(self, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{value!r} does not name a method of a procedure")
        return value.strip()


FACTOR = MethodFactor()
