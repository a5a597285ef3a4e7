"""The probes of a workload, one by one; the workload's kind says which there are."""

from __future__ import annotations

from typing import Any, ClassVar

from teiten.factors.contract import FactorRule


class ProbeFactor(FactorRule):
    name = "probe"
    rank = 20
    of_server = False
    missing: ClassVar[tuple[str, str]] = ("needs a workload of probes", "use teiten run buffers")

    def level(self, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{value!r} does not name a probe: the name of its file without .toml")
        return value.strip()


FACTOR = ProbeFactor()
