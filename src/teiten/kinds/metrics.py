"""The metrics of all kinds of workloads, and of the machine under them."""

from __future__ import annotations

from collections.abc import Iterable

from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names
from teiten.model.metrics import MEASURED_SECONDS, OF_THE_MACHINE, Metric
from teiten.model.plan import Plan
from teiten.ways.registry import way_of


def judged(name: str) -> Metric:
    """Find the metric that questions about workloads of a kind are about: its first one."""
    return plan_of(name).metrics[0]


def judged_in(plan: Plan, workload: str) -> Metric:
    """Find the metric that questions about a workload of a plan are about."""
    return judged(plan.study.workload(workload).kind)


def contrasted(name: str) -> tuple[Metric, ...]:
    """The metrics of a kind that get verdicts, the judged one first."""
    known = by_name()
    return tuple(known[metric] for metric in plan_of(name).contrasted)


def deciding(plan: Plan) -> tuple[str, ...]:
    """The names of what is judged, and what stands for it; in paired transactions also of what the
    length of starts follows from, and what forbids them."""
    kinds = dict.fromkeys(workload.kind for workload in plan.study.workloads)
    decisive = [name for metric in map(judged, kinds) for name in (metric.name, metric.exceeded)]
    if way_of(plan.study.measure).concurrent:
        own = [plan_of(kind) for kind in kinds]
        decisive += [name for kind in own for name in (kind.paired_within, *kind.carry_over)]
        decisive.append(MEASURED_SECONDS.name)
    return tuple(name for name in decisive if name)


def rates(plan: Plan) -> dict[str, str]:
    """By workload the name of what rises with its clients, of those that have any."""
    by_workload = {workload.name: plan_of(workload.kind).rate for workload in plan.study.workloads}
    return {name: rate.name for name, rate in by_workload.items() if rate is not None}


def is_turnaround(metric: str) -> bool:
    """Whether a metric is how long a client waits for its next turn."""
    turnarounds = (plan_of(name).turnaround for name in names())
    return any(known is not None and known.name == metric for known in turnarounds)


def by_name() -> dict[str, Metric]:
    """Every metric, those of the kinds first."""
    of_kinds = [metric for name in names() for metric in plan_of(name).metrics]
    return {metric.name: metric for metric in (*of_kinds, *OF_THE_MACHINE)}


def measures() -> tuple[str, ...]:
    """List the numbers of every kind that are taken from the records of trials."""
    return tuple(measure for name in names() for measure in plan_of(name).measures)


def in_order(metrics: Iterable[str]) -> list[str]:
    """Names of metrics in the order of ``by_name``; unknown ones last, as they come."""
    given = dict.fromkeys(metrics)
    known = [name for name in by_name() if name in given]
    return [*known, *(name for name in given if name not in known)]
