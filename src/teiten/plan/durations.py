"""How long the parts of a study take here, before it has a plan."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from teiten.datasets.plan import build_seconds, data_bytes
from teiten.kinds.contract import plan_of
from teiten.model.study import SERVER, Study, Workload
from teiten.model.units import Seconds
from teiten.plan.cells import cell_groups, data_sets, levels_of, trials_of
from teiten.plan.estimate import load_seconds, trial_time
from teiten.plan.ordering import pairs_of_a_start
from teiten.ways.registry import way_of

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
    """Estimate one block, or those that have all levels between them: every cell once, the base in
    each; the mean of those whose servers several blocks share."""
    way, groups, shared = way_of(study.measure), cell_groups(study), pairs_of_a_start(study)
    each = {one.name: _trial_seconds(study, one) for one in study.workloads}
    started: list[object] = []
    seconds = 0.0
    for group in groups:
        of_block = way.start_of(study, group[0])
        trials = trials_of(study, group)
        servers = 1 if study.measure.by_session else trials
        begins = servers / shared if of_block is None else servers * (of_block not in started)
        started.append(of_block)
        anew, further = each[group[0].workload]
        seconds += begins * anew + (trials - begins) * further
    return seconds


def _trial_seconds(study: Study, workload: Workload) -> tuple[float, float]:
    """Estimate a trial whose server is started for it, and one whose server is up."""
    size = max(map(data_bytes, data_sets(study, workload)))
    restores = study.restores(workload)
    anew = trial_time(study, size, restores=restores, load=load_seconds(study, workload))
    load = load_seconds(study, workload, warm=True)
    lasts = plan_of(workload.kind).lasts
    further = trial_time(study, size, restores=False, load=load, starts=False, lasts=lasts)
    return anew.total, further.total


def trials_by_workload(study: Study) -> Counter[str]:
    """How many trials of each workload all blocks hold."""
    return Counter(
        {
            workload.name: study.measure.blocks
            * sum(
                trials_of(study, group)
                for group in cell_groups(study)
                if group[0].workload == workload.name
            )
            for workload in study.workloads
        }
    )


def installations(study: Study) -> int:
    """Templates of each data set: one for every server, with and without checksums."""
    workload = study.workloads[0]
    servers = len(levels_of(study, workload, SERVER))
    return servers * max(1, len(levels_of(study, workload, "checksums")))
