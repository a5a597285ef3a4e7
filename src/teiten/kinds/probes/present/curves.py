"""The curves of probes: access time by working set, TPS by clients, cost by size of the buffers."""

from __future__ import annotations

from collections.abc import Callable

from teiten.kinds.probes.present.units import ProbeTimeUnit, confidence, half, interval, unit_for
from teiten.kinds.probes.results import Estimate, PartTimes, ProbeResult
from teiten.kinds.probes.thresholds import CLIFF
from teiten.model.units import GIB, MIB
from teiten.report.charts.base import Chart, coloured
from teiten.report.charts.lines import AxisMark, CurveLabels, CurvePointOfSide, line_chart
from teiten.report.numbers import NOTHING, bytes_text, measured, plain
from teiten.report.view.kit import Kit

IN_GIB = 4 * GIB
"""From this memory on working sets are in GiB."""


def working_set_chart(kit: Kit, name: str, found: ProbeResult) -> Chart | None:
    """Mean time of an access by the size of the working set; None of a probe without several."""
    unit = unit_for(part.mean.mean for side in found.sides for part in side.parts)

    def time(part: PartTimes) -> tuple[Estimate, float, str]:
        return part.mean, unit.factor, unit.estimate(part.mean)

    title = kit.t("chart.working-set.title")
    note = kit.t("chart.working-set.note", confidence=confidence(kit))
    return _by_part(kit, name, found, time, (title, note, _per(kit, "chart.working-set.y", unit)))


def from_disk_chart(kit: Kit, name: str, found: ProbeResult) -> Chart | None:
    """The share of reads from the disk by working set; None where it is not known of one."""
    if any(part.from_disk is None for side in found.sides for part in side.parts):
        return None

    def share(part: PartTimes) -> tuple[Estimate, float, str]:
        assert part.from_disk is not None
        return part.from_disk, 100.0, plain(round(100 * part.from_disk.mean, 1))

    words = (
        kit.t("chart.from-disk.title"),
        kit.t("chart.from-disk.note", cliff=kit.t("unit.percent", value=plain(100 * CLIFF))),
        kit.t("chart.from-disk.y"),
    )
    return _by_part(kit, name, found, share, words, wide=False)


def clients_chart(kit: Kit, name: str, found: ProbeResult) -> Chart | None:
    """TPS by clients."""
    points = [
        _point(kit, side.side, point.clients, (point.tps, 1.0, _tps(point.tps)))
        for side in found.sides
        for point in side.clients
    ]
    if not points:
        return None
    t = kit.t
    words = (
        t("chart.probe-clients.title"),
        t("chart.probe-clients.note", confidence=confidence(kit)),
        "TPS",
    )
    return line_chart(
        name,
        points,
        _words(kit, found, words, t("factor.clients")),
        ticks=sorted({point.x for point in points}),
        wide=False,
    )


def cost_chart(kit: Kit, name: str, found: ProbeResult) -> Chart | None:
    """Draw the number of a probe of all buffers by their size: a dot for each size."""
    numbers = [side.number for side in found.sides if side.number is not None]
    if found.line is None or not numbers:
        return None
    unit = unit_for(number.mean for number in numbers)
    points = [
        _cost_point(kit, side.shared_buffers, side.number, unit)
        for side in found.sides
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


def _cost_point(kit: Kit, size: float, one: Estimate, unit: ProbeTimeUnit) -> CurvePointOfSide:
    low, high = (None if end is None else end * unit.factor for end in (one.low, one.high))
    mean = kit.t("word.mean")
    return CurvePointOfSide(mean, size / MIB, one.mean * unit.factor, low, high, unit.estimate(one))


def _tps(one: Estimate) -> str:
    return measured(one.mean, half(one))


Taken = Callable[[PartTimes], tuple[Estimate, float, str]]


def _by_part(
    kit: Kit,
    name: str,
    found: ProbeResult,
    take: Taken,
    words: tuple[str, str, str],
    *,
    wide: bool = True,
) -> Chart | None:
    if not found.by_parts:
        return None
    memory = max(side.memory for side in found.sides)
    scale, unit = (GIB, "GiB") if memory >= IN_GIB else (MIB, "MiB")
    points = []
    for side in found.sides:
        parts = sorted(side.parts, key=lambda one: one.size)
        points += [_point(kit, side.side, part.size / scale, take(part)) for part in parts]
    t = kit.t
    axis = t("chart.working-set.x", unit=unit)
    name_of_memory = t("chart.working-set.memory", size=bytes_text(memory))
    return line_chart(
        name,
        points,
        _words(kit, found, words, axis),
        marks=(AxisMark(memory / scale, name_of_memory),),
        wide=wide,
    )


def _point(kit: Kit, side: str, x: float, taken: tuple[Estimate, float, str]) -> CurvePointOfSide:
    one, factor, text = taken
    low, high = (None if end is None else end * factor for end in (one.low, one.high))
    ends = interval(kit.t, one, factor)
    said = text if ends == NOTHING else kit.t.aside(text, ends)
    short = kit.short(side)
    return CurvePointOfSide(short, x, one.mean * factor, low, high, said)


def _words(kit: Kit, found: ProbeResult, words: tuple[str, str, str], x: str) -> CurveLabels:
    title, note, y = words
    sides = kit.colours_of(side.side for side in found.sides)
    factor, cut = kit.names.factor(kit.study.contrast), kit.t("chart.band-cut")
    return CurveLabels(title, note, x, y, factor, sides, cut)


def _per(kit: Kit, key: str, unit: ProbeTimeUnit) -> str:
    return kit.t("unit.of", title=kit.t(key), unit=unit.name)
