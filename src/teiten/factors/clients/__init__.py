"""How many clients load a server at the same time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from teiten.factors.contract import FactorRule
from teiten.factors.cores import FACTOR as CORES
from teiten.model.facts import HostFacts
from teiten.model.setup import permitted_clients
from teiten.model.study import Study
from teiten.study.values import count


class Clients(FactorRule):
    name = "clients"
    rank = 10
    automatic = True
    of_server = False
    missing: ClassVar[tuple[str, str]] = (
        "has no clients",
        'add for example clients = [1, 4, 16], or "auto"',
    )

    def level(self, value: Any) -> str:
        return str(count(value, self.name))

    def sized(self, study: Study, facts: HostFacts) -> Study:
        factor = study.factor(self.name)
        if factor is None or factor.levels:
            return study
        levels = automatic_clients(facts.cpu.logical, permitted_clients(study))
        cores = CORES.sized(study, facts).factor(CORES.name)
        if cores is not None and study.contrast == CORES.name:
            levels = (max(cores.levels, key=int),)  # 2013 §2.6: as many clients as the most cores
        own = {
            level for workload in study.workloads for level in workload.own_levels(self.name) or ()
        }
        union = tuple(sorted(own | set(levels), key=int))
        workloads = tuple(
            workload
            if workload.own_levels(self.name) is not None or union == levels
            else workload.limited(self.name, levels)
            for workload in study.workloads
        )
        return replace(study.with_levels(self.name, union), workloads=workloads)


def automatic_clients(cores: int, limit: int | None = None) -> tuple[str, ...]:
    """1, half of the cores, the cores, twice and four times as many."""
    counts = {1, max(1, cores // 2), cores, 2 * cores, 4 * cores}
    return tuple(str(count) for count in sorted(counts) if limit is None or count <= limit)


FACTOR = Clients()
