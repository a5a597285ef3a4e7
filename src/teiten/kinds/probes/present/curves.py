"""The charts of probes: access time by working set, TPS by clients, cost by size of the buffers;
and of each side the share of statements that took no longer, all of them drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from teiten.analysis.model.verdict import Estimate
from teiten.kinds.probes.present.units import (
    MICROSECONDS,
    ProbeTimeUnit,
    clients_steps,
    estimate_text,
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
from teiten.report.numbers import NOTHING, bytes_text, plain
from teiten.report.view.kit import Kit

IN_GIB = 4 * GIB
"""From this memory on working sets are in GiB."""


def working_set_chart(kit: Kit, name: str, result: ProbeResult) -> Chart | None:
    """Mean time of an access by the size of the working set; None of a probe without several."""
    unit = unit_for(part.mean.mean for side in result.sides for part in side.parts)
    words = (
        kit.t("chart.working-set.title"),
        kit.t("chart.working-set.note", confidence=kit.confidence),
        _per(kit, "chart.working-set.y", unit),
    )
    return _by_part(
        kit, name, result, (lambda part: part.mean.scaled(unit.factor), estimate_text), words
    )


def from_disk_chart(kit: Kit, name: str, result: ProbeResult) -> Chart | None:
    """The share of reads from the disk by working set; None where it is not known of one."""
    if any(part.from_disk is None for side in result.sides for part in side.parts):
        return None

    def percent(part: PartTimes) -> Estimate:
        assert part.from_disk is not None
        return part.from_disk.scaled(100.0)

    words = (
        kit.t("chart.from-disk.title"),
        kit.t("chart.from-disk.note", cliff=kit.t("unit.percent", value=plain(100 * CLIFF))),
        kit.t("chart.from-disk.y"),
    )
    drawn: Drawn = (percent, lambda estimate: plain(round(estimate.mean, 1)))
    return _by_part(kit, name, result, drawn, words, wide=False)


def clients_charts(kit: Kit, name: str, result: ProbeResult) -> Iterator[Chart | None]:
    """TPS by clients, of each step and part."""
    t = kit.t
    for at, (place, step) in enumerate(clients_steps(kit, result).items(), start=1):
        points = [
            _point(kit, side.side, point.clients, point.tps, estimate_text)
            for side in result.sides
            for point in side.clients
            if (point.step, point.part) == place
        ]
        words = (
            t.aside(t("chart.probe-clients.title"), step),
            t("chart.probe-clients.note", confidence=kit.confidence),
            "TPS",
        )
        yield line_chart(
            t,
            f"{name}-{at}" if step else name,
            points,
            _words(kit, result, words, t("factor.clients")),
            ticks=sorted({point.x for point in points}),
            wide=False,
        )


def cost_chart(kit: Kit, name: str, result: ProbeResult) -> Chart | None:
    """Draw the number of a probe of all buffers by their size: a dot for each size."""
    sizes = [
        (side.shared_buffers / MIB, side.number) for side in result.sides if side.number is not None
    ]
    if result.line is None or not sizes:
        return None
    unit = unit_for(number.mean for _, number in sizes)
    t, mean = kit.t, kit.t("word.mean")
    drawn = [(size, number.scaled(unit.factor)) for size, number in sizes]
    points = [
        CurvePointOfSide(mean, size, time.mean, time.low, time.high, estimate_text(time))
        for size, time in drawn
    ]
    words = CurveLabels(
        t("chart.probe-cost.title"),
        t("chart.probe-cost.note", confidence=kit.confidence),
        t("chart.probe-cost.x"),
        _per(kit, "chart.probe-cost.y", unit),
        " ",
        coloured([mean]),
    )
    return line_chart(t, name, points, words, wide=False)


Written = Callable[[Estimate], str]
Drawn = tuple[Callable[[PartTimes], Estimate], Written]
"""The number of a part in the unit of its axis, and how it is written."""


def _by_part(
    kit: Kit,
    name: str,
    result: ProbeResult,
    drawn: Drawn,
    words: tuple[str, str, str],
    *,
    wide: bool = True,
) -> Chart | None:
    if not result.by_parts:
        return None
    memory = max(side.memory for side in result.sides)
    scale, unit = (GIB, "GiB") if memory >= IN_GIB else (MIB, "MiB")
    number, written = drawn
    points = [
        _point(kit, side.side, part.size / scale, number(part), written)
        for side in result.sides
        for part in sorted(side.parts, key=lambda part: part.size)
    ]
    name_of_memory = kit.t("chart.working-set.memory", size=bytes_text(memory))
    return line_chart(
        kit.t,
        name,
        points,
        _words(kit, result, words, kit.t("chart.working-set.x", unit=unit)),
        place=(memory / scale, name_of_memory),
        wide=wide,
    )


def _point(kit: Kit, side: str, x: float, shown: Estimate, written: Written) -> CurvePointOfSide:
    text, ends = written(shown), interval(kit.t, shown)
    figures = text if ends == NOTHING else kit.t.aside(text, ends)
    return CurvePointOfSide(kit.short(side), x, shown.mean, shown.low, shown.high, figures)


def _words(kit: Kit, result: ProbeResult, words: tuple[str, str, str], x: str) -> CurveLabels:
    title, note, y = words
    sides = kit.colours_of(side.side for side in result.sides)
    return CurveLabels(title, note, x, y, kit.names.factor(kit.study.contrast), sides)


def _per(kit: Kit, key: str, unit: ProbeTimeUnit) -> str:
    return kit.t("unit.of", title=kit.t(key), unit=unit.name)


FIELDS = ("panel", "side", "time", "share")
LEAST = 1e-6
"""Seconds: what the clock tells; a logarithmic axis has no 0."""


Distribution = tuple[str, str, Times]
"""Panel, side, and the times."""


def distribution_chart(kit: Kit, name: str, result: ProbeResult) -> Chart | None:
    """None of a probe that timed no single statements."""
    drawn = list(_distributions(kit, result))
    if not drawn:
        return None
    t = kit.t
    unit = unit_for(times.quantiles[-1] for _, _, times in drawn)
    if max(times.median for _, _, times in drawn) < 1e-3:
        unit = MICROSECONDS
    rows = [row for distribution in drawn for row in _rows(distribution, unit)]
    colours = kit.colours_of(side.side for side in result.sides)
    sides = {side: colours[side] for _, side, _ in drawn}
    order = tuple(dict.fromkeys(panel for panel, _, _ in drawn))
    words = (t("chart.distribution.x", unit=unit.name), t("chart.distribution.y"))
    medians = (
        (panel, side, unit.with_name(unit.text(times.median))) for panel, side, times in drawn
    )
    several = len(order) > 1
    return Chart(
        name,
        t("chart.distribution.title"),
        t("chart.distribution.note", count=f"{sum(times.count for _, _, times in drawn):,}"),
        _spec(rows, sides, order, words),
        as_columns(FIELDS, rows),
        Fit(("columns",), WIDE_PANEL + 30) if several else Fit((), 90),
        wide=several,
        alternative="; ".join(" ".join(filter(None, median)) for median in medians),
    )


def _distributions(kit: Kit, result: ProbeResult) -> Iterator[Distribution]:
    for side in result.sides:
        short, several = kit.short(side.side), len(side.parts) > 1
        for part in side.parts:
            yield bytes_text(part.size) if several else "", short, part.times
        for checkpoint in side.checkpoints:
            title = kit.t.either(f"checkpoints.{checkpoint.step}", checkpoint.step)
            yield title, short, checkpoint.times


def _rows(
    distribution: Distribution, unit: ProbeTimeUnit
) -> Iterator[tuple[str, str, float, float]]:
    panel, side, times = distribution
    last = len(times.quantiles) - 1
    for at, seconds in enumerate(times.quantiles):
        yield panel, side, max(LEAST, seconds) * unit.factor, 100 * at / last


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
