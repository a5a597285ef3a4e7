"""The design as a grid: every planned trial in the order in which it ran, and what became of it."""

from __future__ import annotations

from teiten.model.trial import Outcome
from teiten.report.charts.base import Chart
from teiten.report.charts.grid import GridWords, Square, design_grid
from teiten.report.view.design import trials_shown
from teiten.report.view.kit import Kit

FAILED, DISTURBED, REPEATED, NOT_RUN = "×", "≈", "↻", "·"


def grid(kit: Kit) -> Chart:
    t = kit.t
    states = _states(kit)
    squares, places = [], dict[int, int]()
    for trial in sorted(trials_shown(kit), key=lambda one: one.number):
        places[trial.block] = places.get(trial.block, 0) + 1
        context = trial.cell.context(kit.study.contrast)
        on_axis, panel = kit.names.axis(context)
        mark, state = states.get(trial.number, (NOT_RUN, t("state.not-run")))
        label = on_axis if not panel else kit.names.context(context)
        squares.append(
            Square(
                kit.names.workload(trial.cell.workload),
                trial.block,
                places[trial.block],
                kit.short(trial.cell.level(kit.study.contrast) or ""),
                label,
                trial.number,
                state,
                mark,
            )
        )
    axis = kit.names.axis_factor(
        kit.analysis.plan.trials[0].cell.context(kit.study.contrast)
        if kit.analysis.plan.trials
        else ()
    )
    label = kit.names.factor(axis) if axis else t("table.level")
    marks = t(
        "chart.grid.marks",
        failed=FAILED,
        disturbed=DISTURBED,
        repeated=REPEATED,
        missing=NOT_RUN,
    )
    words = GridWords(
        t("chart.grid.title"),
        t("chart.grid.note", label=label, marks=marks),
        t("chart.grid.note-bare", marks=marks),
        t("table.block"),
        t("chart.grid.position"),
        kit.names.factor(kit.study.contrast),
        label,
        t("table.trial"),
        t("table.outcome"),
    )
    planned = {square.workload for square in squares}
    workloads = [title for title in kit.names.workload_titles.values() if title in planned]
    return design_grid("design", squares, workloads, kit.side_labels, words)


def _states(kit: Kit) -> dict[int, tuple[str, str]]:
    """By trial number: the mark in the grid, and its words."""
    t, states = kit.t, dict[int, tuple[str, str]]()
    for trial in sorted(kit.analysis.trials, key=lambda one: (one.number, one.attempt)):
        if trial.outcome is Outcome.COUNTED:
            again = trial.attempt > 1
            states[trial.number] = (
                (REPEATED, t("state.repeated", attempt=trial.attempt))
                if again
                else ("", t("outcome.counted"))
            )
        elif trial.number not in states or states[trial.number][0] not in ("", REPEATED):
            mark = FAILED if trial.outcome is Outcome.FAILED else DISTURBED
            states[trial.number] = (mark, t(f"outcome.{trial.outcome.value}"))
    return states
