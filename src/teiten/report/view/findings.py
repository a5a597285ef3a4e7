"""Part 5: published findings: claim, printed, measured, outcome, and the curves of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from teiten.model.claims import ClaimOutcome, ClaimStanding, PublishedCurves
from teiten.model.metrics import TPS
from teiten.report.blocks import Block, Gallery, Section, Text
from teiten.report.charts.base import Chart
from teiten.report.charts.published import CurvePoint, CurveWords, published_curves
from teiten.report.claim_words import (
    Side,
    bounds_text,
    check_text,
    outcome_word,
    printed_text,
    reason_text,
    side_of,
    source_text,
    statement_text,
)
from teiten.report.names import CLIENTS
from teiten.report.tables import Cell, Column, Row, Table, cells
from teiten.report.view.findings_cores import cores_chart
from teiten.report.view.findings_queries import query_charts, query_tables
from teiten.report.view.kit import Kit

NEAR_CORES = 0.75
"""The level "at the cores" is the greatest one not above them, and not below this share."""


def findings(kit: Kit) -> Section:
    """Empty where the study replicates no published finding."""
    drawn = (_chart(kit), cores_chart(kit), *query_charts(kit))
    charts = tuple(one for one in drawn if one is not None)
    return findings_section(kit, kit.analysis.claims, charts, query_tables(kit))


def findings_section(
    kit: Kit,
    found: tuple[ClaimOutcome, ...],
    charts: tuple[Chart, ...] = (),
    tables: tuple[Table, ...] = (),
) -> Section:
    """With the charts and tables that set printed and measured beside one another."""
    shown: tuple[Block, ...] = ()
    if found:
        gallery = (Gallery(charts),) if charts else ()
        shown = (Text(_summary(kit, found)), *gallery, *tables, *claim_tables(kit, found))
    return Section("findings", kit.t("section.findings"), shown)


def claim_tables(kit: Kit, found: tuple[ClaimOutcome, ...]) -> tuple[Table, ...]:
    """The findings that apply, then the others."""
    applied = [one for one in found if one.standing is not ClaimStanding.NOT_APPLICABLE]
    elsewhere = [one for one in found if one.standing is ClaimStanding.NOT_APPLICABLE]
    tables = [_outcomes(kit, applied)] if applied else []
    if elsewhere:
        tables.append(_not_applicable(kit, elsewhere))
    return tuple(tables)


def _summary(kit: Kit, found: tuple[ClaimOutcome, ...]) -> str:
    counts = kit.t("list.separator").join(
        kit.t("claim.count", outcome=kit.t(f"claim-outcome.{standing.value}"), count=count)
        for standing in ClaimStanding
        if (count := sum(one.standing is standing for one in found))
    )
    return kit.t("claim.summary", count=len(found), counts=counts)


def _outcomes(kit: Kit, found: list[ClaimOutcome]) -> Table:
    t = kit.t
    columns = tuple(
        Column(t(f"table.{name}")) for name in ("finding", "printed", "measured", "bounds")
    )
    return Table(
        "claims",
        t("table.claims.caption"),
        (*columns, Column(t("table.outcome"))),
        tuple(_outcome_row(kit, one) for one in found),
        note=t("table.claims.note"),
    )


def _outcome_row(kit: Kit, one: ClaimOutcome) -> Row:
    t = kit.t
    reason = reason_text(t, one.reason)
    word = outcome_word(t, one)
    return cells(
        statement_text(t, one.claim),
        printed_text(t, one, _side_of(kit, one)),
        _measured(kit, one),
        bounds_text(t, one.deciding),
        Cell(
            t("claim.because", outcome=word, reason=reason) if reason else word,
            kind=f"verdict {one.standing.value}",
        ),
    )


def _measured(kit: Kit, one: ClaimOutcome) -> str:
    """The deciding check, and of how many it is one."""
    deciding = one.deciding
    if deciding is not None and deciding.server:
        deciding = replace(deciding, server=kit.names.server(deciding.server).short)
    text = check_text(kit.t, deciding, _side_of(kit, one))
    if len(one.checks) < 2:
        return text
    kept = sum(check.standing is ClaimStanding.REPRODUCED for check in one.checks)
    return kit.t("claim.of-checks", check=text, kept=kept, count=len(one.checks))


def _side_of(kit: Kit, one: ClaimOutcome) -> Side:
    """A finding without a contrast is checked on each server."""
    if one.claim.contrast is not None:
        return side_of(one.claim, kit.short)
    return lambda level: kit.names.server(level).short


def _not_applicable(kit: Kit, found: list[ClaimOutcome]) -> Table:
    t = kit.t
    return Table(
        "claims-elsewhere",
        t("table.claims.elsewhere"),
        tuple(Column(t(f"table.{name}")) for name in ("finding", "printed", "needs")),
        tuple(
            cells(
                statement_text(t, one.claim),
                printed_text(t, one, _side_of(kit, one)),
                Cell(reason_text(t, one.reason), kind="muted"),
            )
            for one in found
        ),
    )


def _chart(kit: Kit) -> Chart | None:
    """A panel for each published table of TPS by clients whose workload was measured here."""
    t = kit.t
    tables: dict[tuple[str, str], PublishedCurves] = {}
    for one in kit.analysis.claims:
        claim = one.claim
        published = claim.published
        if not isinstance(published, PublishedCurves):
            continue
        if claim.metric == TPS.name and published.axis == CLIENTS:
            tables.setdefault((claim.workload, published.table), published)
    points: list[CurvePoint] = []
    for (workload, _), published in tables.items():
        panel = source_text(kit.t, published.source)
        measured = list(_measured_points(kit, workload, panel))
        if measured:
            points += [*_published_points(kit, published, panel), *measured]
    if not points:
        return None
    words = CurveWords(
        title=t("chart.published.title"),
        note=t("chart.published.note"),
        x=t("axis.clients-per-core"),
        y=t("axis.relative-tps"),
        clients=kit.names.factor(CLIENTS),
        value=t("metric.tps"),
        curve=t("word.curve"),
        sides=(t("word.old"), t("word.new")),
        origins=(t("word.published"), t("word.measured")),
    )
    return published_curves("published", points, words)


def _published_points(kit: Kit, published: PublishedCurves, panel: str) -> Iterator[CurvePoint]:
    for rank, curve in enumerate(published.curves):
        yield from _relative(
            panel,
            (curve.label, kit.t("word.published"), _side(kit, rank)),
            dict(curve.points),
            published.cores,
        )


def _measured_points(kit: Kit, workload: str, panel: str) -> Iterator[CurvePoint]:
    """Medians of the counted trials; none where more than the clients is varied beside."""
    groups = kit.of_workload(workload)
    fixed = kit.names.single - {CLIENTS}
    if any([name for name, _ in one.context if name not in fixed] != [CLIENTS] for one in groups):
        return
    cores = kit.analysis.facts.cpu.logical
    for rank, side in enumerate(kit.names.sides):
        medians = {
            float(dict(group.context)[CLIENTS]): median(values)
            for group in groups
            if group.side == side and (values := group.values(TPS.name))
        }
        names = (kit.short(side), kit.t("word.measured"), _side(kit, rank))
        yield from _relative(panel, names, medians, cores)


def _side(kit: Kit, rank: int) -> str:
    return kit.t("word.new" if rank else "word.old")


def _relative(
    panel: str, names: tuple[str, str, str], values: dict[float, float], cores: int
) -> Iterator[CurvePoint]:
    """A curve relative to its value with as many clients as cores; none where that is missing."""
    near = [level for level in values if NEAR_CORES * cores <= level <= cores]
    if not near or values[max(near)] <= 0:
        return
    reference = values[max(near)]
    for level, value in sorted(values.items()):
        yield CurvePoint(panel, *names, level / cores, level, value / reference, value)
