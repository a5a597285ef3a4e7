"""Mean time of an access by the size of the working set, a curve for each side."""

from __future__ import annotations

from teiten.kinds.probes.results import ProbeResult
from teiten.model.units import MIB
from teiten.report.charts.base import Chart
from teiten.report.charts.curves import CurvePoint, CurveWords, PointKind, curves
from teiten.report.view.kit import Kit

MILLISECONDS = 1e3


def cliffs(kit: Kit, name: str, found: ProbeResult) -> Chart | None:
    """None of a probe that has not several parts."""
    if not any(len(side.parts) > 1 for side in found.sides):
        return None
    points = [
        CurvePoint(kind, kit.short(side.side), part.size / MIB, part.times.mean * MILLISECONDS)
        for side in found.sides
        for part in side.parts
        for kind in (PointKind.CURVE, PointKind.MEAN)
    ]
    t = kit.t
    words = CurveWords(
        title=t("chart.cliffs.title"),
        note=t("chart.cliffs.note"),
        x=t("chart.cliffs.x"),
        y=t("chart.cliffs.y"),
        side=kit.names.factor(kit.study.contrast),
        sides=tuple(kit.short(side.side) for side in found.sides),
    )
    return curves(name, points, words)
