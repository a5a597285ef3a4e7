"""The published and the measured TPS by clients over one another."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from teiten.analysis.model.claims import PublishedCurves
from teiten.kinds.pgbench.loads import CLIENTS
from teiten.kinds.pgbench.metrics import TPS
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
