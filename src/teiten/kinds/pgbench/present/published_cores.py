"""The published and the measured TPS per core over one another."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.analysis.model.claims import PublishedCurves
from teiten.kinds.pgbench.loads import CORES
from teiten.kinds.pgbench.metrics import TPS
from teiten.kinds.pgbench.present.scaling_words import side_of
from teiten.kinds.pgbench.results import pgbench_found
from teiten.report.charts.base import Chart
from teiten.report.charts.published import PublishedPoint, PublishedWords, published_curves
from teiten.report.claim_words import source_text
from teiten.report.view.kit import Kit


def cores_chart(kit: Kit) -> Chart | None:
    """A panel for each published table of TPS by cores whose workload was measured here."""
    t = kit.t
    tables: dict[tuple[str, str], PublishedCurves] = {}
    for claim in kit.analysis.claims:
        published = claim.claim.published
        if not isinstance(published, PublishedCurves):
            continue
        if claim.claim.metric == TPS.name and published.axis == CORES:
            tables.setdefault((claim.claim.workload, published.table), published)
    points: list[PublishedPoint] = []
    for (workload, _), published in tables.items():
        panel = source_text(t, published.source)
        measured = list(_measured(kit, workload, panel))
        if measured:
            points += [*_published(kit, published, panel), *measured]
    if not points:
        return None
    words = PublishedWords(
        title=t("chart.published-cores.title"),
        note=t("chart.published-cores.note"),
        x=kit.names.factor(CORES),
        y=t("axis.relative-per-core"),
        clients=kit.names.factor(CORES),
        value=t("metric.tps"),
        curve=t("word.curve"),
        sides=(t("word.published"), t("word.measured")),
        origins=(t("word.published"), t("word.measured")),
    )
    return published_curves("published-cores", points, words)


def _published(kit: Kit, published: PublishedCurves, panel: str) -> Iterator[PublishedPoint]:
    word = kit.t("word.published")
    for curve in published.curves:
        first, base = min(curve.points)
        for cores, value in curve.points:
            share = (value / cores) / (base / first)
            yield PublishedPoint(panel, curve.label, word, word, cores, cores, share, value)


def _measured(kit: Kit, workload: str, panel: str) -> Iterator[PublishedPoint]:
    """Nothing where the campaign does not vary the cores."""
    word = kit.t("word.measured")
    for one in pgbench_found(kit.analysis).scaling:
        if one.workload != workload or one.load != CORES:
            continue
        for at in one.scaling.points:
            label = side_of(kit, one).long
            yield PublishedPoint(panel, label, word, word, at.load, at.load, at.per_load, at.value)
