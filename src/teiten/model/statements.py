"""How many statements a campaign's report makes, and the share of α that each of them has.

Primary is what is said of a workload over all its levels, of each new side against the old one, by
the metric that the workload is judged by. They share α (Bonferroni), so that a report of equal
servers calls some pair different in α of all reports, whatever number of workloads and sides it
has. Each of K levels of a primary statement has a K-th of its share.
"""

from __future__ import annotations

from teiten.model.plan import Plan


def primary_statements(plan: Plan) -> int:
    """One or more."""
    contrast = plan.study.contrast
    sides = {(trial.cell.workload, trial.cell.level(contrast)) for trial in plan.trials}
    workloads = {workload for workload, _ in sides}
    return max(1, len(sides) - len(workloads))


def combinations_of(plan: Plan, workload: str) -> int:
    """How many combinations of levels, beside those contrasted, a workload has: one or more."""
    contrast = plan.study.contrast
    mine = (trial.cell for trial in plan.trials if trial.cell.workload == workload)
    return max(1, len({cell.context(contrast) for cell in mine}))
