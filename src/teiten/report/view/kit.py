"""Common parts of the view: names, trials by cell, a metric's shown unit."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, TrialView
from teiten.model.metrics import RATE, Metric
from teiten.model.plan import Context
from teiten.model.text import Language
from teiten.report.charts.base import coloured
from teiten.report.effects import confidence_percent
from teiten.report.names import Names
from teiten.report.numbers import NOTHING, fixed, plain, significant
from teiten.report.texts import Texts, texts

SHOWN = {"s": ("ms", 1000.0), RATE: ("TPS", 1.0), "B": ("B", 1.0), "1": ("", 1.0)}
"""A stored unit, and the unit and factor of its display."""


@dataclass(frozen=True)
class TrialGroup:
    """The counted trials of one workload, context and side."""

    workload: str
    context: Context
    side: str
    trials: tuple[TrialView, ...]

    def values(self, metric: str) -> list[float]:
        values = (trial.metrics.get(metric, math.nan) for trial in self.trials)
        return [value for value in values if math.isfinite(value)]

    def median(self, metric: str) -> float | None:
        """None where no trial has it."""
        values = self.values(metric)
        return median(values) if values else None


class Kit:
    """An analysis with the words for it."""

    def __init__(self, analysis: CampaignAnalysis, language: Language, beside: str = "") -> None:
        """``beside``: the relative address of the campaign's folder, or empty."""
        self.analysis = analysis
        self.beside = beside
        self.t: Texts = texts(language)
        self.names = Names(analysis.plan, self.t)
        self.study = analysis.plan.study

    @cached_property
    def of_nodes(self) -> str:
        """Addition to notes on servers' numbers that are sums over the nodes of a trial."""
        several = any(len(trial.nodes) > 1 for trial in self.analysis.plan.trials)
        return self.t("chart.of-nodes") if several else ""

    @property
    def confidence(self) -> str:
        """The confidence of an interval by itself: ``95 %``"""
        return confidence_percent(self.t, 1 - self.study.measure.alpha)

    def context_of(self, trial: TrialView) -> Context:
        return trial.context(self.study.contrast)

    def side_of(self, trial: TrialView) -> str:
        return trial.side(self.study.contrast)

    @cached_property
    def groups(self) -> tuple[TrialGroup, ...]:
        """Counted trials by cell, in the study's order of levels."""
        by_cell: dict[tuple[str, Context, str], list[TrialView]] = {}
        for trial in self.analysis.trials:
            if trial.counts:
                key = (trial.workload, self.context_of(trial), self.side_of(trial))
                by_cell.setdefault(key, []).append(trial)
        sides = {side: at for at, side in enumerate(self.names.sides)}

        def place(group: TrialGroup) -> tuple[tuple[int, ...], int]:
            return self.names.order(group.context), sides.get(group.side, 0)

        groups = (TrialGroup(*key, tuple(trials)) for key, trials in by_cell.items())
        return tuple(sorted(groups, key=place))

    def of_workload(self, workload: str) -> tuple[TrialGroup, ...]:
        return tuple(group for group in self.groups if group.workload == workload)

    def medians(self, workload: str, metric: str, factor: str) -> dict[Context, dict[float, float]]:
        """The medians of a metric by the numeric levels of a factor; a curve for each combination
        of the levels of what else is varied, and the contrasted one."""
        curves: dict[Context, dict[float, float]] = {}
        for group in self.of_workload(workload):
            levels = {**dict(group.context), self.study.contrast: group.side}
            level, values = levels.pop(factor, ""), group.values(metric)
            if level.isdecimal() and values:
                single = self.names.single - {self.study.contrast}
                fixed = tuple(pair for pair in levels.items() if pair[0] not in single)
                curves.setdefault(fixed, {})[float(level)] = median(values)
        return curves

    def colours(self, workloads: Collection[str]) -> dict[str, str]:
        """Find the colours, as ``colours_of`` does, of the sides planned with these workloads."""
        planned = (
            trial.cell.level(self.study.contrast)
            for trial in self.analysis.plan.trials
            if trial.cell.workload in workloads
        )
        return self.colours_of(level for level in planned if level is not None)

    def colours_of(self, sides: Iterable[str]) -> dict[str, str]:
        """By the short names of these sides, old first, their colours: the same in all charts."""
        of_all = coloured(self.names.sides)
        return {self.short(level): of_all[level] for level in self.sides_of(sides)}

    def sides_of(self, sides: Iterable[str]) -> tuple[str, ...]:
        """Those sides that occur, old first."""
        occurring = set(sides)
        return tuple(level for level in self.names.sides if level in occurring)

    def short(self, side: str) -> str:
        return self.names.side(side).short

    def workload_of(self, contrast: ContrastResult, among: Iterable[ContrastResult]) -> str:
        """The workload, and the new side where ``among`` has several of them there."""
        workload = self.names.workload(contrast.workload)
        sides = {result.new for result in among if result.workload == contrast.workload}
        with_side = self.t.aside(workload, self.names.titled(contrast.new))
        return with_side if len(sides) > 1 else workload

    def ratio_of(self, contrast: ContrastResult) -> str:
        """``18.4 ÷ 17.10``; bare numbers behind the name of their factor."""
        new, old = self.short(contrast.new), self.short(contrast.old)
        if new.isdecimal() and old.isdecimal():
            new = f"{self.names.factor(self.study.contrast)} {new}"
        else:
            new, old = (self.names.titled(side) for side in (contrast.new, contrast.old))
        return self.t("contrast.sides", new=new, old=old)

    def shares(self, metric: str) -> list[float]:
        """List the shares that a metric has in the trials that count, where they are known."""
        return [
            trial.metrics[metric]
            for trial in self.analysis.trials
            if trial.counts and trial.metrics.get(metric, -1.0) >= 0
        ]

    def workloads_measured(self) -> Iterator[str]:
        measured = {trial.workload for trial in self.analysis.trials}
        return (workload.name for workload in self.study.workloads if workload.name in measured)

    def metric_title(self, metric: Metric) -> str:
        """``mean latency, ms``"""
        title = self.t.metric(metric)
        unit = SHOWN.get(metric.unit, ("", 1.0))[0]
        return title if not unit or unit == title else self.t("unit.of", title=title, unit=unit)

    def duration(self, seconds: float) -> str:
        """``42 s``, ``8 min``, ``1 h 5 min``"""
        whole = round(seconds)
        if whole < 90:
            shown = plain(whole) if seconds >= 10 else significant(seconds, 2)
            return self.t("unit.seconds", value=shown)
        minutes = round(seconds / 60)
        if minutes < 60:
            return self.t("unit.minutes", value=fixed(minutes, 0))
        hours, rest = divmod(minutes, 60)
        return self.t("unit.hours", hours=fixed(hours, 0), minutes=rest)

    def seconds(self, value: float | None) -> str:
        """A declared time, as declared."""
        return self.t("unit.seconds", value=plain(value)) if value is not None else NOTHING


def factor_of(metric: Metric) -> float:
    return SHOWN.get(metric.unit, ("", 1.0))[1]
