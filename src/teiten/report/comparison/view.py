"""A comparison as data: the parts of its report, in the order of every report."""

from __future__ import annotations

import math
from collections.abc import Iterator

from teiten.analysis.model.comparison import Comparison, UnpairedResult, Weight
from teiten.analysis.model.findings import LevelResult
from teiten.kinds.contract_present import present_in
from teiten.model.text import Language
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
    gallery,
    with_contents,
)
from teiten.report.charts.base import Chart, Columns, as_columns, coloured
from teiten.report.charts.forest import forest
from teiten.report.charts.levels import Dot, by_level
from teiten.report.comparison.sides import (
    Pair,
    caution_table,
    difference_table,
    environment_table,
    obstacle_lines,
)
from teiten.report.effects import confidence_percent, plain_percent
from teiten.report.numbers import moment
from teiten.report.parts import parted
from teiten.report.sentences import is_open, machine_text, verdict_kind, verdict_word
from teiten.report.tables import Table, TableCell, cells, headings
from teiten.report.view.answer import answer_section
from teiten.report.view.contrasts import Judged, by_spread, forest_rows, forest_words, verdict_table
from teiten.report.view.findings import findings_section
from teiten.report.view.kit import factor_of
from teiten.report.view.levels import ChartPlace, level_axes


def comparison_page(comparison: Comparison, language: Language) -> Page:
    """Everything computed and worded; what is left is layout."""
    pair = Pair(comparison, language)
    t, (kit, _) = pair.t, pair.kits
    sections = (
        answer_section(t, _notices(pair), _statements(pair), _remarks(pair)),
        _asked(pair),
        Section("results", t("section.results"), tuple(part_results(pair))),
        findings_section(kit, comparison.claims),
        _evidence(pair),
    )
    return Page(
        t,
        t("comparison.title", study=t.of(kit.study.title)),
        t("comparison.campaigns-named", a=comparison.a.name, b=comparison.b.name),
        (t("comparison.meta"),),
        with_contents(t("heading.contents"), *parted(t, sections)),
        made_key="comparison.made",
    )


def _asked(pair: Pair) -> Section:
    t = pair.t
    tables = (difference_table(pair, weight) for weight in Weight)
    differences = tuple(table for table in tables if table is not None)
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
        obstacles = obstacle_lines(comparison, t.language)
        yield t("comparison-notice.insisted", differences=t("list.strong").join(obstacles))
    for side, campaign in zip(pair.sides, (comparison.a, comparison.b), strict=True):
        study, name = campaign.plan.study, side.short
        if not study.conclusive:
            yield t("comparison-notice.no-conclusion", side=name, profile=study.profile)
        if campaign.missing and study.measure.sequential is None:
            values = {"side": name, "planned": len(campaign.plan.trials)}
            yield t.plural("comparison-notice.missing", campaign.missing, **values)


def _statements(pair: Pair) -> Iterator[Statement]:
    results = [result for result in pair.comparison.results if result.metric.judged]
    for at, result in enumerate(results, start=1):
        yield Statement(
            pair.title(result),
            verdict_kind(result.overall),
            verdict_word(pair.t, result.overall),
            pair.sentence(result),
            forest_chart(pair, f"forest-{at}", result),
        )


def _remarks(pair: Pair) -> Iterator[tuple[str, str]]:
    t = pair.t
    yield t("comparison.scope"), t(f"comparison.scope-text{pair.machines}")
    for side, kit in zip(pair.sides, pair.kits, strict=True):
        analysis = kit.analysis
        counted = [trial for trial in analysis.trials if trial.counts]
        yield (
            side.long,
            t(
                "comparison.side-text",
                campaign=analysis.name,
                machine=machine_text(t, analysis.facts),
                at=moment(analysis.created_at),
                counted=len(counted),
                ended=len(analysis.trials),
                blocks=t.plural("answer.cost.blocks", len({trial.block for trial in counted})),
            ),
        )
    undecided = [
        pair.title(result)
        for result in pair.comparison.results
        if result.metric.judged and is_open(result.overall)
    ]
    listed = t("list.strong").join(undecided) or t("comparison.undecided-none")
    yield t("answer.undecided"), listed


def _campaigns(pair: Pair) -> Table:
    t = pair.t
    rows = tuple(
        cells(
            side.long,
            kit.analysis.name,
            moment(kit.analysis.created_at),
            machine_text(t, kit.analysis.facts),
            f"{kit.study.name}, {kit.study.profile}",
            t("list.separator").join(side.long for side in kit.names.sides.values()),
        )
        for side, kit in zip(pair.sides, pair.kits, strict=True)
    )
    columns = ("campaign", "name", "started", "machine", "study", "servers-column")
    titles = headings(t, *(f"comparison.{name}" for name in columns))
    return Table("campaigns", t("comparison.campaigns"), titles, rows, sortable=False)


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


WIDEST = (0.02, 50.0)
"""Machines differ by more than versions do."""
FIELDS = ("workload", "metric", "factor", "level_a", "level_b", "levels", "side", "value")


def part_results(pair: Pair) -> Iterator[Block]:
    """A part for each workload on each server."""
    groups: dict[str, list[UnpairedResult]] = {}
    for result in pair.comparison.results:
        groups.setdefault(pair.title(result), []).append(result)
    for at, (title, results) in enumerate(groups.items(), start=1):
        yield Heading(3, title, part=True)
        yield from gallery(
            _by_level(pair, f"part-{at}-{result.metric.name}-levels", result)
            for result in results
            if result.metric.judged
            or result.metric.name in present_in(pair.kits[0], result.workload).by_level
        )
        for result in results:
            name = f"part-{at}-{result.metric.name}"
            yield result_table(pair, name, result, noted=at == 1 and result is results[0])


def forest_chart(pair: Pair, name: str, result: UnpairedResult) -> Chart | None:
    """The ratio B ÷ A with its interval by level; None where there is none."""
    t = pair.t
    rows = forest_rows(t, result, pair.kits[0].names.context, t("level.overall"))
    if not rows:
        return None
    words = forest_words(
        t,
        result,
        t("contrast.sides", new="B", old="A"),
        t("comparison.ratio"),
        title="chart.forest.title-variant",
        note="comparison.forest-note",
        workload=pair.title(result),
    )
    return forest(t, name, rows, result.overall.delta, words, widest=WIDEST)


def _by_level(pair: Pair, name: str, result: UnpairedResult) -> Chart | None:
    t, kit = pair.t, pair.kits[0]
    factor = factor_of(result.metric)
    labels = tuple(side.long for side in pair.sides)
    dots, places = [], []
    for level in result.levels:
        on_axis, panel = kit.names.axis(level.context)
        places.append(ChartPlace(on_axis, panel, ""))
        for label, values in zip(labels, (level.old_values, level.new_values), strict=True):
            dots += [
                Dot(panel, on_axis, label, value * factor, at, at)
                for at, value in enumerate(values, start=1)
                if math.isfinite(value)
            ]
    if not dots:
        return None
    axis = kit.names.axis_factor(result.levels[0].context)
    y = kit.metric_title(result.metric)
    axes = level_axes(kit, (axis, y, t("comparison.campaign")), places, coloured(labels))
    title = _caption(pair, result, t.metric(result.metric))
    return by_level(t, name, dots, axes, title=title, note=t("chart.by-level.note"))


def _caption(pair: Pair, result: UnpairedResult, metric: str) -> str:
    """Metric, workload and server."""
    return pair.t.title("table.contrast.caption", metric=metric, workload=pair.title(result))


def result_table(pair: Pair, name: str, result: UnpairedResult, *, noted: bool) -> Table:
    """A, B, ratio, interval, trials and verdict of every level, and over all levels."""
    t, kit = pair.t, pair.kits[0]
    confidence = confidence_percent(t, 1 - pair.comparison.statement_alpha)
    a, b = pair.sides

    def count(level: LevelResult | None) -> TableCell:
        seen = (len(level.old_values), len(level.new_values)) if level else result.blocks
        verdict = level.verdict if level else result.overall
        return TableCell(t("comparison.counts", a=seen[0], b=seen[1]), verdict.pairs)

    judged = Judged(
        t,
        _caption(pair, result, kit.metric_title(result.metric)),
        kit.names.columns([level.context for level in result.levels]),
        (a.short, b.short),
        t("comparison.ratio"),
        t("comparison.trials"),
        t("level.overall"),
        t("comparison.table-note", confidence=confidence) if noted else "",
        by_spread(factor_of(result.metric)),
        count,
    )
    return verdict_table(name, judged, result.levels, result.overall)


def value_columns(pair: Pair) -> Columns:
    """Every counted value that entered the comparison, in base units. ``level_a`` and ``level_b``
    are of the contrasted ``factor``, ``levels`` those of all others."""
    factor = pair.comparison.a.plan.study.contrast
    rows = []
    for result in pair.comparison.results:
        which = (result.workload, result.metric.name, factor, result.side.a, result.side.b)
        for level in result.levels:
            where = " ".join(f"{name}={text}" for name, text in level.context)
            for side, values in (("A", level.old_values), ("B", level.new_values)):
                rows += [(*which, where, side, value) for value in values]
    return as_columns(FIELDS, rows)
