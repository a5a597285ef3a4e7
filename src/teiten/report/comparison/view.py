"""A comparison as data: the parts of its report, in the order of every report."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.analysis.model.comparison import Comparison, Weight
from teiten.analysis.model.findings import VerdictKind
from teiten.model.text import Language
from teiten.model.trial import Outcome
from teiten.report.appendix import parted
from teiten.report.blocks import (
    Block,
    Code,
    Download,
    Downloads,
    Heading,
    Items,
    Page,
    Section,
    Statement,
    Text,
    with_contents,
)
from teiten.report.comparison.differences import (
    caution_table,
    difference_table,
    difference_text,
    environment_table,
)
from teiten.report.comparison.results import (
    forest_chart,
    part_results,
    value_columns,
)
from teiten.report.comparison.sides import Pair
from teiten.report.effects import confidence_percent, plain_percent
from teiten.report.sentences import machine_text, verdict_kind, verdict_word
from teiten.report.tables import Column, Table, cells
from teiten.report.view.answer import answer_section
from teiten.report.view.findings import findings_section


def comparison_page(comparison: Comparison, language: Language) -> Page:
    """Everything computed and worded; what is left is layout."""
    pair = Pair(comparison, language)
    t, (kit, _) = pair.t, pair.kits
    first, *others = parted(
        t,
        (
            answer_section(t, _notices(pair), _statements(pair), _remarks(pair)),
            _asked(pair),
            Section("results", t("section.results"), tuple(part_results(pair))),
            findings_section(kit, comparison.claims),
            _evidence(pair),
        ),
    )
    sections = with_contents(t("heading.contents"), first, *others)
    return Page(
        t,
        t("comparison.title", study=t.of(kit.study.title)),
        t("comparison.campaigns-named", a=comparison.a.name, b=comparison.b.name),
        (t("comparison.meta"),),
        sections,
    )


def _asked(pair: Pair) -> Section:
    t = pair.t
    found = (difference_table(pair, weight) for weight in Weight)
    differences = tuple(one for one in found if one is not None)
    shown: tuple[Block, ...] = (
        Text(t.of(pair.kits[0].study.question), "question"),
        _campaigns(pair),
        Heading(3, t("comparison.method")),
        Items(_method(pair)),
        Heading(3, t("comparison.differ")),
        *(differences or (Text(t("comparison.no-differences")),)),
    )
    return Section("asked", t("section.asked"), shown)


def _evidence(pair: Pair) -> Section:
    t, cautions = pair.t, caution_table(pair)
    shown: list[Block] = [
        environment_table(pair),
        *([cautions] if cautions else []),
        Downloads((Download("comparison.csv", value_columns(pair)),)),
        Heading(3, t("heading.repeat")),
    ]
    for side, kit in zip(pair.sides, pair.kits, strict=True):
        shown += [Text(side.long), Code(kit.analysis.command, "sh")]
    return Section("evidence", t("section.evidence"), tuple(shown))


def _notices(pair: Pair) -> Iterator[str]:
    t, comparison = pair.t, pair.comparison
    if comparison.obstacles:
        listed = t("list.strong").join(
            difference_text(t, obstacle) for obstacle in comparison.obstacles
        )
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
    found = [result for result in pair.comparison.results if result.metric.judged]
    for at, one in enumerate(found, start=1):
        yield Statement(
            pair.title(one),
            verdict_kind(one.overall),
            verdict_word(pair.t, one.overall),
            pair.sentence(one),
            forest_chart(pair, f"forest-{at}", one),
        )


def _remarks(pair: Pair) -> Iterator[tuple[str, str]]:
    t = pair.t
    yield t("comparison.scope"), t(f"comparison.scope-text{pair.machines}")
    for side, kit in zip(pair.sides, pair.kits, strict=True):
        analysis = kit.analysis
        counted = [trial for trial in analysis.trials if trial.outcome is Outcome.COUNTED]
        yield (
            side.long,
            t(
                "comparison.side-text",
                campaign=analysis.name,
                machine=machine_text(t, analysis.facts),
                at=kit.moment(analysis.created_at),
                counted=len(counted),
                ended=len(analysis.trials),
                blocks=t.plural("answer.cost.blocks", len({one.block for one in counted})),
            ),
        )
    undecided = [
        pair.title(result)
        for result in pair.comparison.results
        if result.metric.judged
        and not (result.overall.conclusive and result.overall.kind is not VerdictKind.INCONCLUSIVE)
    ]
    listed = t("list.strong").join(undecided) or t("comparison.undecided-none")
    yield t("answer.undecided"), listed


def _campaigns(pair: Pair) -> Table:
    t = pair.t
    rows = []
    for side, kit in zip(pair.sides, pair.kits, strict=True):
        analysis, study = kit.analysis, kit.study
        servers = t("list.separator").join(side.long for side in kit.names.sides.values())
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
        t(f"comparison-method.unpaired{pair.machines}"),
        t("comparison-method.levels"),
        t(
            "comparison-method.verdicts",
            delta=plain_percent(t, measure.delta),
            confidence=confidence_percent(t, 1 - pair.comparison.statement_alpha),
        ),
        t(f"comparison-method.scope{pair.machines}"),
    )
