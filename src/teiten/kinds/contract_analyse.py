"""A kind of workload where trials are analysed; ``kinds/KIND/analyse.py`` says it.

How many statements a campaign's report makes, and the share of α that each of them has.

Primary is what is said of a workload over all its levels, of each new side against the old one, by
the metric that the workload is judged by. They share α (Bonferroni), so that a report of equal
servers calls some pair different in α of all reports, whatever number of workloads and sides it
has. Each of K levels of a primary statement has a K-th of its share.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from teiten.analysis.model.findings import Measured, TrialView
from teiten.kinds.registry import Stage, kind, offers
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.rows import VariableRows
from teiten.model.study import Workload
from teiten.model.trial import Event
from teiten.model.units import Share


@dataclass(frozen=True)
class Unlike:
    """A trait of a workload or its trials in two campaigns; ``code`` has a text in the reports."""

    code: str
    here: object
    there: object
    """Equal to ``here`` where the campaigns do not differ in it."""
    subject: str = ""
    """The part of the workload that it is about; empty for the whole."""


def unlike_rows(a: VariableRows | None, b: VariableRows | None) -> Unlike:
    """Compare the lists from which variables are drawn, by their checksums."""
    digests = ("" if rows is None else rows.digest for rows in (a, b))
    return Unlike("variables", *digests)


def unlike_texts(a: Workload, b: Workload, texts: Callable[[str], str]) -> Iterator[Unlike]:
    """Compare texts of one name by checksums of that part of them which ``texts`` gives."""

    def short(text: str) -> str:
        return hashlib.sha256(texts(text).encode()).hexdigest()[:12]

    there = {text.name: text.text for text in b.options.work}
    for text in a.options.work:
        same = there.get(text.name, text.text)
        yield Unlike("query", short(text.text), short(same), text.name)


NumbersOf = Callable[[TrialView, Collection[str]], Mapping[str, float]]
"""Reads the wanted numbers that a trial has; a quantity's name stands for all its parts."""


class KindAnalysis:
    """The analysis of a kind; ``kinds/KIND/analyse.py`` holds one as ``ANALYSIS``. A kind without
    that file has verdicts alone."""

    by_pgbench: ClassVar[bool] = False
    """Its numbers depend on the version of the campaign's pgbench."""

    def results(self, measured: Measured) -> object:
        """Find further results beside verdicts: the kind's own values."""
        return None

    def numbers(self, plan: Plan, events: Sequence[Event]) -> NumbersOf:
        """Make what reads the numbers of trials, such as ``measures``, that claims speak of."""
        return lambda _view, _wanted: {}

    def comparisons(self, plan: Plan, workload: str) -> int:
        """Count the comparisons of a workload's sides that share α: M primary statements at K
        combinations of other levels. Of the plan alone: what was measured decides nothing."""
        contexts = {cell.context(plan.study.contrast) for cell in plan.cells_of(workload)}
        return primary_statements(plan) * max(1, len(contexts))

    def identity(self, workload: Workload) -> dict[str, Any]:
        """Describe, as JSON, what makes a workload the same work in another campaign."""
        return {"texts": [[text.name, text.text] for text in workload.options.work]}

    def unlike(self, a: Workload, b: Workload) -> Iterator[Unlike]:
        """List what two workloads of the kind must have in common to be compared."""
        same = self.identity(a) == self.identity(b)
        yield Unlike("script", a.options.source, a.options.source if same else b.options.source)

    def unlike_trials(self, a: PlannedTrial, b: PlannedTrial) -> Iterator[Unlike]:
        """List what two trials of one cell should have in common; a difference is a caution."""
        return iter(())


def analysis_of(name: str) -> KindAnalysis:
    """Find a kind's analysis of its trials. Raises KeyError for an unknown kind."""
    if not offers(name, Stage.ANALYSE):
        return KindAnalysis()
    kind_analysis = kind(name, Stage.ANALYSE).ANALYSIS
    assert isinstance(kind_analysis, KindAnalysis), f"kinds/{name}/analyse.py holds no KindAnalysis"
    return kind_analysis


def comparison_alpha(plan: Plan, workload: str, averaged: int = 1) -> Share:
    """Compute α of the comparison of two sides of a workload, wherever a report tells of it.
    ``averaged``: of so many of the K combinations of other levels it is a mean; it has their part
    of α, so that all K together have a primary statement's, and one by itself the K-th part."""
    kind_of = analysis_of(plan.study.workload(workload).kind)
    return Share(plan.study.measure.alpha / (kind_of.comparisons(plan, workload) / averaged))


def primary_statements(plan: Plan) -> int:
    """One or more."""
    contrast = plan.study.contrast
    sides = {(cell.workload, cell.level(contrast)) for cell in plan.cells}
    workloads = {workload for workload, _ in sides}
    return max(1, len(sides) - len(workloads))
