"""A report as data: its parts in REPORT.md's order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.model.text import Language
from teiten.report.charts.base import Chart
from teiten.report.texts import Texts
from teiten.report.view.answer import Answer, answer
from teiten.report.view.asked import Asked, asked
from teiten.report.view.evidence import Evidence, evidence
from teiten.report.view.findings import Findings, findings
from teiten.report.view.kit import Kit
from teiten.report.view.plans import QueryPlansView, plans
from teiten.report.view.results import WorkloadResults, results
from teiten.report.view.root_cause import Drawing
from teiten.report.view.why import WorkloadWhy, why


@dataclass(frozen=True)
class ReportView:
    """All that a report shows, in one language."""

    language: Language
    texts: Texts
    title: str
    campaign: str
    meta: tuple[str, ...]
    answer: Answer
    asked: Asked
    results: tuple[WorkloadResults, ...]
    why: tuple[WorkloadWhy, ...]
    plans: tuple[QueryPlansView, ...]
    findings: Findings | None
    evidence: Evidence

    def charts(self) -> Iterator[Chart]:
        """Every chart, in the order of the page."""
        yield from (one.chart for one in self.answer.statements if one.chart)
        yield self.asked.grid
        for part in self.results:
            yield from part.charts
            yield from (one for topic in part.topics for one in topic.charts)
            yield from (one.chart for one in part.scaling)
            if part.series:
                yield part.series
        for reason in self.why:
            yield from reason.charts
        if self.findings:
            yield from self.findings.charts

    def drawings(self) -> Iterator[Drawing]:
        """Every flame graph, in the order of the page."""
        for reason in self.why:
            for cause in reason.causes:
                yield from cause.drawings


def view(analysis: CampaignAnalysis, language: Language) -> ReportView:
    """Everything computed and worded; what is left is layout."""
    kit = Kit(analysis, language)
    t = kit.t
    ended = analysis.finished_at
    meta = (
        t("meta.started", at=kit.moment(analysis.created_at)),
        *([t("meta.finished", at=kit.moment(ended))] if ended else []),
        t("meta.profile", profile=kit.study.profile),
    )
    return ReportView(
        language,
        t,
        t.of(kit.study.title),
        analysis.name,
        meta,
        answer(kit),
        asked(kit),
        results(kit),
        why(kit),
        plans(kit),
        findings(kit),
        evidence(kit),
    )
