"""The charts of probes: access time by working set, TPS by clients, cost by size of the buffers;
and of each side the share of statements that took no longer, all of them drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from teiten.analysis.model.verdict import Estimate
from teiten.kinds.probes.present.units import (
    MICROSECONDS,
    ProbeTimeUnit,
    clients_steps,
    confidence,
    half,
    interval,
    unit_for,
)
from teiten.kinds.probes.results import PartTimes, ProbeResult, Times
from teiten.kinds.probes.thresholds import CLIFF
from teiten.model.units import GIB, MIB
from teiten.report.charts.base import (
    HALF,
    WHOLE,
    WIDE_PANEL,
    Chart,
    Fit,
    as_columns,
    coloured,
    coloured_by,
    logarithmic_ticks,
    mark,
    of,
    panels,
    plot,
)
from teiten.report.charts.lines import CurveLabels, CurvePointOfSide, line_chart
from teiten.report.numbers import NOTHING, bytes_text, measured, plain
from teiten.report.view.kit import Kit

IN_GIB = 4 * GIB
"""From this memory on working sets are in GiB."""


def working_set_chart(kit: Kit, name: str, result: ProbeResult) -> Chart | None:
    """Mean time of an access by the size of the working set; None of a probe without several."""
    unit = unit_for(part.mean.mean for side in result.sides for part in side.parts)

    def time(part: PartTimes) -> tuple[Estimate, float, str]:
        return part.mean, unit.factor, unit.estimate(part.mean)

    title = kit.t("chart.working-set.title")
    note = kit.t("chart.working-set.note", confidence=confidence(kit))
    return _by_part(kit, name, result, time, (title, note, _per(kit, "chart.working-set.y", unit)))


def from_disk_chart(kit: Kit, name: str, result: ProbeResult) -> Chart | None:
    """The share of reads from the disk by working set; None where it is not known of one."""
    if any(part.from_disk is None for side in result.sides for part in side.parts):
        return None

    def share(part: PartTimes) -> tuple[Estimate, float, str]:
        assert part.from_disk is not None
        return part.from_disk, 100.0, plain(round(100 * part.from_disk.mean, 1))

    words = (
        kit.t("chart.from-disk.title"),
        kit.t("chart.from-disk.note", cliff=kit.t("unit.percent", value=plain(100 * CLIFF))),
        kit.t("chart.from-disk.y"),
    )
    return _by_part(kit, name, result, share, words, wide=False)


def clients_charts(kit: Kit, name: str, result: ProbeResult) -> Iterator[Chart | None]:
    """TPS by clients, of each step and part."""
    t = kit.t
    for at, (place, step) in enumerate(clients_steps(kit, result).items(), start=1):
        points = [
            _point(kit, side.side, point.clients, (point.tps, 1.0, _tps(point.tps)))
            for side in result.sides
            for point in side.clients
            if (point.step, point.part) == place
        ]
        title = t("chart.probe-clients.title")
        words = (
            t("probe.title", title=title, context=step) if step else title,
            t("chart.probe-clients.note", confidence=confidence(kit)),
            "TPS",
        )
        yield line_chart(
            f"{name}-{at}" if step else name,
            points,
            _words(kit, result, words, t("factor.clients")),
            ticks=sorted({point.x for point in points}),
            wide=False,
        )


def cost_chart(kit: Kit, name: str, result: ProbeResult) -> Chart | None:
    """Draw the number of a probe of all buffers by their size: a dot for each size."""
    numbers = [side.number for side in result.sides if side.number is not None]
    if result.line is None or not numbers:
        return None
    unit = unit_for(number.mean for number in numbers)
    points = [
        _cost_point(kit, side.shared_buffers, side.number, unit)
        for side in result.sides
        if side.number is not None
    ]
    t = kit.t
    words = CurveLabels(
        t("chart.probe-cost.title"),
        t("chart.probe-cost.note", confidence=confidence(kit)),
        t("chart.probe-cost.x"),
        _per(kit, "chart.probe-cost.y", unit),
        " ",
        coloured([t("word.mean")]),
        t("chart.band-cut"),
    )
    return line_chart(name, points, words, wide=False)


def _cost_point(kit: Kit, size: float, estimate: Estimate, unit: ProbeTimeUnit) -> CurvePointOfSide:
    low, high = (
        None if end is None else end * unit.factor for end in (estimate.low, estimate.high)
    )
    mean = kit.t("word.mean")
    return CurvePointOfSide(
        mean, size / MIB, estimate.mean * unit.factor, low, high, unit.estimate(estimate)
    )


def _tps(estimate: Estimate) -> str:
    return measured(estimate.mean, half(estimate))


Taken = Callable[[PartTimes], tuple[Estimate, float, str]]


def _by_part(
    kit: Kit,
    name: str,
    result: ProbeResult,
    take: Taken,
    words: tuple[str, str, str],
    *,
    wide: bool = True,
) -> Chart | None:
    if not result.by_parts:
        return None
    memory = max(side.memory for side in result.sides)
    scale, unit = (GIB, "GiB") if memory >= IN_GIB else (MIB, "MiB")
    points = []
    for side in result.sides:
        parts = sorted(side.parts, key=lambda part: part.size)
        points += [_point(kit, side.side, part.size / scale, take(part)) for part in parts]
    t = kit.t
    axis = t("chart.working-set.x", unit=unit)
    name_of_memory = t("chart.working-set.memory", size=bytes_text(memory))
    return line_chart(
        name,
        points,
        _words(kit, result, words, axis),
        place=(memory / scale, name_of_memory),
        wide=wide,
    )


def _point(kit: Kit, side: str, x: float, taken: tuple[Estimate, float, str]) -> CurvePointOfSide:
    estimate, factor, text = taken
    low, high = (None if end is None else end * factor for end in (estimate.low, estimate.high))
    ends = interval(kit.t, estimate, factor)
    figures = text if ends == NOTHING else kit.t.aside(text, ends)
    short = kit.short(side)
    return CurvePointOfSide(short, x, estimate.mean * factor, low, high, figures)


def _words(kit: Kit, result: ProbeResult, words: tuple[str, str, str], x: str) -> CurveLabels:
    title, note, y = words
    sides = kit.colours_of(side.side for side in result.sides)
    factor, cut = kit.names.factor(kit.study.contrast), kit.t("chart.band-cut")
    return CurveLabels(title, note, x, y, factor, sides, cut)


def _per(kit: Kit, key: str, unit: ProbeTimeUnit) -> str:
    return kit.t("unit.of", title=kit.t(key), unit=unit.name)


FIELDS = ("panel", "side", "time", "share")
LEAST = 1e-6
"""Seconds: what the clock tells; a logarithmic axis has no 0."""


@dataclass(frozen=True)
class _Some:
    panel: str
    side: str
    times: Times


def distribution_chart(kit: Kit, name: str, result: ProbeResult) -> Chart | None:
    """None of a probe that timed no single statements."""
    some = list(_some(kit, result))
    if not some:
        return None
    t = kit.t
    unit = unit_for(drawn.times.quantiles[-1] for drawn in some)
    if max(drawn.times.median for drawn in some) < 1e-3:
        unit = MICROSECONDS
    rows = [row for drawn in some for row in _rows(drawn, unit)]
    colours = kit.colours_of(side.side for side in result.sides)
    sides = {drawn.side: colours[drawn.side] for drawn in some}
    order = tuple(dict.fromkeys(drawn.panel for drawn in some))
    x = t("chart.distribution.x", unit=unit.name)
    spec = _spec(rows, sides, order, (x, t("chart.distribution.y")))
    count = sum(drawn.times.count for drawn in some)
    lines = "; ".join(
        " ".join(
            filter(
                None,
                (
                    drawn.panel,
                    drawn.side,
                    unit.with_name(unit.text(drawn.times.median)),
                ),
            )
        )
        for drawn in some
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


def _some(kit: Kit, result: ProbeResult) -> Iterator[_Some]:
    for side in result.sides:
        several = len(side.parts) > 1
        for part in side.parts:
            yield _Some(bytes_text(part.size) if several else "", kit.short(side.side), part.times)
        for checkpoint in side.checkpoints:
            title = kit.t.either(f"checkpoints.{checkpoint.step}", checkpoint.step)
            yield _Some(title, kit.short(side.side), checkpoint.times)


def _rows(some: _Some, unit: ProbeTimeUnit) -> Iterator[tuple[str, str, float, float]]:
    last = len(some.times.quantiles) - 1
    for at, seconds in enumerate(some.times.quantiles):
        yield some.panel, some.side, max(LEAST, seconds) * unit.factor, 100 * at / last


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
