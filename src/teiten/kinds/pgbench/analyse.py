"""From the trials of loads of pgbench to their results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from teiten.analysis.across.fingerprint import commands_of
from teiten.analysis.model.measured import Measured
from teiten.analysis.verdict.carry_over import carry_overs
from teiten.analysis.verdict.pairs import observe
from teiten.kinds.contract_analyse import KindAnalysis, Unlike
from teiten.kinds.pgbench.loads import scalings
from teiten.kinds.pgbench.model import clients_of, pgbench_of
from teiten.kinds.pgbench.placements import placements
from teiten.kinds.pgbench.plateaus import bottlenecks
from teiten.kinds.pgbench.results import PgbenchFound
from teiten.kinds.pgbench.scale_out.find import scale_outs
from teiten.kinds.pgbench.tails import tails
from teiten.model.plan import PlannedTrial
from teiten.model.study import Workload


class PgbenchAnalysis(KindAnalysis):
    by_pgbench: ClassVar[bool] = True

    def results(self, measured: Measured) -> PgbenchFound:
        plan, facts = measured.plan, measured.facts
        scaling = scalings(plan, measured.views, measured.workloads, cores=facts.cpu.logical)
        observed = observe(plan, measured.views)
        left = tuple(
            (workload, one)
            for workload in measured.workloads
            for one in carry_overs(plan, workload, [o for o in observed if o.workload == workload])
        )
        return PgbenchFound(
            scaling,
            bottlenecks(plan, facts, measured.views, scaling),
            placements(plan, measured.views, measured.workloads),
            left,
            scale_outs(plan, measured.views, measured.workloads),
            tuple(tails(plan, measured.views)),
        )

    def identity(self, workload: Workload) -> dict[str, Any]:
        load = pgbench_of(workload)
        return {
            "script": commands_of(load.script),
            "mode": load.query_mode.value,
            "options": list(load.pgbench_options),
        }

    def unlike(self, a: Workload, b: Workload) -> Iterator[Unlike]:
        one, other = pgbench_of(a), pgbench_of(b)
        if commands_of(one.script) != commands_of(other.script):
            yield Unlike("script", one.source, other.source)
        yield Unlike("query-mode", one.query_mode.value, other.query_mode.value)
        yield Unlike("pgbench-options", one.pgbench_options, other.pgbench_options)

    def unlike_trials(self, a: PlannedTrial, b: PlannedTrial) -> Iterator[Unlike]:
        yield Unlike("threads", clients_of(a).threads, clients_of(b).threads)


ANALYSIS = PgbenchAnalysis()
