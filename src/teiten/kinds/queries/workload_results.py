"""Results of the trials of a workload of queries, beside their verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from teiten.analysis.explain.table_use import greatest_table, table_use
from teiten.analysis.explain.worker_rules import (
    Relations,
    gather_workers,
    limits_of,
    recorded_relations,
)
from teiten.analysis.model.explain import QueryPlans, SidePlans, TableUse, WorkerLimits, WorkerRule
from teiten.analysis.model.findings import (
    ContrastResult,
    LevelResult,
    Measured,
    TrialView,
    Verdict,
    VerdictKind,
)
from teiten.analysis.model.observations import Context, Observation
from teiten.analysis.verdict.changes import half_width_of, of_logarithms
from teiten.analysis.verdict.contrasts import contexts_of, sides_of
from teiten.analysis.verdict.pairs import observe
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.kinds.queries.groups import ComparedSides, bounds, conclusions, step_verdicts
from teiten.kinds.queries.model import OVER_TIMEOUT, QUERY_TIME
from teiten.kinds.queries.results import (
    FewerWorkers,
    QueryContrast,
    QueryResults,
    QuerySweep,
    QueryTime,
    QueryWorkers,
    SweepStep,
)
from teiten.model.plan import Plan
from teiten.model.relations import PLANNER
from teiten.model.trial import Outcome
from teiten.model.units import Seconds, Share

SWEPT = 4
"""From so many numeric levels of the contrast on, they are a sweep."""
BY_SIZE = frozenset({WorkerRule.TABLE, WorkerRule.INDEX})

Found = TypeVar("Found", QueryTime, QueryWorkers)
Cell = tuple[Context, str]
"""A context and a side."""


def query_results(measured: Measured, plans: Sequence[QueryPlans]) -> tuple[QueryResults, ...]:
    """Evaluate every workload of queries with trials, in the study's order."""
    plan, views = measured.plan, measured.views
    observed = observe(plan, measured.views)
    relations = recorded_relations(measured.events)
    tried = {view.workload for view in views}
    return tuple(
        _Workload(
            plan,
            name,
            [observation for observation in observed if observation.workload == name],
            [contrast for contrast in measured.contrasts if contrast.workload == name],
            [query for query in plans if query.workload == name],
            _circumstances(plan, views, name, relations),
        ).results()
        for name in measured.workloads
        if name in tried
    )


@dataclass(frozen=True)
class _Circumstances:
    """Known circumstances of the server and the data of a cell."""

    relations: Relations
    limits: WorkerLimits | None


def _circumstances(
    plan: Plan, views: Sequence[TrialView], workload: str, relations: Mapping[str, Relations]
) -> dict[Cell, _Circumstances]:
    planned = {trial.number: trial for trial in plan.trials}
    circumstances: dict[Cell, _Circumstances] = {}
    for view in views:
        if view.workload != workload or view.outcome is not Outcome.COUNTED:
            continue
        trial = planned[view.number]
        cell = (
            trial.cell.context(plan.study.contrast),
            trial.cell.level(plan.study.contrast) or "",
        )
        circumstances[cell] = _Circumstances(
            relations.get(trial.template.fingerprint, {}), limits_of(view.facts.get(PLANNER))
        )
    return circumstances


@dataclass(frozen=True)
class _Workload:
    """One workload of queries with all that was found of it so far."""

    plan: Plan
    name: str
    observations: Sequence[Observation]
    contrasts: Sequence[ContrastResult]
    plans: Sequence[QueryPlans]
    circumstances: Mapping[Cell, _Circumstances]

    def results(self) -> QueryResults:
        times = tuple(self._times())
        workers = tuple(self._workers())
        compared = [contrast for contrast in self.contrasts if contrast.metric is QUERY_TIME]
        return QueryResults(
            workload=self.name,
            times=times,
            contrasts=tuple(self._contrast(contrast, workers) for contrast in compared),
            workers=workers,
            tables=tuple(self._tables()),
            sweeps=tuple(self._sweeps(times, workers)),
        )

    def _times(self) -> Iterator[QueryTime]:
        cells: dict[Cell, list[Observation]] = {}
        for observation in sorted(self.observations, key=lambda observation: observation.block):
            cells.setdefault((observation.context, observation.side), []).append(observation)
        for (context, side), observations in cells.items():
            yield self._time(context, side, observations)

    def _time(self, context: Context, side: str, observations: Sequence[Observation]) -> QueryTime:
        values = [
            observation.metrics.get(QUERY_TIME.name, math.nan) for observation in observations
        ]
        logs = [math.log(value) for value in values if value > 0 and math.isfinite(value)]
        limits = [
            observation.metrics[OVER_TIMEOUT.name]
            for observation in observations
            if OVER_TIMEOUT.name in observation.metrics
        ]
        measure = self.plan.study.measure
        estimate = of_logarithms(logs, measure.alpha, half_width_of(measure), least=0.0)
        mean, low, high = (
            (estimate.mean, estimate.low, estimate.high) if estimate else (None, None, None)
        )
        return QueryTime(
            context=context,
            side=side,
            mean=None if mean is None else Seconds(mean),
            low=None if low is None else Seconds(low),
            high=None if high is None else Seconds(high),
            over=len(limits),
            within=len(logs),
            limit=Seconds(limits[0]) if limits else None,
        )

    def _known(self, context: Context, side: str) -> _Circumstances:
        return self.circumstances.get((context, side)) or _Circumstances({}, None)

    def _workers(self) -> Iterator[QueryWorkers]:
        for query in self.plans:
            for side in query.sides:
                known = self._known(query.context, side.side)
                yield QueryWorkers(
                    context=query.context,
                    side=side.side,
                    gathers=gather_workers(side.typical.plan, known.relations, known.limits),
                    limits=known.limits,
                )

    def _tables(self) -> Iterator[TableUse]:
        for query in self.plans:
            executed = [side for side in query.sides if side.executed]
            table = greatest_table(
                [side.typical for side in executed],
                [self._known(query.context, side.side).relations for side in executed],
            )
            if table is not None:
                yield from (self._table(query, side, table) for side in executed)

    def _table(self, query: QueryPlans, side: SidePlans, table: str) -> TableUse:
        relations = self._known(query.context, side.side).relations
        return table_use(side.typical, table, relations, query.context, side.side)

    def _contrast(self, contrast: ContrastResult, workers: Sequence[QueryWorkers]) -> QueryContrast:
        sides = ComparedSides(self.plan, self.name, self.observations, contrast.old, contrast.new)
        return QueryContrast(
            old=contrast.old,
            new=contrast.new,
            groups=conclusions(sides),
            bounds=bounds(sides),
            fewer_workers=tuple(_fewer_workers(contrast, workers)),
            gain=_extreme(contrast.levels, VerdictKind.FASTER),
            loss=_extreme(contrast.levels, VerdictKind.SLOWER),
        )

    def _sweeps(
        self, times: Sequence[QueryTime], workers: Sequence[QueryWorkers]
    ) -> Iterator[QuerySweep]:
        levels = sides_of(self.plan, self.name)
        if len(levels) < SWEPT or not all(_is_number(level) for level in levels):
            return
        sides = ComparedSides(self.plan, self.name, self.observations, levels[0], levels[-1])
        contexts = contexts_of(self.plan, self.name)
        confidence = Share(1 - comparison_alpha(self.plan, self.name))
        for context in contexts:
            verdicts = step_verdicts(sides, context, levels)
            steps = tuple(
                SweepStep(
                    level=level,
                    time=time,
                    against_first=self._verdict(context, level),
                    against_previous=verdict,
                    workers=_find(workers, context, level),
                )
                for level, verdict in zip(levels, verdicts, strict=True)
                if (time := _find(times, context, level)) is not None
            )
            if steps:
                yield QuerySweep(context, levels[0], confidence, steps)

    def _verdict(self, context: Context, level: str) -> Verdict | None:
        for contrast in self.contrasts:
            if contrast.new == level and contrast.metric is QUERY_TIME:
                for level_result in contrast.levels:
                    if level_result.context == context:
                        return level_result.verdict
        return None


def _find(among: Iterable[Found], context: Context, side: str) -> Found | None:
    return next(
        (result for result in among if (result.context, result.side) == (context, side)), None
    )


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


def _fewer_workers(
    contrast: ContrastResult, workers: Sequence[QueryWorkers]
) -> Iterator[FewerWorkers]:
    """Slower queries whose plan begins elsewhere, where its size permits fewer workers."""
    for level in contrast.levels:
        effect = level.verdict.effect
        old = _find(workers, level.context, contrast.old)
        new = _find(workers, level.context, contrast.new)
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
