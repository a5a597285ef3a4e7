"""What a load of pgbench says of itself."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.model.study import QueryMode, Script, Workload, WorkloadOptions

NAME = "pgbench"


@dataclass(frozen=True)
class PgbenchOptions(WorkloadOptions):
    """What the clients of a workload repeat, and how."""

    script: Script
    query_mode: QueryMode = QueryMode.SIMPLE
    invariants: tuple[str, ...] = ()
    """Checks on the data after a trial, by name: ``tpcb-balances``."""
    pgbench_options: tuple[str, ...] = ()
    """Further options of pgbench, verbatim."""
    index_lookups: bool = False
    """Count lookups by the tables' indexes, and the rows that they fetch from the tables."""

    @property
    def source(self) -> str:
        return self.script.name

    @property
    def texts(self) -> tuple[Script, ...]:
        return (self.script,)


def pgbench_of(workload: Workload) -> PgbenchOptions:
    """The options of a workload of this kind. Raises TypeError for another one's."""
    if not isinstance(workload.options, PgbenchOptions):
        raise TypeError(f"the workload {workload.name} is of the kind {workload.kind}")
    return workload.options
