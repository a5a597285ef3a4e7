"""Relative throughput by nodes, as figures 5.6 and 5.8 of 2013 have it, and the best possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from teiten.kinds.pgbench.present.scale_out_tables import ratio_text
from teiten.kinds.pgbench.scale_out.commit_model import best_scaling
from teiten.kinds.pgbench.scale_out.results import NodesPoint, RatioOfNodes, ScaleOutResult
from teiten.report.charts.base import Chart, coloured
from teiten.report.charts.lines import CurveLabels, CurvePointOfSide, line_chart
from teiten.report.numbers import significant
from teiten.report.view.kit import Kit

ITSELF = RatioOfNodes(1.0, None, None)


def chart_by_plain(kit: Kit, found: list[ScaleOutResult]) -> Chart | None:
    """Throughput by plain PostgreSQL's; None where that was not measured."""
    points = [one for each in found for one in _measured(kit, each, lambda point: point.to_plain)]
    if not points:
        return None
    workload = found[0].workload
    return line_chart(f"by-plain-{workload}", points, _labels(kit, workload, "plain", points))


def chart_by_best(kit: Kit, found: list[ScaleOutResult]) -> Chart | None:
    """Throughput by one node's, beside growth in proportion and, of changes, what the commits
    allow; None where more than one node was not measured."""
    points = [one for each in found for one in _measured(kit, each, _to_one)]
    counts = sorted({int(point.x) for point in points})
    if len(counts) < 2:
        return None
    workload = found[0].workload
    rows = next((one.rows for one in found if one.rows is not None), None)
    if rows is not None:
        best = {nodes: float(best_scaling(nodes, rows)) for nodes in counts}
        points += _computed(kit.t("scale-out.chart.best"), best)
    points += _computed(kit.t("scale-out.chart.proportion"), {n: float(n) for n in counts})
    return line_chart(f"by-one-{workload}", points, _labels(kit, workload, "one", points))


def _to_one(point: NodesPoint) -> RatioOfNodes | None:
    return ITSELF if point.nodes == 1 else point.to_one


def _measured(
    kit: Kit, one: ScaleOutResult, ratio: Callable[[NodesPoint], RatioOfNodes | None]
) -> Iterator[CurvePointOfSide]:
    for point in one.points:
        found = ratio(point)
        if found is not None:
            x = float(point.nodes)
            text = ratio_text(found)
            yield CurvePointOfSide(_side(kit, one), x, found.value, found.low, found.high, text)


def _side(kit: Kit, one: ScaleOutResult) -> str:
    varied = tuple(pair for pair in one.context if pair[0] not in kit.names.single)
    return kit.names.context(varied) if varied else kit.t("word.measured")


def _computed(side: str, values: dict[int, float]) -> Iterator[CurvePointOfSide]:
    for nodes, value in values.items():
        yield CurvePointOfSide(side, float(nodes), value, None, None, significant(value, 3))


def _labels(kit: Kit, workload: str, base: str, points: list[CurvePointOfSide]) -> CurveLabels:
    t = kit.t
    return CurveLabels(
        t(f"scale-out.chart.{base}.title", workload=kit.names.workload(workload)),
        t(f"scale-out.chart.{base}.note"),
        t("factor.nodes"),
        t(f"scale-out.chart.{base}.y"),
        t("word.curve"),
        coloured(dict.fromkeys(point.side for point in points)),
    )
