"""In which way the two sides of a verb are loaded: as asked, else in paired transactions where they
can be had."""

from __future__ import annotations

from functools import partial

from teiten.cli.campaign.pilot import WorthwhilePlan, plan_worthwhile
from teiten.cli.main import Session
from teiten.cli.plan.make import plan_study
from teiten.cli.plan.open_way import paired_plan
from teiten.cli.plan.two_sides import SharedOptions
from teiten.model.study import Study
from teiten.ways.registry import PREFERRED, way_of


def plan_by_way(
    session: Session, study: Study, options: SharedOptions, *, piloting: bool = True
) -> WorthwhilePlan:
    """The plan of two sides in the way that was asked for, or the best that can be had; with
    ``piloting``, of the classic way with trials as long as pays: rounds take the usual length,
    because a pilot chooses between lengths of servers that stay up.

    Raises WayError for a way that was asked for and cannot be had.
    """
    if options.fixes_way and study.measure.preferred is None:
        if way_of(study.measure).concurrent:
            return WorthwhilePlan(plan_study(session, study, seed=options.seed))
    else:
        plan = partial(plan_study, session, seed=options.seed)
        planned = paired_plan(session.console, study, plan, PREFERRED)
        if planned is not None:
            return WorthwhilePlan(planned)
    if not piloting or study.measure.rounds:
        return WorthwhilePlan(plan_study(session, study, seed=options.seed))
    return plan_worthwhile(session, study, seed=options.seed, fixed=options.fixes_slices)
