"""How long the parts of a study take here, before it has a plan."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from teiten.datasets.plan import build_seconds, data_bytes
from teiten.model.study import SERVER, Study, Workload
from teiten.model.units import Seconds
from teiten.plan.cells import cell_groups, data_sets, levels_of
from teiten.plan.estimate import load_seconds, trial_time
from teiten.plan.ordering import pairs_of_a_start

DEFAULT_TARGET = Seconds(3600.0)


def target(study: Study) -> Seconds:
    """Find how long the campaign should take, or may at the most."""
    sequential = study.measure.sequential
    budget = sequential.budget if sequential is not None else None
    return budget or study.target_seconds or DEFAULT_TARGET


def overhead(study: Study) -> float:
    """The seconds of a campaign without its load: building, restoring, starting, prewarming."""
    open_measure = replace(
        study.measure, duration=Seconds(0.0), warmup=Seconds(0.0), settle=Seconds(0.0)
    )
    unloaded = replace(study, measure=open_measure)
    return preparing_seconds(study) + study.measure.blocks * block_seconds(unloaded)


def preparing_seconds(study: Study) -> float:
    """Building the templates."""
    sets = {data for workload in study.workloads for data in data_sets(study, workload)}
    return installations(study) * sum(build_seconds(data) for data in sets)


def block_seconds(study: Study) -> float:
    """One block: every cell once; the mean of those that share a start of their servers."""
    one = replace(study, measure=replace(study.measure, blocks=1))
    counts = trials_by_workload(one)
    return sum(
        counts[workload.name] * _mean_trial_seconds(study, workload) for workload in study.workloads
    )


def _mean_trial_seconds(study: Study, workload: Workload) -> float:
    size = max(map(data_bytes, data_sets(study, workload)))
    load = load_seconds(study, workload)
    begins = trial_time(study, size, restores=study.restores(workload), load=load).total
    goes_on = trial_time(study, size, restores=False, starts=False).total
    pairs = pairs_of_a_start(study)
    return (begins + (pairs - 1) * goes_on) / pairs


def trials_by_workload(study: Study) -> Counter[str]:
    """How many trials of each workload all blocks hold."""
    return Counter(
        {
            workload.name: study.measure.blocks
            * sum(len(group) for group in cell_groups(study) if group[0].workload == workload.name)
            for workload in study.workloads
        }
    )


def installations(study: Study) -> int:
    """Templates of each data set: one for every server, with and without checksums."""
    workload = study.workloads[0]
    servers = len(levels_of(study, workload, SERVER))
    return servers * max(1, len(levels_of(study, workload, "checksums")))
