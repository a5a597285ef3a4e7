"""The per-second series of every trial: a still chart, and the data from which a reader chooses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from teiten.analysis.model.findings import TrialView
from teiten.kinds.contract_present import present_in, presents_in
from teiten.model.trial import Outcome
from teiten.report.charts.base import Chart, Fit, as_columns
from teiten.report.charts.series import SERIES_PANEL, series_spec
from teiten.report.series import OF_THE_MACHINE, Samples, SeriesColumn, rounded, samples, stride_for
from teiten.report.view.kit import Kit

FIELDS = ("panel", "side", "trial", "counted", "second", "value")
STILL_TRIALS = 12
"""Trials of a level and side that the still chart draws."""
STILL_POINTS = 120


SHORTEST = 10
"""Seconds of a trial with fewer of which a chart by the second shows nothing but noise."""


@dataclass(frozen=True)
class Offered:
    """Levels and columns of one workload that the reader can choose from."""

    levels: tuple[str, ...]
    columns: tuple[SeriesColumn, ...]


def _offered(kit: Kit, workload: str, trials: Sequence[TrialView]) -> Offered:
    known = (*present_in(kit, workload).series, *OF_THE_MACHINE)
    contexts = {kit.context_of(trial) for trial in trials}
    ordered = sorted(contexts, key=kit.names.order)
    found = tuple(
        column for column in known if any(samples(trial, column) is not None for trial in trials)
    )
    return Offered(tuple(kit.names.context(one) for one in ordered), found)


def _of(kit: Kit, workload: str) -> list[TrialView]:
    return [trial for trial in kit.analysis.trials if trial.workload == workload]


def still_series(kit: Kit, name: str, workload: str) -> Chart | None:
    """TPS over the seconds, a panel per level; its ``chooser`` holds every trial. None where no
    trial is long enough to have a course."""
    trials = _of(kit, workload)
    offered = _offered(kit, workload, trials)
    if not offered.columns or not any(_has_course(trial, offered.columns[0]) for trial in trials):
        return None
    t = kit.t
    sides = kit.colours({workload})
    specs = {column.name: _spec(kit, column, sides) for column in offered.columns}
    rows = list(_still_rows(kit, trials, offered.columns[0]))
    panels = tuple(level for level in offered.levels if any(row[0] == level for row in rows))
    for spec in specs.values():
        spec["facet"] = {**spec["facet"], "sort": list(panels)}
    chart_rows = as_columns(FIELDS, sorted(rows, key=lambda row: panels.index(row[0])))
    return Chart(
        name,
        t("chart.series.title"),
        t("chart.series.note", trials=STILL_TRIALS),
        specs[offered.columns[0].name],
        chart_rows,
        Fit(("columns",), SERIES_PANEL + 60),
        chooser=_chooser(kit, trials, offered, list(sides), specs),
    )


def _has_course(trial: TrialView, column: SeriesColumn) -> bool:
    shown = samples(trial, column)
    return shown is not None and shown.seconds[-1] - shown.seconds[0] >= SHORTEST - 1


def _spec(kit: Kit, column: SeriesColumn, sides: Mapping[str, str]) -> dict[str, Any]:
    t = kit.t
    words = {
        "side": kit.names.factor(kit.study.contrast),
        "trial": t("table.trial"),
        "counted": t("table.outcome"),
    }
    outcomes = tuple(t(f"outcome.{one.value}") for one in Outcome)
    return series_spec(t("axis.seconds"), t(f"series.{column.name}"), sides, outcomes, words)


def _still_rows(
    kit: Kit, trials: Sequence[TrialView], column: SeriesColumn
) -> Iterator[tuple[Any, ...]]:
    drawn: dict[tuple[str, str], int] = {}
    for trial in trials:
        panel, side = kit.names.context(kit.context_of(trial)), kit.short(kit.side_of(trial))
        if trial.outcome is not Outcome.COUNTED or drawn.get((panel, side), 0) >= STILL_TRIALS:
            continue
        found = samples(trial, column)
        if found is None:
            continue
        drawn[panel, side] = drawn.get((panel, side), 0) + 1
        thinned = samples(trial, column, max(1, len(found.seconds) // STILL_POINTS)) or found
        for second, value in zip(rounded(thinned.seconds), rounded(thinned.values), strict=True):
            yield (panel, side, str(trial.number), kit.t("outcome.counted"), second, value)


def _chooser(
    kit: Kit,
    trials: Sequence[TrialView],
    offered: Offered,
    sides: list[str],
    specs: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """Compact columns for the page: indices instead of names, a start and step for the seconds."""
    t = kit.t
    of_kinds = [column for kind in presents_in(kit).values() for column in kind.series]
    stride = stride_for(kit.analysis.trials, (*of_kinds, *OF_THE_MACHINE))
    places = {level: at for at, level in enumerate(offered.levels)}
    entries = []
    for trial in trials:
        found = {
            column.name: _compact(one)
            for column in offered.columns
            if (one := samples(trial, column, stride)) is not None
        }
        side = kit.short(kit.side_of(trial))
        entries.append(
            {
                "n": trial.number,
                "a": trial.attempt,
                "b": trial.block,
                "l": places[kit.names.context(kit.context_of(trial))],
                "s": sides.index(side) if side in sides else 0,
                "o": t(f"outcome.{trial.outcome.value}"),
                "v": found,
            }
        )
    return {
        "levels": list(offered.levels),
        "sides": sides,
        "stride": stride,
        "columns": [
            {"name": one.name, "title": t(f"series.{one.name}"), "spec": specs[one.name]}
            for one in offered.columns
        ],
        "note": t("chart.series.every") + kit.of_nodes + _thinned(kit, trials, stride),
        "block": t("chart.series.block", block="{block}"),
        "trials": entries,
        "words": {
            "level": t("chooser.level"),
            "metric": t("chooser.metric"),
            "blocks": t("chooser.blocks"),
        },
    }


def _thinned(kit: Kit, trials: Sequence[TrialView], stride: int) -> str:
    """How many samples of a load a point stands for, where it is more than one."""
    sources = {column.source for kind in presents_in(kit).values() for column in kind.series}
    count = stride * max(
        (one.stride for trial in trials for one in trial.series if one.source in sources),
        default=1,
    )
    return kit.t("chart.series.thinned", count=count) if count > 1 else ""


def _compact(one: Samples) -> dict[str, Any]:
    """``y``: the values; ``from`` and ``step``, or ``at``: their seconds."""
    steps = np.diff(one.seconds)
    values = {"y": rounded(one.values)}
    if len(steps) and np.allclose(steps, steps[0], rtol=0.02, atol=0.02):
        start, step = float(one.seconds[0]), float(steps.mean())
        return {**values, "from": float(f"{start:.5g}"), "step": float(f"{step:.5g}")}
    return {**values, "at": rounded(one.seconds)}
