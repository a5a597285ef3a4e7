"""A study's design in words, and as a grid of every planned trial with what became of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from teiten.model.progress import ALLOTTED, allotted_levels
from teiten.model.starts import trimmed_at_each_end
from teiten.model.text import joined_sentences
from teiten.model.trial import Outcome
from teiten.report.charts.base import Chart
from teiten.report.charts.grid import Square, design_grid
from teiten.report.effects import change, percent
from teiten.report.numbers import moment, plain
from teiten.report.sentences import ending_text
from teiten.report.sites import way_text
from teiten.report.view.kit import Kit
from teiten.ways.registry import way_of


def blocks_text(kit: Kit) -> str:
    """How many blocks there are, or may be."""
    measure = kit.study.measure
    if measure.sequential is None:
        return plain(measure.blocks)
    allotted = allotted_design(kit)
    if allotted:
        return kit.t(f"design.blocks.{allotted}", most=plain(measure.blocks))
    budget = kit.duration(measure.sequential.budget or 0.0)
    return kit.t("design.blocks.sequential", most=plain(measure.blocks), budget=budget)


def allotted_design(kit: Kit) -> str:
    """``allotted`` where a collection gave the campaign its blocks, ``allotted-levels`` where some
    of them hold not all levels; else empty."""
    given = [event for event in kit.analysis.events if event.kind == ALLOTTED]
    some = any(allotted_levels(event) is not None for event in given)
    return ("allotted-levels" if some else "allotted") if given else ""


def side_by_side_rows(kit: Kit) -> Iterator[tuple[str, str]]:
    """Tell what is special where the servers of a pair run side by side; empty elsewhere."""
    t, measure = kit.t, kit.study.measure
    way = way_of(measure)
    if not way.side_by_side or way.concurrent:
        return
    if way.parts(measure):
        cut = trimmed_at_each_end(measure.slices)
        reads = "design.number.trimmed" if cut else "design.number.few"
        numbers = (
            t(
                "design.number.plain" if workload.changes_data else reads,
                workload=kit.names.workload(workload.name),
                cut=cut,
            )
            for workload in kit.study.workloads
        )
        yield t("design.number"), t("list.strong").join(numbers)
    pairs = kit.analysis.plan.pairs_of_a_start
    shared = "design.starts.every" if pairs == 1 else "design.starts.shared"
    yield t("design.starts"), way_text(kit, "starts", t(shared, pairs=pairs))


def sides_rows(kit: Kit) -> Iterator[tuple[str, str]]:
    """Tell which levels a start has, where it does not have all of them."""
    study = kit.study
    if study.starts_of_all > 1:
        text = kit.t(
            "design.sides.text",
            others=study.sides_of_a_start - 1,
            count=len(study.contrasted_levels) - 1,
            blocks=study.starts_of_all,
        )
        yield kit.t("design.sides"), text


def stopped(kit: Kit) -> Iterator[tuple[str, str]]:
    """Why a sequential campaign ended; nothing of a fixed design or of one that goes on."""
    if text := ending_text(kit.t, kit.analysis):
        yield kit.t("answer.ending"), text


def noise_rows(kit: Kit) -> Iterator[tuple[str, str]]:
    """The noise that a null campaign had measured on this machine before."""
    for floor in kit.analysis.noise:
        text = kit.t(
            "design.noise.text",
            workload=kit.names.workload(floor.workload),
            clients=_clients(kit, floor.clients),
            deviation=percent(kit.t, floor.deviation, 1),
            pairs=floor.pairs,
            seconds=kit.seconds(floor.duration),
            campaign=floor.campaign,
        )
        yield kit.t("design.noise"), text


def _clients(kit: Kit, count: int) -> str:
    """``1 client``, as levels are called."""
    return kit.names.context((("clients", str(count)),))


def pairs_check_rows(kit: Kit) -> Iterator[tuple[str, str]]:
    """Tell what was known of paired transactions on this machine, or that nothing was."""
    t, check = kit.t, kit.analysis.pairs_check
    if not way_of(kit.study.measure).concurrent:
        return
    if check is None:
        yield t("design.pairs-check"), t("design.pairs-check.missing")
        return
    numbers = (
        t(
            "design.pairs-check.number",
            number=t(f"design.pairs-check.{number.name}"),
            clients=_clients(kit, number.clients),
            low=change(t, math.exp(number.low), 2),
            high=change(t, math.exp(number.high), 2),
            equal=t(f"design.pairs-check.{number.equal}"),
            slope=f"{number.slope:.2f}",
            slope_low=f"{number.slope_low:.2f}",
            slope_high=f"{number.slope_high:.2f}",
            scale=t(f"design.pairs-check.{number.true_to_scale}"),
        )
        for number in check.numbers
    )
    text = t(
        "design.pairs-check.text",
        starts=check.starts,
        load=f"{check.load_average:.1f}",
        moment=moment(check.measured_at),
        numbers=joined_sentences(numbers),
    )
    yield t("design.pairs-check"), text


def replication_rows(kit: Kit) -> Iterator[tuple[str, str]]:
    """Tell what the pilot pairs, or a null campaign before, say of the length of the trials."""
    chosen = kit.analysis.replication
    if chosen is not None:
        text = kit.t(
            f"design.replication.{chosen.source.value}",
            starts=chosen.starts,
            seen=chosen.seen,
            took=kit.duration(chosen.took),
            campaign=chosen.campaign or "",
            between=percent(kit.t, chosen.between, 2),
            within=percent(kit.t, chosen.within, 2),
            fixed=kit.duration(chosen.fixed),
        )
        yield kit.t("design.replication"), text


FAILED, DISTURBED, REPEATED, NOT_RUN = "×", "≈", "↻", "·"


def grid(kit: Kit) -> Chart:
    """Every planned trial in the order in which it ran, with what became of it; of a sequential
    design those of blocks that have begun, because nobody knows how many will follow."""
    t, names, contrast = kit.t, kit.names, kit.study.contrast
    states, due = _states(kit), kit.analysis.due
    if kit.study.measure.sequential is not None:
        begun = max((trial.block for trial in due if trial.number in states), default=1)
        due = tuple(trial for trial in due if trial.block <= begun)
    squares, places = [], Counter[int]()
    for trial in sorted(due, key=lambda trial: trial.number):
        places[trial.block] += 1
        context = trial.cell.context(contrast)
        on_axis, panel = names.axis(context)
        mark, state = states.get(trial.number, (NOT_RUN, t("state.not-run")))
        squares.append(
            Square(
                names.workload(trial.cell.workload),
                trial.block,
                places[trial.block],
                kit.short(trial.cell.level(contrast) or ""),
                names.context(context) if panel else on_axis,
                trial.number,
                state,
                mark,
            )
        )
    planned = kit.analysis.plan.trials
    axis = names.axis_factor(planned[0].cell.context(contrast)) if planned else None
    label = names.factor(axis) if axis else t("table.level")
    of_marks = {"failed": FAILED, "disturbed": DISTURBED, "repeated": REPEATED, "missing": NOT_RUN}
    marks, titles = t("chart.grid.marks", **of_marks), (names.factor(contrast), label)
    drawn = {square.workload for square in squares}
    workloads = [title for title in names.workload_titles.values() if title in drawn]
    sides = tuple(side.short for side in names.sides.values())
    return design_grid(t, squares, workloads, sides, titles=titles, marks=marks)


def _states(kit: Kit) -> dict[int, tuple[str, str]]:
    """By trial number: the mark in the grid, and its words."""
    t, states = kit.t, dict[int, tuple[str, str]]()
    for trial in sorted(kit.analysis.trials, key=lambda trial: (trial.number, trial.attempt)):
        if trial.counts and trial.attempt > 1:
            states[trial.number] = (REPEATED, t("state.repeated", attempt=trial.attempt))
        elif trial.counts:
            states[trial.number] = ("", t("outcome.counted"))
        elif trial.number not in states or states[trial.number][0] not in ("", REPEATED):
            mark = FAILED if trial.outcome is Outcome.FAILED else DISTURBED
            states[trial.number] = (mark, t(f"outcome.{trial.outcome.value}"))
    return states
