"""In which way the two sides of a verb are loaded: as asked, else in paired transactions where they
can be had."""

from __future__ import annotations

from dataclasses import replace

from teiten.cli.campaign.pilot import WorthwhilePlan, plan_worthwhile
from teiten.cli.main import Session
from teiten.cli.plan.make import Planned, plan_study
from teiten.cli.plan.two_sides import SharedOptions
from teiten.errors import MachineError, WayError
from teiten.execute.client.paired import is_built
from teiten.model.study import Study, Way

NOT_BUILT = "the native part of Teiten, which has their generator, is not here (make native)"


def plan_by_way(
    session: Session, study: Study, options: SharedOptions, *, piloting: bool = True
) -> WorthwhilePlan:
    """The plan of two sides in the way that was asked for, or the best that can be had; with
    ``piloting``, of the classic way with trials as long as pays: rounds take the usual length,
    because a pilot chooses between lengths of servers that stay up.

    Raises WayError for a way that was asked for and cannot be had.
    """
    if options.fixes_way:
        if study.measure.paired:
            return WorthwhilePlan(plan_study(session, study, seed=options.seed))
    else:
        planned = _paired(session, study, options)
        if planned is not None:
            return WorthwhilePlan(planned)
    if not piloting or study.measure.rounds:
        return WorthwhilePlan(plan_study(session, study, seed=options.seed))
    return plan_worthwhile(session, study, seed=options.seed, fixed=options.fixes_slices)


def _paired(session: Session, study: Study, options: SharedOptions) -> Planned | None:
    """None where paired transactions cannot be had, which is said."""
    if not is_built():
        reason = NOT_BUILT
    else:
        paired = replace(study, measure=replace(study.measure, way=Way.PAIRS))
        try:
            return plan_study(session, paired, seed=options.seed)
        except (WayError, MachineError) as error:
            reason = error.message
    session.console.say(f"one side at a time, no paired transactions: {reason}")
    return None
