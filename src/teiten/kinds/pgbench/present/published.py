"""The published and the measured TPS over one another, by clients and by cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from teiten.analysis.model.claims import AT_CORES, PublishedCurves
from teiten.kinds.pgbench.analyse import CLIENTS, CORES
from teiten.kinds.pgbench.metrics import TPS
from teiten.kinds.pgbench.present.scaling import side_of
from teiten.kinds.pgbench.results import pgbench_found
from teiten.report.charts.base import Chart
from teiten.report.charts.lines import PublishedPoint, published_curves
from teiten.report.claim_words import source_text
from teiten.report.view.kit import Kit

Points = tuple[list[PublishedPoint], list[PublishedPoint]]
"""Those published, and those measured."""


def published_charts(kit: Kit) -> Iterator[Chart]:
    """Charts of the published tables of TPS whose workload was measured here, a panel for each."""
    t, cores = kit.t, kit.names.factor(CORES)
    origins = (t("word.published"), t("word.measured"))
    old_and_new = (t("word.old"), t("word.new"))
    for name, axis, points_of, (x, relative), sides in (
        ("published", CLIENTS, _by_clients, (t("axis.clients-per-core"), "tps"), old_and_new),
        ("published-cores", CORES, _by_cores, (cores, "per-core"), origins),
    ):
        points = _points(kit, axis, points_of)
        if points:
            y, clients = t(f"axis.relative-{relative}"), kit.names.factor(axis)
            yield published_curves(t, name, points, x=x, y=y, clients=clients, sides=sides)


def _points(
    kit: Kit, axis: str, points_of: Callable[[Kit, str, PublishedCurves], Points]
) -> list[PublishedPoint]:
    tables: dict[tuple[str, str], PublishedCurves] = {}
    for claim in (outcome.claim for outcome in kit.analysis.claims):
        table = claim.published
        if isinstance(table, PublishedCurves) and (claim.metric, table.axis) == (TPS.name, axis):
            tables.setdefault((claim.workload, table.table), table)
    points: list[PublishedPoint] = []
    for (workload, _), table in tables.items():
        published, measured = points_of(kit, workload, table)
        points += [*published, *measured] if measured else []
    return points


def _by_clients(kit: Kit, workload: str, table: PublishedCurves) -> Points:
    """Medians of the counted trials; none where more than the clients is varied beside."""
    contrast, t = kit.study.contrast, kit.t
    medians = {
        levels[0][1]: curve
        for levels, curve in kit.medians(workload, TPS.name, CLIENTS).items()
        if [name for name, _ in levels] == [contrast]
    }
    published = {curve.label: dict(curve.points) for curve in table.curves}
    measured = {kit.short(side): medians[side] for side in kit.names.sides if side in medians}
    here = kit.analysis.facts.cpu.logical
    panel = source_text(t, table.source)
    return (
        list(_relative(kit, (panel, t("word.published")), published, table.cores)),
        list(_relative(kit, (panel, t("word.measured")), measured, here)),
    )


def _relative(
    kit: Kit, shown: tuple[str, str], curves: Mapping[str, Mapping[float, float]], cores: int
) -> Iterator[PublishedPoint]:
    """Curves, old first, each relative to its value with as many clients as cores; none where that
    is missing. ``shown``: panel and origin."""
    for rank, (label, values) in enumerate(curves.items()):
        side = kit.t("word.new" if rank else "word.old")
        near = [level for level in values if AT_CORES * cores <= level <= cores]
        reference = values[max(near)] if near else 0.0
        for level, value in sorted(values.items()) if reference > 0 else ():
            panel, origin = shown
            relative = value / reference
            yield PublishedPoint(panel, label, origin, side, level / cores, level, relative, value)


def _by_cores(kit: Kit, workload: str, table: PublishedCurves) -> Points:
    """TPS per core, relative to that of the fewest; nothing was measured where the campaign does
    not vary the cores."""
    panel = source_text(kit.t, table.source)
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
