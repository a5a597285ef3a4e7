"""The published and the measured TPS over one another, by clients and by cores."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from teiten.analysis.model.claims import PublishedCurves
from teiten.kinds.pgbench.loads import CLIENTS, CORES
from teiten.kinds.pgbench.metrics import TPS
from teiten.kinds.pgbench.present.scaling_words import side_of
from teiten.kinds.pgbench.results import pgbench_found
from teiten.report.charts.base import Chart
from teiten.report.charts.published import PublishedPoint, PublishedWords, published_curves
from teiten.report.claim_words import source_text
from teiten.report.view.kit import Kit

NEAR_CORES = 0.75
"""The level "at the cores" is the greatest one not above them, and not below this share."""


def clients_chart(kit: Kit) -> Chart | None:
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
    points: list[PublishedPoint] = []
    for (workload, _), published in tables.items():
        panel = source_text(kit.t, published.source)
        measured = list(_measured_points(kit, workload, panel))
        if measured:
            points += [*_published_points(kit, published, panel), *measured]
    if not points:
        return None
    words = PublishedWords(
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


def _published_points(kit: Kit, published: PublishedCurves, panel: str) -> Iterator[PublishedPoint]:
    for rank, curve in enumerate(published.curves):
        yield from _relative(
            panel,
            (curve.label, kit.t("word.published"), _side(kit, rank)),
            dict(curve.points),
            published.cores,
        )


def _measured_points(kit: Kit, workload: str, panel: str) -> Iterator[PublishedPoint]:
    """Medians of the counted trials; none where more than the clients is varied beside."""
    groups = kit.of_workload(workload)
    fixed = kit.names.single - {CLIENTS}
    if any(
        [name for name, _ in group.context if name not in fixed] != [CLIENTS] for group in groups
    ):
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
) -> Iterator[PublishedPoint]:
    """A curve relative to its value with as many clients as cores; none where that is missing."""
    near = [level for level in values if NEAR_CORES * cores <= level <= cores]
    if not near or values[max(near)] <= 0:
        return
    reference = values[max(near)]
    for level, value in sorted(values.items()):
        yield PublishedPoint(panel, *names, level / cores, level, value / reference, value)


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
