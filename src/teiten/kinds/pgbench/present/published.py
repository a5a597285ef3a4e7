"""The published and the measured TPS over one another, by clients and by cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median

from teiten.analysis.model.claims import PublishedCurves
from teiten.kinds.pgbench.analyse import CLIENTS, CORES
from teiten.kinds.pgbench.metrics import TPS
from teiten.kinds.pgbench.present.scaling import side_of
from teiten.kinds.pgbench.results import pgbench_found
from teiten.report.charts.base import Chart
from teiten.report.charts.lines import PublishedPoint, PublishedWords, published_curves
from teiten.report.claim_words import source_text
from teiten.report.view.kit import Kit

NEAR_CORES = 0.75
"""The level "at the cores" is the greatest one not above them, and not below this share."""
Points = Callable[[Kit, str, PublishedCurves, str], tuple[list[PublishedPoint], ...]]
"""The published and the measured points of a workload: the table, and the name of its panel."""


def published_charts(kit: Kit) -> Iterator[Chart]:
    """Charts of the published tables of TPS whose workload was measured here, a panel for each."""
    t = kit.t
    by_clients = _points(kit, CLIENTS, _by_clients)
    if by_clients:
        sides, x = (t("word.old"), t("word.new")), t("axis.clients-per-core")
        words = _words(kit, "published", CLIENTS, (x, t("axis.relative-tps")), sides)
        yield published_curves("published", by_clients, words)
    by_cores = _points(kit, CORES, _by_cores)
    if by_cores:
        sides, x = (t("word.published"), t("word.measured")), kit.names.factor(CORES)
        words = _words(kit, "published-cores", CORES, (x, t("axis.relative-per-core")), sides)
        yield published_curves("published-cores", by_cores, words)


def _points(kit: Kit, axis: str, points_of: Points) -> list[PublishedPoint]:
    tables: dict[tuple[str, str], PublishedCurves] = {}
    for claim in (outcome.claim for outcome in kit.analysis.claims):
        table = claim.published
        if isinstance(table, PublishedCurves) and (claim.metric, table.axis) == (TPS.name, axis):
            tables.setdefault((claim.workload, table.table), table)
    points: list[PublishedPoint] = []
    for (workload, _), table in tables.items():
        published, measured = points_of(kit, workload, table, source_text(kit.t, table.source))
        points += [*published, *measured] if measured else []
    return points


def _words(
    kit: Kit, name: str, axis: str, titles: tuple[str, str], sides: tuple[str, ...]
) -> PublishedWords:
    t = kit.t
    return PublishedWords(
        title=t(f"chart.{name}.title"),
        note=t(f"chart.{name}.note"),
        x=titles[0],
        y=titles[1],
        clients=kit.names.factor(axis),
        value=t("metric.tps"),
        curve=t("word.curve"),
        sides=sides,
        origins=(t("word.published"), t("word.measured")),
    )


def _by_clients(
    kit: Kit, workload: str, table: PublishedCurves, panel: str
) -> tuple[list[PublishedPoint], ...]:
    word = kit.t("word.published")
    published = [
        point
        for rank, curve in enumerate(table.curves)
        for point in _relative(
            panel, (curve.label, word, _side(kit, rank)), dict(curve.points), table.cores
        )
    ]
    return published, list(_measured_by_clients(kit, workload, panel))


def _measured_by_clients(kit: Kit, workload: str, panel: str) -> Iterator[PublishedPoint]:
    """Medians of the counted trials; none where more than the clients is varied beside."""
    groups = kit.of_workload(workload)
    fixed = kit.names.single - {CLIENTS}
    if any(
        [name for name, _ in group.context if name not in fixed] != [CLIENTS] for group in groups
    ):
        return
    for rank, side in enumerate(kit.names.sides):
        medians = {
            float(dict(group.context)[CLIENTS]): median(values)
            for group in groups
            if group.side == side and (values := group.values(TPS.name))
        }
        names = (kit.short(side), kit.t("word.measured"), _side(kit, rank))
        yield from _relative(panel, names, medians, kit.analysis.facts.cpu.logical)


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


def _by_cores(
    kit: Kit, workload: str, table: PublishedCurves, panel: str
) -> tuple[list[PublishedPoint], ...]:
    """TPS per core, relative to that of the fewest; nothing was measured where the campaign does
    not vary the cores."""
    word, here = kit.t("word.published"), kit.t("word.measured")
    published = [
        PublishedPoint(
            panel, curve.label, word, word, cores, cores, (value / cores) / (base / first), value
        )
        for curve in table.curves
        for first, base in (min(curve.points),)
        for cores, value in curve.points
    ]
    measured = [
        PublishedPoint(
            panel, side_of(kit, result).long, here, here, at.load, at.load, at.per_load, at.value
        )
        for result in pgbench_found(kit.analysis).scaling
        if result.workload == workload and result.load == CORES
        for at in result.scaling.points
    ]
    return published, measured
