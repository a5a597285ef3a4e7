"""A query over many levels, as a count over numbers of workers (2020, tables 6.8 and 6.9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.analysis.model.findings import VerdictKind
from teiten.kinds.queries.model import QUERY
from teiten.kinds.queries.present.groups import effect_interval_text, effect_text
from teiten.kinds.queries.present.tables import source_text
from teiten.kinds.queries.present.times import TimeUnit, over_text, unit_for
from teiten.kinds.queries.results import (
    QueryResults,
    QuerySweep,
    QueryTime,
    SweepStep,
    queries_found,
)
from teiten.model.text import joined_sentences
from teiten.report.charts.base import Chart
from teiten.report.charts.lines import SweepPoint, SweepWords, sweep_chart
from teiten.report.effects import (
    confidence_percent,
    effect_cells,
    ratio_with_interval,
    says_nothing,
)
from teiten.report.numbers import NOTHING
from teiten.report.tables import Column, Row, Table, TableCell, columns_of, headings, number_cell
from teiten.report.view.contrasts import verdict_cell
from teiten.report.view.kit import Kit


def sweeps_of(kit: Kit, workload: str) -> QueryResults | None:
    """Find the results of a workload whose contrast is a sweep; None for others."""
    results = queries_found(kit.analysis).of_workload(workload)
    return results if results is not None and results.sweeps else None


def chart(kit: Kit, name: str, results: QueryResults) -> Chart | None:
    """Speed-up against the first level, by level."""
    points = [point for sweep in results.sweeps for point in _points(kit, sweep)]
    if not points:
        return None
    t = kit.t
    first = results.sweeps[0].first
    words = SweepWords(
        title=t("chart.sweep.title", workload=kit.names.workload(results.workload)),
        note=t("chart.sweep.note", first=kit.short(first)),
        x=kit.names.factor(kit.study.contrast),
        y=t("chart.sweep.axis", first=kit.short(first)),
        query=kit.names.factor(QUERY),
        workers=t("table.workers.launched"),
    )
    return sweep_chart(t, name, points, words)


def _points(kit: Kit, sweep: QuerySweep) -> list[SweepPoint]:
    label = kit.names.context(sweep.context)
    points = []
    for step in sweep.steps:
        effect = step.effect
        if effect is None and step.level != sweep.first:
            continue
        shown = effect.inverse if effect else None
        points.append(
            SweepPoint(
                label,
                float(step.level),
                shown.ratio if shown else 1.0,
                shown.low if shown else None,
                shown.high if shown else None,
                ratio_with_interval(kit.t, effect, speed=True) if effect else "1",
                _workers(step)[-1].text,
                effect is not None and says_nothing(effect),
            )
        )
    return points


def table(kit: Kit, name: str, sweep: QuerySweep) -> Table:
    """A row for each level: time, speed-up, verdicts, workers."""
    t = kit.t
    unit = unit_for(step.time.mean or 0.0 for step in sweep.steps)
    columns = (
        Column(kit.names.factor(kit.study.contrast), numeric=True),
        Column(t("unit.of", title=t("metric.query_seconds"), unit=unit.name), numeric=True),
        *headings(t, "table.speed-up", "table.interval", numeric=True),
        *headings(t, "table.sweep.step"),
        *columns_of(t, "table.workers", ("expected", "planned", "launched"), ()),
    )
    return Table(
        name=name,
        caption=t("table.sweep.caption", query=kit.names.context(sweep.context)),
        columns=columns,
        rows=tuple(_row(kit, step, unit) for step in sweep.steps),
        note=joined_sentences(
            (
                t(
                    "table.sweep.note",
                    first=kit.short(sweep.first),
                    confidence=confidence_percent(t, sweep.confidence),
                ),
                *_source(kit, sweep),
            )
        ),
    )


def _source(kit: Kit, sweep: QuerySweep) -> list[str]:
    """Name what decides the number of workers: the same table or index at all levels, mostly."""
    sources = {
        source_text(kit, step.workers.main.source): step.workers.main.source
        for step in sweep.steps
        if step.workers and step.workers.main and step.workers.main.source
    }
    return [
        kit.t.plural(
            "table.sweep.source",
            source.workers,
            source=text,
            rule=kit.t(f"worker-rule.{source.rule.value}"),
            workers=f"≤ {source.workers}" if source.at_most else source.workers,
        )
        for text, source in sources.items()
    ]


def _row(kit: Kit, step: SweepStep, unit: TimeUnit) -> Row:
    return (
        TableCell(kit.short(step.level), float(step.level)),
        _time(kit, step.time, unit),
        *effect_cells(kit.t, step.effect, speed=True),
        TableCell(NOTHING)
        if step.against_previous is None
        else verdict_cell(kit.t, step.against_previous),
        *_workers(step),
    )


def _time(kit: Kit, time: QueryTime, unit: TimeUnit) -> TableCell:
    if time.estimate is None or time.over:
        limit = time.limit or 0.0
        return TableCell(over_text(kit, limit, time.over, time.within), limit)
    return TableCell(unit.text(time.estimate.mean, time.estimate.half_width), time.estimate.mean)


def _workers(step: SweepStep) -> tuple[TableCell, TableCell, TableCell]:
    """Workers expected, planned and launched; those of a serial plan are 0, of no plan unknown."""
    main = step.workers.main if step.workers else None
    serial = 0 if step.workers else None
    expected, planned, launched = (
        (main.expected, main.planned, main.launched) if main else (None, serial, serial)
    )
    return number_cell(expected, str), number_cell(planned, str), number_cell(launched, str)


def findings(kit: Kit, results: QueryResults) -> tuple[str, ...]:
    """Tell each query's fastest level, and the last step that gained."""
    return tuple(
        kit.t("sweep.and", first=sentence, then=_last_gain(kit, sweep.steps))
        for sweep in results.sweeps
        for sentence in _fastest(kit, sweep)
    )


def _fastest(kit: Kit, sweep: QuerySweep) -> Iterator[str]:
    """Compared with the first level; where that is the fastest one itself, the next with it.
    Nothing where one of the levels has no ratio: it may be the fastest."""
    known = all(step.level == sweep.first or step.effect for step in sweep.by_time)
    shown = _fastest_new(sweep)
    if not known or shown is None or shown.effect is None:
        return
    yield kit.t(
        "sweep.fastest" if sweep.by_time[0] is shown else "sweep.fastest-first",
        query=kit.names.context(sweep.context),
        factor=kit.names.factor(kit.study.contrast),
        level=kit.short(shown.level),
        first=kit.short(sweep.first),
        effect=effect_text(kit, shown.effect),
        interval=effect_interval_text(kit, shown.effect),
    )


def _fastest_new(sweep: QuerySweep) -> SweepStep | None:
    """The fastest of the levels that are compared with the first one."""
    return next((step for step in sweep.by_time if step.level != sweep.first), None)


def fastest_level(results: QueryResults) -> str | None:
    """Find the first query's fastest level, among those that are compared with the first one."""
    step = _fastest_new(results.sweeps[0])
    return step.level if step else results.sweeps[0].steps[-1].level


def _last_gain(kit: Kit, steps: Sequence[SweepStep]) -> str:
    gains = [
        step.level
        for step in steps
        if step.against_previous and step.against_previous.kind is VerdictKind.FASTER
    ]
    if not gains:
        return kit.t("sweep.no-gain")
    key = "sweep.gain-to-the-end" if gains[-1] == steps[-1].level else "sweep.last-gain"
    return kit.t(key, level=kit.short(gains[-1]))
