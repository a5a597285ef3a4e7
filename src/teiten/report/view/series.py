"""The per-second series of every trial: a still chart, and thinned data to choose from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.node_series import find_series, group_means
from teiten.kinds.contract_present import present_in, presents_in
from teiten.model.trial import FloatArray, Outcome
from teiten.model.units import MIB
from teiten.report.blocks import Block, looked_up
from teiten.report.charts.base import WIDE_PANEL, Chart, Fit, as_columns
from teiten.report.charts.lines import SeriesColumn, series_spec
from teiten.report.view.kit import Kit

FIELDS = ("panel", "side", "trial", "counted", "second", "value")
STILL_TRIALS = 12
"""Trials of a level and side that the still chart draws."""
STILL_POINTS = 120
SHORTEST = 10
"""Seconds of a trial with fewer of which a chart by the second shows nothing but noise."""
MOST_POINTS = 400_000
"""Points of all series of a report together: about 3 MB of JSON."""
DIGITS = 4
OF_THE_MACHINE = (
    SeriesColumn("cpu-idle", "os", "cpu_idle_share", 100.0),
    SeriesColumn("wal", "postgres", "wal_bytes_per_second", 1 / MIB),
)


def series_of(kit: Kit, prefix: str, workload: str) -> Iterator[Block]:
    """Show the trials of a workload over their seconds, a panel per level; nothing where none is
    long enough to have a course."""
    trials = [trial for trial in kit.analysis.trials if trial.workload == workload]
    known = (*present_in(kit, workload).series, *OF_THE_MACHINE)
    columns = [column for column in known if any(samples(trial, column) for trial in trials)]
    of_first = (samples(trial, column) for column in columns[:1] for trial in trials)
    spans = (shown.seconds[-1] - shown.seconds[0] for shown in of_first if shown)
    if not any(span >= SHORTEST - 1 for span in spans):
        return
    t = kit.t
    contexts = sorted({kit.context_of(trial) for trial in trials}, key=kit.names.order)
    levels = [kit.names.context(context) for context in contexts]
    sides = kit.colours({workload})
    specs = {column: _spec(kit, column, sides) for column in columns}
    rows = list(_still_rows(kit, trials, columns[0]))
    panels = [level for level in levels if any(row[0] == level for row in rows)]
    for spec in specs.values():
        spec["facet"] = {**spec["facet"], "sort": panels}
    chart = Chart(
        f"{prefix}-series",
        t("chart.series.title"),
        t("chart.series.note", trials=STILL_TRIALS),
        specs[columns[0]],
        as_columns(FIELDS, sorted(rows, key=lambda row: panels.index(row[0]))),
        Fit(("columns",), WIDE_PANEL + 60),
        chooser=_chooser(kit, trials, levels, list(sides), specs),
    )
    yield looked_up(t("paper.series"), (chart,))


def _spec(kit: Kit, column: SeriesColumn, sides: Mapping[str, str]) -> dict[str, Any]:
    t, side = kit.t, kit.names.factor(kit.study.contrast)
    outcomes = tuple(t(f"outcome.{outcome.value}") for outcome in Outcome)
    return series_spec(t, t(f"series.{column.name}"), side, sides, outcomes)


def _still_rows(
    kit: Kit, trials: Sequence[TrialView], column: SeriesColumn
) -> Iterator[tuple[Any, ...]]:
    drawn: Counter[tuple[str, str]] = Counter()
    for trial in trials:
        panel, side = kit.names.context(kit.context_of(trial)), kit.short(kit.side_of(trial))
        full = samples(trial, column)
        if not trial.counts or full is None or drawn[panel, side] >= STILL_TRIALS:
            continue
        drawn[panel, side] += 1
        stride = max(1, len(full.seconds) // STILL_POINTS)
        columns = (rounded(thin(values, stride)) for values in (full.seconds, full.values))
        for second, value in zip(*columns, strict=True):
            yield (panel, side, str(trial.number), kit.t("outcome.counted"), second, value)


def _chooser(
    kit: Kit,
    trials: Sequence[TrialView],
    levels: list[str],
    sides: list[str],
    specs: Mapping[SeriesColumn, dict[str, Any]],
) -> dict[str, Any]:
    """Compact columns for the page: indices instead of names, a start and step for the seconds."""
    t = kit.t
    of_kinds = [column for kind in presents_in(kit).values() for column in kind.series]
    stride = stride_for(kit.analysis.trials, (*of_kinds, *OF_THE_MACHINE))
    entries = []
    for trial in trials:
        columns = {
            column.name: _compact(shown)
            for column in specs
            if (shown := samples(trial, column, stride)) is not None
        }
        side = kit.short(kit.side_of(trial))
        entries.append(
            {
                "n": trial.number,
                "a": trial.attempt,
                "b": trial.block,
                "l": levels.index(kit.names.context(kit.context_of(trial))),
                "s": sides.index(side) if side in sides else 0,
                "o": t(f"outcome.{trial.outcome.value}"),
                "v": columns,
            }
        )
    return {
        "levels": levels,
        "sides": sides,
        "stride": stride,
        "columns": [
            {"name": column.name, "title": t(f"series.{column.name}"), "spec": spec}
            for column, spec in specs.items()
        ],
        "note": t("chart.series.every") + kit.of_nodes + _thinned(kit, trials, stride),
        "block": t("chart.series.block", block="{block}"),
        "trials": entries,
        "words": {name: t(f"chooser.{name}") for name in ("level", "metric", "blocks")},
    }


def _thinned(kit: Kit, trials: Sequence[TrialView], stride: int) -> str:
    """How many samples of a load a point stands for, where it is more than one."""
    sources = {column.source for kind in presents_in(kit).values() for column in kind.series}
    count = stride * max(
        (series.stride for trial in trials for series in trial.series if series.source in sources),
        default=1,
    )
    return kit.t("chart.series.thinned", count=count) if count > 1 else ""


def _compact(shown: Samples) -> dict[str, Any]:
    """``y``: the values; ``from`` and ``step``, or ``at``: their seconds."""
    steps = np.diff(shown.seconds)
    values = {"y": rounded(shown.values)}
    if len(steps) and np.allclose(steps, steps[0], rtol=0.02, atol=0.02):
        start, step = float(shown.seconds[0]), float(steps.mean())
        return {**values, "from": float(f"{start:.5g}"), "step": float(f"{step:.5g}")}
    return {**values, "at": rounded(shown.seconds)}


@dataclass(frozen=True)
class Samples:
    """A column of one trial, ``values`` over ``seconds``."""

    seconds: FloatArray
    values: FloatArray


def samples(trial: TrialView, column: SeriesColumn, stride: int = 1) -> Samples | None:
    """A trial's samples of one column, each ``stride`` neighbours averaged."""
    series = find_series(trial, column.source)
    if series is None or not len(series.seconds):
        return None
    values = series.columns.get(column.column)
    if values is None or not np.isfinite(values).any():
        return None
    return Samples(thin(series.seconds, stride), thin(values * column.factor, stride))


def thin(values: FloatArray, stride: int) -> FloatArray:
    """Means of ``stride`` neighbours; NaN only where none of them is a number."""
    return group_means(values[None, :], stride)[0] if stride > 1 else values


def stride_for(trials: Sequence[TrialView], columns: Iterable[SeriesColumn]) -> int:
    """By how much to thin so that all trials' series together stay below MOST_POINTS."""
    known = (find_series(trial, column.source) for column in columns for trial in trials)
    points = sum(len(series.seconds) for series in known if series is not None)
    return max(1, math.ceil(points / MOST_POINTS))


def rounded(values: FloatArray) -> list[float | None]:
    """Plain numbers of DIGITS significant digits for JSON; None for NaN."""
    return [
        float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in values.tolist()
    ]
