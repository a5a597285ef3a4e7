"""Part 4: why: what limits, then waits, CPU, disk and WAL by level."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

import numpy as np

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.node_series import waits_of
from teiten.kinds.contract_present import present_in
from teiten.model.metrics import CPU_USERS
from teiten.model.units import MIB
from teiten.report.blocks import Block, Heading, Section, gallery, looked_up
from teiten.report.charts.bars import Bar, StackWords, stacked
from teiten.report.charts.base import CATEGORY_COLOURS, QUIET, Chart
from teiten.report.charts.levels import Dot, by_level
from teiten.report.sites import of_first_host
from teiten.report.view.contrasts import of_workload, with_captions
from teiten.report.view.kit import Kit, TrialGroup
from teiten.report.view.levels import axes_for, dot_at, dots_of, note_of, place_of
from teiten.report.view.overview import is_many, slower_ones
from teiten.report.view.root_cause import root_causes
from teiten.ways.registry import way_of

MOST_TOLD = 3
"""Workloads of many whose causes are told in the body."""
MOST_WAITS = 9
RUNNING = "CPU"
"""The column of backends that wait for nothing."""
REST_COLOUR = "#5c6670"
SHARES = {
    "cpu": (
        "word.state",
        {
            f"cpu.{name}": f"cpu_{name}_share"
            for name in ("user", "system", "iowait", "steal", "idle")
        },
        (*CATEGORY_COLOURS[:2], *CATEGORY_COLOURS[3:5], "#aab2ba55"),
    ),
    "processes": (
        "word.process",
        {f"cpu-user.{metric}": metric for metric in CPU_USERS},
        (*CATEGORY_COLOURS[:3], QUIET),
    ),
}
"""Charts of the processors' time by name: the word for its parts, the metric of each part by the
text that names it, and their colours."""
ChartOfPart = Callable[[Kit, str, Sequence[TrialGroup]], Chart | None]
DISK_COLUMNS = {"read": "read_bytes_per_second", "written": "written_bytes_per_second"}


def why(kit: Kit) -> Section:
    """A part for each workload with anything to say; of many, the body has the slowest."""
    shown: list[Block] = []
    in_body = _in_body(kit)
    for at, name in enumerate(kit.workloads_measured()):
        groups = kit.of_workload(name)
        if groups:
            blocks = tuple(_of_workload(kit, f"workload-{at + 1}", name, groups))
            if name in in_body:
                shown += blocks
            elif blocks:
                head, *rest = blocks
                shown += [head, looked_up(kit.t("paper.causes"), rest)]
    return Section("why", kit.t("section.why"), tuple(shown))


def _in_body(kit: Kit) -> list[str]:
    if not is_many(kit):
        return list(kit.workloads_measured())
    judged = (contrast for contrast in kit.analysis.contrasts if contrast.metric.judged)
    return list(dict.fromkeys(contrast.workload for contrast in slower_ones(judged)))[:MOST_TOLD]


def _of_workload(kit: Kit, prefix: str, name: str, groups: Sequence[TrialGroup]) -> Iterator[Block]:
    waits = _waits(kit, prefix, groups)
    users = partial(_cpu_shares, "processes")
    parts: tuple[ChartOfPart, ...] = (partial(_cpu_shares, "cpu"), users, _cpu_idle, _disk, _wal)
    if way_of(kit.study.measure).concurrent:  # what the machine shows of one side, it does of both
        parts = (users, _wal)
    charts = gallery(part(kit, prefix, groups) for part in parts)
    causes = with_captions(kit, name, root_causes(kit, prefix, name))
    if not waits and not charts and not causes:
        return
    yield Heading(3, kit.names.workload(name), part=True)
    yield from present_in(kit, name).limits(kit, name)
    yield from gallery((waits,))
    if charts:
        in_appendix = looked_up(kit.t("paper.machine"), charts)
        yield from with_captions(kit, name, (in_appendix,))
    if causes:
        yield Heading(4, kit.t("root.heading"))
        yield from causes


def _percent_of(metric: str, group: TrialGroup) -> float:
    """Mean over the trials: means of shares add up to the whole, as medians do not."""
    values = group.values(metric)
    return 100 * fmean(values) if values else math.nan


def _stack_words(
    kit: Kit,
    groups: Sequence[TrialGroup],
    titles: tuple[str, str],
    colours: Mapping[str, str],
    maximum: float | None = None,
) -> StackWords:
    """``titles``: of the axis, and of the parts of a bar; ``colours``: of each part."""
    x, part = titles
    labels = dict.fromkeys(kit.names.varied_context(group.context) for group in groups)
    sides = tuple(map(kit.names.titled, kit.sides_of(group.side for group in groups)))
    contrast = kit.names.factor(kit.study.contrast)
    return StackWords(x, part, contrast, tuple(labels), sides, colours, maximum)


def _bars(
    kit: Kit, groups: Sequence[TrialGroup], parts: dict[str, Callable[[TrialGroup], float]]
) -> list[Bar]:
    bars = []
    for group in groups:
        for part, value_of in parts.items():
            value = value_of(group)
            if math.isfinite(value):
                level, side = kit.names.varied_context(group.context), kit.names.titled(group.side)
                bars.append(Bar(level, side, part, value))
    return bars


def _waits(kit: Kit, prefix: str, groups: Sequence[TrialGroup]) -> Chart | None:
    means = {id(group): waits_of(group.trials) for group in groups}
    totals: dict[str, float] = {}
    for of_group in means.values():
        for event, value in of_group.items():
            totals[event] = totals.get(event, 0.0) + value
    seen = [event for event, total in totals.items() if total > 0]
    if not seen or seen == [RUNNING]:
        return None
    ranked = sorted(seen, key=lambda event: (event != RUNNING, -totals[event]))
    sampled = [group for group in groups if any(value > 0 for value in means[id(group)].values())]
    unsampled = kit.t("chart.waits.unsampled") if len(sampled) < len(groups) else ""
    shown, rest = ranked[:MOST_WAITS], ranked[MOST_WAITS:]
    parts: dict[str, Callable[[TrialGroup], float]] = {
        kit.t.either(f"wait.{event}", event): lambda group, event=event: means[id(group)].get(
            event, math.nan
        )  # type: ignore[misc]
        for event in shown
    }
    if rest:
        parts[kit.t("wait.rest")] = lambda group: sum(
            means[id(group)].get(event, 0.0) for event in rest
        )
    varied = iter(CATEGORY_COLOURS)  # grey for those that run, which the chart is not about
    of_events = [QUIET if event == RUNNING else next(varied) for event in shown]
    colours = dict(zip(parts, (*of_events, REST_COLOUR), strict=False))
    titles = (kit.t("axis.backends"), kit.t("word.wait-event"))
    return stacked(
        f"{prefix}-waits",
        of_workload(kit, kit.t("chart.waits.title"), groups[0].workload),
        kit.t("chart.waits.note") + unsampled + kit.of_nodes,
        _bars(kit, sampled, parts),
        _stack_words(kit, sampled, titles, colours),
    )


def _cpu_shares(name: str, kit: Kit, prefix: str, groups: Sequence[TrialGroup]) -> Chart | None:
    """Shares of the processors' time that make up the whole."""
    word, keys, colours = SHARES[name]
    metrics = {kit.t(key): metric for key, metric in keys.items()}
    bars = _bars(kit, groups, {part: partial(_percent_of, of) for part, of in metrics.items()})
    if not bars:
        return None
    of_parts = dict(zip(metrics, colours, strict=True))
    words = _stack_words(kit, groups, (kit.t("axis.cpu"), kit.t(word)), of_parts, 100.0)
    note = kit.t(f"chart.{name}.note") + of_first_host(kit)
    return stacked(f"{prefix}-{name}", kit.t(f"chart.{name}.title"), note, bars, words)


def _cpu_idle(kit: Kit, prefix: str, groups: Sequence[TrialGroup]) -> Chart | None:
    dots = dots_of(kit, groups, "cpu_idle_share", 100.0)
    if not dots:
        return None
    axes = replace(axes_for(kit, groups, kit.t("axis.cpu-idle")), maximum=100.0)
    note = note_of(kit, axes) + of_first_host(kit)
    title = kit.t("chart.idle.title")
    return by_level(kit.t, f"{prefix}-idle", dots, axes, title=title, note=note)


def _wal(kit: Kit, prefix: str, groups: Sequence[TrialGroup]) -> Chart | None:
    dots = dots_of(kit, groups, "wal_bytes_per_transaction", 1.0)
    if not any(dot.value > 0 for dot in dots):
        return None
    axes = axes_for(kit, groups, kit.t("axis.wal"))
    note = note_of(kit, axes) + kit.of_nodes
    title = kit.t("chart.wal.title")
    return by_level(kit.t, f"{prefix}-wal", dots, axes, title=title, note=note)


def _disk(kit: Kit, prefix: str, groups: Sequence[TrialGroup]) -> Chart | None:
    dots = _disk_dots(kit, groups, _rates_of_devices) or _disk_dots(kit, groups, _rates_in_all)
    used = {dot.panel for dot in dots if dot.value > 0}
    dots = [dot for dot in dots if dot.panel in used]
    if not dots:
        return None
    panels = tuple(dict.fromkeys(dot.panel for dot in dots))
    axes = replace(axes_for(kit, groups, kit.t("axis.disk")), panels=panels)
    note = kit.t("chart.disk.note") + of_first_host(kit)
    title = kit.t("chart.disk.title")
    return by_level(kit.t, f"{prefix}-disk", dots, axes, title=title, note=note)


def _disk_dots(
    kit: Kit,
    groups: Sequence[TrialGroup],
    rates_of: Callable[[Kit, TrialView], Iterator[tuple[str, float]]],
) -> list[Dot]:
    dots = []
    for group in groups:
        place = place_of(kit, group)
        for trial in group.trials:
            for panel, rate in rates_of(kit, trial):
                named = f"{panel} · {place.panel}" if place.panel else panel
                dots.append(dot_at(replace(place, panel=named), trial, rate / MIB))
    return dots


def _rates_of_devices(kit: Kit, trial: TrialView) -> Iterator[tuple[str, float]]:
    """Mean B/s, by device and direction."""
    for series in trial.series:
        device = series.source.removeprefix("disk:")
        for key, name in DISK_COLUMNS.items() if device != series.source else ():
            values = series.columns.get(name)
            if values is not None and np.isfinite(values).any():
                yield f"{device}: {kit.t(f'disk.{key}')}", float(np.nanmean(values))


def _rates_in_all(kit: Kit, trial: TrialView) -> Iterator[tuple[str, float]]:
    seconds = trial.metrics.get("measured_seconds", math.nan)
    for key in DISK_COLUMNS:
        value = trial.metrics.get(f"disk_{key}_bytes", math.nan)
        if math.isfinite(value) and seconds > 0:
            yield kit.t(f"disk.{key}"), value / seconds
