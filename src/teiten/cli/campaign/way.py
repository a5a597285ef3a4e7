"""Campaigns of two sides: the way in which they are loaded, as asked, else in paired transactions
where they can be had; and from the study to the end of the campaign."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from teiten.cli.campaign.begin import begin, carry_out_new, confirm
from teiten.cli.campaign.carry_out import CarriedOut
from teiten.cli.campaign.pilot import plan_worthwhile
from teiten.cli.main import Session
from teiten.cli.plan.make import Planned, paired_plan, plan_study
from teiten.cli.plan.two_sides import SharedOptions, flags_of_sides, tell_of_changed_data
from teiten.model.study import Study
from teiten.study.sides import SideFlags
from teiten.ways.registry import PREFERRED, way_of


def plan_by_way(
    session: Session, study: Study, options: SharedOptions, *, piloting: bool = False
) -> Planned:
    """The plan of two sides in the way that was asked for, or the best that can be had; with
    ``piloting``, of the classic way with trials as long as pays: rounds take the usual length,
    because a pilot chooses between lengths of servers that stay up.

    Raises WayError for a way that was asked for and cannot be had.
    """
    plan = partial(plan_study, session, seed=options.seed)
    if options.fixes_way and study.measure.preferred is None:
        if way_of(study.measure).concurrent:
            return plan(study)
    else:
        planned = paired_plan(session.console, study, plan, PREFERRED)
        if planned is not None:
            return planned
    if not piloting or study.measure.rounds:
        return plan(study)
    return plan_worthwhile(session, study, seed=options.seed, fixed=options.fixes_slices)


def carry_out_sides(
    session: Session,
    study: Study,
    options: SharedOptions,
    words: Sequence[str],
    *,
    sides: Sequence[SideFlags] = (),
    piloting: bool = False,
) -> CarriedOut:
    """Plan a study of two sides, and carry it out.

    ``words``: the verb and its arguments, with which the options repeat the campaign; ``sides``:
    those with flags of their own; ``piloting``: as of ``plan_by_way``.
    """
    tell_of_changed_data(session, study, options)
    with flags_of_sides(sides):
        planned = plan_by_way(session, study, options, piloting=piloting)
    confirm(session, planned, yes=options.yes)
    repeated = replace(
        options.with_chosen(planned.replication), way=planned.plan.study.measure.way
    ).as_arguments()
    command = shlex.join(["teiten", *words, *repeated, "--seed", str(planned.plan.seed)])
    name = begin(session, planned, options.name, command, yes=options.yes)
    return carry_out_new(session, name)
