"""Text on a design: blocks that were fixed, or run until the verdict was decided."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from teiten.model.plan import PlannedTrial
from teiten.model.starts import pairs_of_a_start, trimmed_at_each_end
from teiten.report.effects import change, percent
from teiten.report.numbers import plain
from teiten.report.view.kit import Kit
from teiten.ways.registry import way_of


def blocks_text(kit: Kit) -> str:
    """How many blocks there are, or may be."""
    measure = kit.study.measure
    if measure.sequential is None:
        return plain(measure.blocks)
    budget = measure.sequential.budget or 0.0
    return kit.t(
        "design.blocks.sequential", most=plain(measure.blocks), budget=kit.duration(budget)
    )


def side_by_side_rows(kit: Kit) -> tuple[tuple[str, str], ...]:
    """Tell what is special where the servers of a pair run side by side; empty elsewhere."""
    t, measure = kit.t, kit.study.measure
    way = way_of(measure)
    if not way.side_by_side or way.concurrent:
        return ()
    pairs = pairs_of_a_start(kit.analysis.plan)
    shared = "design.starts.every" if pairs == 1 else "design.starts.shared"
    own = t.either(f"way.{way.name}.starts", "")
    starts = ((t("design.starts"), own or t(shared, pairs=pairs)),)
    if not way.parts(measure):
        return starts
    cut = trimmed_at_each_end(measure.slices)
    reads = "design.number.trimmed" if cut else "design.number.few"
    numbers = [
        t(
            "design.number.plain" if workload.changes_data else reads,
            workload=kit.names.workload(workload.name),
            cut=cut,
        )
        for workload in kit.study.workloads
    ]
    return ((t("design.number"), t("list.strong").join(numbers)), *starts)


def stopped(kit: Kit) -> tuple[tuple[str, str], ...]:
    """Why a sequential campaign ended; nothing of a fixed design or of one that goes on."""
    ending = kit.analysis.standing.ending
    if ending is None:
        return ()
    blocks = len({trial.block for trial in kit.analysis.trials})
    text = kit.t.plural(f"ending.{ending.value}", blocks)
    return ((kit.t("answer.ending"), text),)


def noise_rows(kit: Kit) -> tuple[tuple[str, str], ...]:
    """The noise that a null campaign had measured on this machine before."""
    t = kit.t
    return tuple(
        (
            t("design.noise"),
            t(
                "design.noise.text",
                workload=kit.names.workload(one.workload),
                clients=one.clients,
                deviation=percent(t, one.deviation, 1),
                pairs=one.pairs,
                seconds=kit.seconds(one.duration),
                campaign=one.campaign,
            ),
        )
        for one in kit.analysis.noise
    )


def pairs_check_rows(kit: Kit) -> tuple[tuple[str, str], ...]:
    """Tell what was known of paired transactions on this machine, or that nothing was."""
    t, check = kit.t, kit.analysis.pairs_check
    if not way_of(kit.study.measure).concurrent:
        return ()
    if check is None:
        return ((t("design.pairs-check"), t("design.pairs-check.missing")),)
    numbers = [
        t(
            "design.pairs-check.number",
            number=t(f"design.pairs-check.{one.name}"),
            low=change(t, math.exp(one.low), 2),
            high=change(t, math.exp(one.high), 2),
            equal=t(f"design.pairs-check.{one.equal}"),
            slope=f"{one.slope:.2f}",
            slope_low=f"{one.slope_low:.2f}",
            slope_high=f"{one.slope_high:.2f}",
            scale=t(f"design.pairs-check.{one.true_to_scale}"),
        )
        for one in check.numbers
    ]
    said = t(
        "design.pairs-check.text",
        starts=check.starts,
        load=f"{check.load_average:.1f}",
        moment=datetime.fromtimestamp(check.measured_at, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        numbers=t("list.strong").join(numbers),
    )
    return ((t("design.pairs-check"), said),)


def replication_rows(kit: Kit) -> tuple[tuple[str, str], ...]:
    """Tell what the pilot pairs, or a null campaign before, say of the length of the trials."""
    t, chosen = kit.t, kit.analysis.replication
    if chosen is None:
        return ()
    text = t(
        f"design.replication.{chosen.source.value}",
        starts=chosen.starts,
        seen=chosen.seen,
        took=kit.duration(chosen.took),
        campaign=chosen.campaign or "",
        between=percent(t, chosen.between, 2),
        within=percent(t, chosen.within, 2),
        fixed=kit.duration(chosen.fixed),
    )
    return ((t("design.replication"), text),)


def trials_shown(kit: Kit) -> tuple[PlannedTrial, ...]:
    """The planned trials that the grid of the design shows: of a sequential design only the blocks
    that have begun, because nobody knows how many will follow."""
    due = kit.analysis.due
    if kit.study.measure.sequential is None:
        return due
    numbers = {trial.number for trial in kit.analysis.trials}
    last = max((trial.block for trial in due if trial.number in numbers), default=1)
    return tuple(trial for trial in due if trial.block <= last)
