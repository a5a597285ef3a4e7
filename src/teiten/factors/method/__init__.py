"""The methods of a procedure, one by one; the workload's kind says which there are."""

from __future__ import annotations

from teiten.factors.contract import NamedByKind


class MethodFactor(NamedByKind):
    name = "method"
    what = "a method of a procedure"
    missing = (
        "needs a workload of procedures",
        "use teiten run log-partitions",
    )


FACTOR = MethodFactor()
