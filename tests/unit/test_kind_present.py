"""A kind that the report has never heard of is presented by its folder alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.kinds import registry
from teiten.model.study import Workload, WorkloadOptions
from teiten.model.text import Language
from teiten.report.render.html import html
from teiten.report.render.markdown import markdown_text
from teiten.report.view.report import view
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.more_rooms import SAID, VACUUM, more_kinds
from tests.fixtures.shown import part


@pytest.fixture
def third() -> Iterator[str]:
    """A kind in a folder beside those of Teiten."""
    with more_kinds():
        yield VACUUM


def of_kind(kind: str) -> CampaignAnalysis:
    """An invented campaign whose loads are of this kind: what were TPS are times of VACUUM."""
    found = invented_analysis(seconds=2)
    (metric,) = registry.kind(kind, registry.Stage.PLAN).PLAN.metrics
    contrasts = tuple(
        replace(contrast, metric=metric)
        for contrast in found.contrasts
        if contrast.metric.name == "tps"
    )
    trials = tuple(
        replace(trial, metrics={metric.name: 100 / trial.metrics["tps"]} if trial.metrics else {})
        for trial in found.trials
    )
    study = found.plan.study
    workloads: tuple[Workload, ...] = tuple(
        replace(workload, kind=kind, options=WorkloadOptions()) for workload in study.workloads
    )
    plan = replace(found.plan, study=replace(study, workloads=workloads))
    return replace(found, plan=plan, contrasts=contrasts, trials=trials, results={}, claims=())


@pytest.mark.parametrize("language", ["en", "ja"])
def test_its_folder_is_all_that_the_report_needs(third: str, language: Language) -> None:
    analysis = of_kind(third)
    shown = view(analysis, language)
    page, text = html(shown, "0.1.0"), markdown_text(shown, "0.1.0")
    for said in SAID[language]:
        assert said in page and said in text
    results = part(shown, "results")
    assert len(results.charts) == len(analysis.plan.study.workloads)
    assert len(results.tables) == len(analysis.contrasts)
    assert all(statement.chart is not None for statement in part(shown, "answer").statements)
