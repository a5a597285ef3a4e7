"""From the trials of workloads of queries to their results; and the plans of their queries: whether
they kept still, and how the sides differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from teiten.analysis.explain.difference import difference
from teiten.analysis.explain.statistics import stability, statistics
from teiten.analysis.explain.table_use import greatest_table, table_use
from teiten.analysis.explain.worker_rules import gather_workers
from teiten.analysis.model.explain import (
    ExplainedPlan,
    PlanStability,
    QueryPlans,
    SidePlans,
    TableUse,
    WorkerRule,
)
from teiten.analysis.model.findings import (
    ContrastResult,
    LevelResult,
    Measured,
    TrialView,
    VerdictKind,
)
from teiten.analysis.model.observations import Observation
from teiten.analysis.verdict.changes import geometric, half_width_of
from teiten.analysis.verdict.contrasts import contexts_of, sides_of
from teiten.analysis.verdict.pairs import observe
from teiten.kinds.contract_analyse import (
    KindAnalysis,
    NumbersOf,
    Unlike,
    comparison_alpha,
    unlike_rows,
    unlike_texts,
)
from teiten.kinds.queries.groups import ComparedSides, bounds, conclusions, step_verdicts
from teiten.kinds.queries.model import OVER_TIMEOUT, QUERY, QUERY_TIME, queries_of
from teiten.kinds.queries.plan_numbers import (
    Circumstances,
    circumstances_of,
    numbers_of_plans,
    unpacked,
)
from teiten.kinds.queries.results import (
    FewerWorkers,
    QueriesFound,
    QueryContrast,
    QueryResults,
    QuerySweep,
    QueryTime,
    QueryWorkers,
    SweepStep,
)
from teiten.model.plan import Context, Level, Plan
from teiten.model.sql import commands
from teiten.model.study import Workload
from teiten.model.trial import Event
from teiten.model.units import Seconds, Share

SWEPT = 4
"""From so many numeric levels of the contrast on, they are a sweep."""
BY_SIZE = frozenset({WorkerRule.TABLE, WorkerRule.INDEX})


class QueriesAnalysis(KindAnalysis):
    def identity(self, workload: Workload) -> dict[str, Any]:
        variables = queries_of(workload).variables
        drawn = {} if variables is None else {"variables": variables.digest}
        return {**super().identity(workload), **drawn}

    def results(self, measured: Measured) -> QueriesFound:
        plans = query_plans(measured.plan, measured.views)
        return QueriesFound(plans, query_results(measured, plans))

    def numbers(self, plan: Plan, events: Sequence[Event]) -> NumbersOf:
        return numbers_of_plans(plan, events)

    def unlike(self, a: Workload, b: Workload) -> Iterator[Unlike]:
        yield from unlike_texts(a, b, lambda text: " ".join(commands(text)))
        here, there = queries_of(a), queries_of(b)
        yield unlike_rows(here.variables, there.variables)
        yield Unlike("timeout", here.timeout, there.timeout)


ANALYSIS = QueriesAnalysis()


def query_plans(plan: Plan, views: Iterable[TrialView]) -> tuple[QueryPlans, ...]:
    """The plans of every query of ``views``, in the order of the study's levels."""
    contrast = plan.study.contrast
    by_query: dict[Level, dict[str, list[TrialView]]] = {}
    for view in sorted(views, key=lambda view: view.block):
        if view.counts:
            sides = by_query.setdefault((view.workload, view.context(contrast)), {})
            sides.setdefault(view.side(contrast), []).append(view)
    ordered = sorted(by_query, key=lambda key: plan.study.ranks(key[1]))
    return tuple(_of_query(plan, *key, by_query[key]) for key in ordered)


def _of_query(
    plan: Plan, workload: str, context: Context, views: Mapping[str, Sequence[TrialView]]
) -> QueryPlans:
    sides = tuple(
        plans
        for level in plan.study.contrasted_levels
        for plans in _side(level, views.get(level, ()))
    )
    return QueryPlans(
        workload=workload,
        context=context,
        text=queries_of(plan.study.workload(workload)).query(dict(context).get(QUERY, "")).text,
        sides=sides,
        difference=difference(sides[0].typical.plan, sides[-1].typical.plan)
        if len(sides) > 1
        else None,
    )


def _side(level: str, views: Sequence[TrialView]) -> Iterator[SidePlans]:
    """Executed plans; only where there is none, estimated ones."""
    executed = list(_plans(views, executed=True))
    plans = executed or list(_plans(views, executed=False))
    if plans:
        kept = stability(plans)
        yield SidePlans(level, kept, statistics(_typical(plans, kept)), bool(executed))


def _plans(views: Sequence[TrialView], *, executed: bool) -> Iterator[ExplainedPlan]:
    for view in views:
        if view.facts.get("plan") and view.facts.get("plan_executed") is executed:
            plan = unpacked(str(view.facts["plan"]))
            if plan is not None:
                yield plan


def _typical(plans: Sequence[ExplainedPlan], kept: PlanStability) -> ExplainedPlan:
    """Find the execution of the most frequent structure that is nearest to its median."""
    most = kept.variants[0]
    middle = most.execution or 0.0
    return min(
        (plans[index] for index in most.occurrences),
        key=lambda plan: abs((plan.execution or 0.0) - middle),
    )


# Results of a workload


Cell = tuple[Context, str]
"""A context and a side."""
Workers = Mapping[Cell, QueryWorkers]


def query_results(measured: Measured, plans: Sequence[QueryPlans]) -> tuple[QueryResults, ...]:
    """Evaluate every workload of queries with trials, in the study's order."""
    observed = observe(measured.plan, measured.views)
    known, factor = circumstances_of(measured.plan, measured.events), measured.plan.study.contrast
    tried = {view.workload for view in measured.views}
    return tuple(
        _Workload(
            measured.plan,
            name,
            [observation for observation in observed if observation.workload == name],
            [
                contrast
                for contrast in measured.contrasts
                if contrast.workload == name and contrast.metric is QUERY_TIME
            ],
            [query for query in plans if query.workload == name],
            {
                (view.context(factor), view.side(factor)): known(view)
                for view in measured.views
                if view.workload == name and view.counts
            },
        ).results()
        for name in measured.workloads
        if name in tried
    )


@dataclass(frozen=True)
class _Workload:
    """One workload of queries with all that was found of it so far."""

    plan: Plan
    name: str
    observations: Sequence[Observation]
    contrasts: Sequence[ContrastResult]
    """Contrasts of the time of its queries."""
    plans: Sequence[QueryPlans]
    circumstances: Mapping[Cell, Circumstances]

    def results(self) -> QueryResults:
        times = {(time.context, time.side): time for time in self._times()}
        workers = {(known.context, known.side): known for known in self._workers()}
        return QueryResults(
            workload=self.name,
            times=tuple(times.values()),
            contrasts=tuple(self._contrast(contrast, workers) for contrast in self.contrasts),
            workers=tuple(workers.values()),
            tables=tuple(self._tables()),
            sweeps=tuple(self._sweeps(times, workers)),
        )

    def _times(self) -> Iterator[QueryTime]:
        measure = self.plan.study.measure
        cells: dict[Cell, list[Mapping[str, float]]] = {}
        for trial in sorted(self.observations, key=lambda observation: observation.block):
            cells.setdefault((trial.context, trial.side), []).append(trial.metrics)
        for (context, side), trials in cells.items():
            times = [metrics.get(QUERY_TIME.name, math.nan) for metrics in trials]
            usable = [time for time in times if 0 < time < math.inf]
            limits = [
                metrics[OVER_TIMEOUT.name] for metrics in trials if OVER_TIMEOUT.name in metrics
            ]
            yield QueryTime(
                context=context,
                side=side,
                estimate=geometric(usable, measure.alpha, half_width_of(measure)),
                over=len(limits),
                limit=Seconds(limits[0]) if limits else None,
            )

    def _known(self, context: Context, side: str) -> Circumstances:
        return self.circumstances.get((context, side), ({}, None))

    def _workers(self) -> Iterator[QueryWorkers]:
        for query in self.plans:
            for side in query.sides:
                relations, limits = self._known(query.context, side.side)
                gathers = gather_workers(side.typical.plan, relations, limits)
                yield QueryWorkers(query.context, side.side, gathers, limits)

    def _tables(self) -> Iterator[TableUse]:
        for query in self.plans:
            executed = [side for side in query.sides if side.executed]
            relations = [self._known(query.context, side.side)[0] for side in executed]
            table = greatest_table([side.typical for side in executed], relations)
            if table is not None:
                for side, known in zip(executed, relations, strict=True):
                    yield table_use(side.typical, table, known, query.context, side.side)

    def _contrast(self, contrast: ContrastResult, workers: Workers) -> QueryContrast:
        sides = ComparedSides(self.plan, self.name, self.observations, contrast.old, contrast.new)
        return QueryContrast(
            old=contrast.old,
            new=contrast.new,
            groups=tuple(conclusions(sides)),
            bounds=tuple(bounds(sides)),
            fewer_workers=tuple(_fewer_workers(contrast, workers)),
            gain=_extreme(contrast.levels, VerdictKind.FASTER),
            loss=_extreme(contrast.levels, VerdictKind.SLOWER),
        )

    def _sweeps(self, times: Mapping[Cell, QueryTime], workers: Workers) -> Iterator[QuerySweep]:
        levels = sides_of(self.plan, self.name)
        if len(levels) < SWEPT or not all(_is_number(level) for level in levels):
            return
        sides = ComparedSides(self.plan, self.name, self.observations, levels[0], levels[-1])
        against_first = {
            (level.context, contrast.new): level.verdict
            for contrast in self.contrasts
            for level in contrast.levels
        }
        confidence = Share(1 - comparison_alpha(self.plan, self.name))
        for context in contexts_of(self.plan, self.name):
            verdicts = step_verdicts(sides, context, levels)
            steps = tuple(
                SweepStep(
                    level=level,
                    time=times[context, level],
                    against_first=against_first.get((context, level)),
                    against_previous=verdict,
                    workers=workers.get((context, level)),
                )
                for level, verdict in zip(levels, verdicts, strict=True)
                if (context, level) in times
            )
            if steps:
                yield QuerySweep(context, levels[0], confidence, steps)


def _is_number(level: str) -> bool:
    try:
        return math.isfinite(float(level))
    except ValueError:
        return False


def _extreme(levels: Sequence[LevelResult], kind: VerdictKind) -> Context | None:
    """The decided query whose interval ends farthest from 1, as that of a mixed verdict does."""
    nearest = {
        level.context: min(abs(math.log(effect.low)), abs(math.log(effect.high)))
        for level in levels
        if level.verdict.kind is kind and (effect := level.verdict.effect) is not None
    }
    return max(nearest, key=lambda context: nearest[context], default=None)


def _fewer_workers(contrast: ContrastResult, workers: Workers) -> Iterator[FewerWorkers]:
    """Slower queries whose plan begins elsewhere, where its size permits fewer workers."""
    for level in contrast.levels:
        effect = level.verdict.effect
        old, new = (workers.get((level.context, side)) for side in (contrast.old, contrast.new))
        if level.verdict.kind is not VerdictKind.SLOWER or effect is None:
            continue
        before, after = (old.main if old else None), (new.main if new else None)
        if before is None or after is None or not before.source or not after.source:
            continue
        elsewhere = before.source.relation != after.source.relation
        by_size = {before.source.rule, after.source.rule} <= BY_SIZE
        of_size = before.follows and after.follows
        if elsewhere and by_size and of_size and 0 < after.planned < before.planned:
            yield FewerWorkers(level.context, effect.ratio, before, after)
