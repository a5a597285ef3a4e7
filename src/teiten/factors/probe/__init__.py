"""The probes of a workload, one by one; the workload's kind says which there are."""

from __future__ import annotations

from teiten.factors.contract import NamedByKind


class ProbeFactor(NamedByKind):
    name = "probe"
    what = "a probe: the name of its file without .toml"
    missing = ("needs a workload of probes", "use teiten run buffers")


FACTOR = ProbeFactor()
