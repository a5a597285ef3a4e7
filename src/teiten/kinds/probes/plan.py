"""Probes, before anything runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean
from typing import Annotated, ClassVar

from pydantic import Field

from teiten.datasets.plan import plan_of as data_plan_of
from teiten.factors.contract import Need
from teiten.kinds.contract import KindPlan, LevelNeeds, ToldStep
from teiten.kinds.probes.metrics import CONTRASTED, METRICS, ProbeMeasure
from teiten.kinds.probes.model import (
    BLOCK,
    MEASURING,
    PROBE,
    Amount,
    Do,
    Of,
    Probe,
    ProbesOptions,
    ProbeStep,
    probes_of,
    run_of,
)
from teiten.kinds.probes.read import catalogue, read_probes
from teiten.model.plan import PlannedTrial
from teiten.model.study import Measure, Study, Workload, WorkloadOptions
from teiten.model.text import Bilingual
from teiten.model.units import MIB, Bytes, Seconds
from teiten.study.locate import Place
from teiten.study.schema import WorkloadTable
from teiten.study.tables import Count, Growth, Size, Words

LOAD_RATE = 1000 * MIB
"""Bytes per second into the buffers, from a disk. As all here as fast as two cores with a disk of
their own were; working sets beyond the memory read more of it."""
TOUCH_SECONDS = 10e-6
STATEMENT_SECONDS = 0.7e-3
WATCHED_SECONDS = 10e-3
CHECKPOINT_SECONDS = 20e-3
STATE_SECONDS = 0.2
"""Counting the buffers and the pages in the page cache."""
SCAN_SECONDS = 1.0
USUAL_BUFFERS = 0.5
"""The share of the memory that buffers are taken to have, where a part is a share of them."""


class ProbesTable(WorkloadTable):
    """The keys of a workload of probes."""

    probes: Annotated[Words, Field(min_length=1)]
    share: Growth = None
    require_state: bool = True
    working_set: Size = None
    connections: Count | None = None
    work_mem: Size = None


class Probes(KindPlan):
    does = "runs probes one by one"
    loading = "put pages where a probe wants them, verify that, and time single statements"
    metrics = METRICS
    contrasted = CONTRASTED
    measures = tuple(ProbeMeasure)
    options = ProbesOptions
    table = ProbesTable
    changeable = ("share", "require_state", "working_set", "connections", "work_mem")
    changeable_of_one = ("probes",)
    brings = (PROBE,)
    axis: ClassVar[str | None] = PROBE
    own_factor: ClassVar[str | None] = PROBE
    site_needs: ClassVar[frozenset[Need]] = frozenset({Need.HERE})
    fits = True

    def titles(self, options: WorkloadOptions) -> Mapping[str, Bilingual]:
        assert isinstance(options, ProbesOptions)
        return {probe.name: probe.title for probe in options.probes}

    def options_of(self, place: Place, table: WorkloadTable) -> ProbesOptions:
        assert isinstance(table, ProbesTable)
        try:
            probes = read_probes(table.probes, place.folders)
        except ValueError as error:
            raise place.error(
                "probes",
                str(error),
                f"name files *.toml, or probes of Teiten: {', '.join(catalogue())}",
            ) from error
        return ProbesOptions(
            probes,
            float(table.share or 1.0),
            table.require_state,
            working_set=table.working_set,
            connections=table.connections,
            work_mem=table.work_mem,
        )

    def check(self, place: Place, workload: Workload) -> None:
        """Every table that a probe names is there."""
        tables = data_plan_of(workload.data.kind).shares(workload.data)
        for probe in probes_of(workload).probes:
            for step in probe.steps:
                if step.do is Do.SET and not workload.changes_data:
                    raise place.error(
                        "changes_data",
                        f"the probe {probe.name} sets parameters of its server",
                        "write changes_data = true: the server is then thrown away after a trial",
                    )
                if step.table and step.table not in tables:
                    raise place.error(
                        "probes",
                        f"the probe {probe.name} needs a table {step.table}",
                        f"the tables are {', '.join(tables) or 'not such of probes'}: see"
                        " [workloads.data.tables] in teiten init buffers",
                    )

    def level_needs(self, workload: Workload) -> Iterator[LevelNeeds]:
        for probe in probes_of(workload).probes:
            yield LevelNeeds(PROBE, probe.name, probe.title, needs_of(probe))

    def fitted(self, workload: Workload, buffers: Bytes) -> Workload:
        """With the tables of its probes alone, no larger than their parts of the buffers are."""
        steps = [step for probe in run_of(workload) for step in probe.steps if step.table]
        data_plan = data_plan_of(workload.data.kind)
        data = data_plan.of_tables(workload.data, {step.table for step in steps})
        shares = data_plan.shares(data)
        asked = [
            step.part.value / shares[step.table]
            for step in steps
            if step.part is not None and step.part.of is Of.BUFFERS
        ]
        scale = math.ceil(buffers * max(asked, default=1.0) / MIB)
        return replace(workload, data=replace(data, scale=scale))

    def measured_seconds(self, measure: Measure, workload: Workload) -> Seconds:
        """Estimate the measured time of a usual probe of the workload: the mean over all."""
        return _mean(workload, timed=True)

    def load_seconds(self, measure: Measure, workload: Workload) -> Seconds:
        return _mean(workload, timed=False)

    def processes(self, trial: PlannedTrial) -> int:
        return 2

    def facts(self, workload: Workload) -> Iterator[str]:
        yield f"{len(run_of(workload))} probes, each in a trial of its own"

    def warm_up(self, study: Study, workload: Workload) -> ToldStep:
        return ToldStep("warm-up", "nothing: each probe makes the state that it needs")

    def measuring(self, study: Study, workload: Workload) -> ToldStep:
        return ToldStep("probe", "the steps of one probe")

    def turn(self, study: Study, trial: PlannedTrial, number: int) -> str:
        options = probes_of(study.workload(trial.cell.workload))
        probe = options.probe(trial.cell.level(PROBE) or "")
        return f"probe {probe.name}: {', '.join(_said(probe, options.share))}"


OF_STEPS = {
    Do.LOAD: Need.PREWARM,
    Do.FORGET: Need.CACHES,
    Do.SET: Need.CONFIGURATION,
    Do.CHECKPOINT: Need.CHECKPOINT,
    Do.EXECUTE: Need.CACHES,
}
"""Needs of steps, by what they do. EXECUTE needs caches because what a scan leaves in them is seen
beside what they held before it."""


def needs_of(probe: Probe) -> frozenset[Need]:
    """List what a probe needs of the place where its server runs. Of every one the state of the
    buffers is looked at; one that goes through working sets needs a memory that is known, and
    caches that hold no more than it has put there."""
    needs = {Need.BUFFERS}
    if probe.parts:
        needs |= {Need.MEMORY, Need.CACHES}
    for step in probe.steps:
        if step.do in OF_STEPS:
            needs.add(OF_STEPS[step.do])
        if step.leaving or step.os_cache_only:  # buffers that nobody has used since the start
            needs.add(Need.START)
        if step.part is not None and step.part.of is Of.MEMORY:
            needs.add(Need.MEMORY)
    return frozenset(needs)


def statements_of(step: ProbeStep, share: float) -> int:
    """How many statements a step times, at a share of them."""
    return max(1, round(step.statements * share))


def clients_seconds(step: ProbeStep, share: float) -> Seconds:
    """How long each number of clients runs; pgbench counts whole seconds."""
    return Seconds(float(max(1, round(float(step.seconds or 1.0) * share))))


def _said(probe: Probe, share: float) -> Iterator[str]:
    if probe.parts:
        yield f"for {len(probe.parts)} parts"
    for step in probe.steps:
        if step.do in (Do.MEASURE, Do.CHECKPOINT):
            yield f"{step.do} {step.name} ({statements_of(step, share)}×)"
        else:
            yield " ".join(filter(None, (str(step.do), step.name or step.table)))


def _mean(workload: Workload, *, timed: bool) -> Seconds:
    return Seconds(fmean(_probe_seconds(probe, workload, timed) for probe in run_of(workload)))


def _probe_seconds(probe: Probe, workload: Workload, timed: bool) -> float:
    share, memory = probes_of(workload).share, Bytes(int(workload.data.scale or 0) * MIB)
    tables = data_plan_of(workload.data.kind).shares(workload.data)
    seconds = 0.0
    for step in probe.steps:
        if timed and step.do not in MEASURING:
            continue
        table = memory * tables.get(step.table, 0.0)
        known = 0.0
        for part in probe.parts if step.each else (step.part,):
            size = _bytes(part, table, memory)
            seconds += _step_seconds(step, size - known, share)
            known = size if step.new_pages else 0.0
    return seconds


def _bytes(part: Amount | None, table: float, memory: Bytes) -> float:
    if part is None:
        return table
    of = {Of.BUFFERS: memory * USUAL_BUFFERS, Of.MEMORY: memory, Of.TABLE: table}
    return min(table, part.value * of.get(part.of, BLOCK))


def _step_seconds(step: ProbeStep, size: float, share: float) -> float:
    many, watched = statements_of(step, share), WATCHED_SECONDS if step.watch else STATEMENT_SECONDS
    seconds = {
        Do.LOAD: size / LOAD_RATE,
        Do.EXECUTE: SCAN_SECONDS,
        Do.TOUCH: size / BLOCK * step.times * TOUCH_SECONDS,
        Do.MEASURE: many * watched + 2 * STATE_SECONDS,
        Do.CLIENTS: len(step.clients) * (clients_seconds(step, share) + 0.5),
        Do.CHECKPOINT: many * CHECKPOINT_SECONDS,
    }
    return seconds.get(step.do, STATE_SECONDS)


PLAN = Probes()
