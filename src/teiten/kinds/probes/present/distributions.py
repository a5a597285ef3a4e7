"""How long statements took: of each side the share that took no longer, all of them drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from teiten.kinds.probes.present.units import MICROSECONDS, ProbeTimeUnit, unit_for
from teiten.kinds.probes.results import ProbeResult, Times
from teiten.report.charts.base import (
    HALF,
    WHOLE,
    WIDE_PANEL,
    Chart,
    Fit,
    as_columns,
    coloured_by,
    logarithmic_ticks,
    mark,
    of,
    panels,
    plot,
)
from teiten.report.numbers import bytes_text
from teiten.report.view.kit import Kit

FIELDS = ("panel", "side", "time", "share")
LEAST = 1e-6
"""Seconds: what the clock tells; a logarithmic axis has no 0."""


@dataclass(frozen=True)
class _Some:
    panel: str
    side: str
    times: Times


def distribution_chart(kit: Kit, name: str, found: ProbeResult) -> Chart | None:
    """None of a probe that timed no single statements."""
    some = list(_some(kit, found))
    if not some:
        return None
    t = kit.t
    unit = unit_for(one.times.quantiles[-1] for one in some)
    if max(one.times.median for one in some) < 1e-3:
        unit = MICROSECONDS
    rows = [row for one in some for row in _rows(one, unit)]
    colours = kit.colours_of(side.side for side in found.sides)
    sides = {one.side: colours[one.side] for one in some}
    order = tuple(dict.fromkeys(one.panel for one in some))
    x = t("chart.distribution.x", unit=unit.name)
    spec = _spec(rows, sides, order, (x, t("chart.distribution.y")))
    count = sum(one.times.count for one in some)
    lines = "; ".join(
        " ".join(filter(None, (one.panel, one.side, unit.with_name(unit.text(one.times.median)))))
        for one in some
    )
    several = len(order) > 1
    return Chart(
        name,
        t("chart.distribution.title"),
        t("chart.distribution.note", count=f"{count:,}"),
        spec,
        as_columns(FIELDS, rows),
        Fit(("columns",), WIDE_PANEL + 30) if several else Fit((), 90),
        wide=several,
        alternative=lines,
    )


def _some(kit: Kit, found: ProbeResult) -> Iterator[_Some]:
    for side in found.sides:
        several = len(side.parts) > 1
        for part in side.parts:
            yield _Some(bytes_text(part.size) if several else "", kit.short(side.side), part.times)
        for checkpoint in side.checkpoints:
            title = kit.t.either(f"checkpoints.{checkpoint.step}", checkpoint.step)
            yield _Some(title, kit.short(side.side), checkpoint.times)


def _rows(one: _Some, unit: ProbeTimeUnit) -> Iterator[tuple[str, str, float, float]]:
    last = len(one.times.quantiles) - 1
    for at, seconds in enumerate(one.times.quantiles):
        yield one.panel, one.side, max(LEAST, seconds) * unit.factor, 100 * at / last


def _spec(
    rows: Sequence[tuple[str, str, float, float]],
    sides: Mapping[str, str],
    order: Sequence[str],
    words: tuple[str, str],
) -> dict[str, Any]:
    ticks = list(logarithmic_ticks([row[2] for row in rows]))
    ends = {"domain": [ticks[0], ticks[-1]]} if len(ticks) > 1 else {}
    base = {
        "x": of(
            "time:Q",
            title=words[0],
            scale={"type": "log", **ends, "nice": False},
            axis={"values": ticks, "format": WHOLE, "grid": False, "labelOverlap": True},
        ),
        "y": of(
            "share:Q",
            title=words[1],
            scale={"domain": [0, 100]},
            axis={"values": [0, 25, 50, 75, 100]},
        ),
        **coloured_by("side:N", sides),
        "order": of("share:Q"),
    }
    layers = [
        mark("line", base, strokeWidth=1.8, interpolate="step-before"),
        mark("circle", base, size=12, opacity=0.8),
    ]
    if len(order) < 2:
        return plot(layers, HALF, 240)
    columns = min(len(order), 4)
    return panels(layers, WIDE_PANEL - 40, 150, columns=columns, order=list(order))
