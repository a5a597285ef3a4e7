"""A comparison as data: the parts of its report, in the order of every report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from teiten.analysis.model.comparison import Comparison, Weight
from teiten.analysis.model.findings import VerdictKind
from teiten.model.text import Language
from teiten.model.trial import Outcome
from teiten.report.charts.base import Chart
from teiten.report.comparison.differences import (
    caution_table,
    difference_table,
    difference_text,
    environment_table,
)
from teiten.report.comparison.results import (
    PartResults,
    forest_chart,
    part_results,
    value_columns,
)
from teiten.report.comparison.sides import Pair
from teiten.report.sentences import machine_text, plain_percent, verdict_word
from teiten.report.tables import Column, Table, cells
from teiten.report.texts import Texts
from teiten.report.view.answer import Answer, Statement
from teiten.report.view.findings import Findings, findings_of
from teiten.report.view.trials import Download


@dataclass(frozen=True)
class ComparisonView:
    """All that a comparison's report shows, in one language."""

    language: Language
    texts: Texts
    title: str
    campaign: str
    meta: tuple[str, ...]
    answer: Answer
    question: str
    campaigns: Table
    method: tuple[str, ...]
    differences: tuple[Table, ...]
    results: tuple[PartResults, ...]
    findings: Findings | None
    environments: Table
    cautions: Table | None
    commands: tuple[tuple[str, str], ...]
    downloads: tuple[Download, ...]

    def charts(self) -> Iterator[Chart]:
        """Every chart, in the order of the page."""
        yield from (one.chart for one in self.answer.statements if one.chart)
        for part in self.results:
            yield from part.charts


def comparison_view(comparison: Comparison, language: Language) -> ComparisonView:
    """Everything computed and worded; what is left is layout."""
    pair = Pair(comparison, language)
    t, (kit, _) = pair.t, pair.kits
    names = t("comparison.campaigns-named", a=comparison.a.name, b=comparison.b.name)
    return ComparisonView(
        language,
        t,
        t("comparison.title", study=t.of(kit.study.title)),
        names,
        (t("comparison.meta"),),
        Answer(tuple(_notices(pair)), tuple(_statements(pair)), tuple(_remarks(pair))),
        t.of(kit.study.question),
        _campaigns(pair),
        _method(pair),
        tuple(found for weight in Weight if (found := difference_table(pair, weight))),
        part_results(pair),
        findings_of(kit, comparison.claims),
        environment_table(pair),
        caution_table(pair),
        tuple(
            (side.long, one.command)
            for side, one in zip(pair.sides, (comparison.a, comparison.b), strict=True)
        ),
        (Download("comparison.csv", value_columns(pair)),),
    )


def _notices(pair: Pair) -> Iterator[str]:
    t, comparison = pair.t, pair.comparison
    if comparison.obstacles:
        listed = t("list.strong").join(difference_text(t, one) for one in comparison.obstacles)
        yield t("comparison-notice.insisted", differences=listed)
    for side, one in zip(pair.sides, (comparison.a, comparison.b), strict=True):
        if not one.plan.study.conclusive:
            yield t(
                "comparison-notice.no-conclusion", side=side.short, profile=one.plan.study.profile
            )
        if one.missing and one.plan.study.measure.sequential is None:
            yield t.plural(
                "comparison-notice.missing",
                one.missing,
                side=side.short,
                planned=len(one.plan.trials),
            )


def _statements(pair: Pair) -> Iterator[Statement]:
    found = [one for one in pair.comparison.results if one.metric.judged]
    for at, one in enumerate(found, start=1):
        yield Statement(
            pair.title(one),
            "",
            one.overall.kind.value,
            verdict_word(pair.t, one.overall),
            pair.sentence(one),
            forest_chart(pair, f"forest-{at}", one),
        )


def _remarks(pair: Pair) -> Iterator[tuple[str, str]]:
    t = pair.t
    yield t("comparison.scope"), t("comparison.scope-text")
    for side, kit in zip(pair.sides, pair.kits, strict=True):
        analysis = kit.analysis
        counted = [one for one in analysis.trials if one.outcome is Outcome.COUNTED]
        yield (
            side.long,
            t(
                "comparison.side-text",
                campaign=analysis.name,
                machine=machine_text(t, analysis.facts),
                at=kit.moment(analysis.created_at),
                counted=len(counted),
                ended=len(analysis.trials),
                blocks=len({one.block for one in counted}),
            ),
        )
    undecided = [
        pair.title(one)
        for one in pair.comparison.results
        if one.metric.judged and one.overall.kind is VerdictKind.INCONCLUSIVE
    ]
    listed = t("list.strong").join(undecided) or t("comparison.undecided-none")
    yield t("answer.undecided"), listed


def _campaigns(pair: Pair) -> Table:
    t = pair.t
    rows = []
    for side, kit in zip(pair.sides, pair.kits, strict=True):
        analysis, study = kit.analysis, kit.study
        servers = t("list.separator").join(one.long for one in kit.names.sides.values())
        rows.append(
            cells(
                side.long,
                analysis.name,
                kit.moment(analysis.created_at),
                machine_text(t, analysis.facts),
                f"{study.name}, {study.profile}",
                servers,
            )
        )
    columns = ("campaign", "name", "started", "machine", "study", "servers-column")
    return Table(
        "campaigns",
        t("comparison.campaigns"),
        tuple(Column(t(f"comparison.{name}")) for name in columns),
        tuple(rows),
        sortable=False,
    )


def _method(pair: Pair) -> tuple[str, ...]:
    t, measure = pair.t, pair.comparison.a.plan.study.measure
    return (
        t("comparison-method.unpaired"),
        t("comparison-method.levels"),
        t(
            "comparison-method.verdicts",
            delta=plain_percent(t, measure.delta),
            confidence=plain_percent(t, round(1 - measure.alpha, 12)),
        ),
        t("comparison-method.scope"),
    )
