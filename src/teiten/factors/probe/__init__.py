"""The probes of a workload, one by one; the workload's kind says which there are."""

from __future__ import annotations

from typing import ClassVar

from teiten.factors.contract import NamedByKind


class ProbeFactor(NamedByKind):
    name = "probe"
    what = "a probe: the name of its file without .toml"
    missing: ClassVar[tuple[str, str]] = ("needs a workload of probes", "use teiten run buffers")


FACTOR = ProbeFactor()
