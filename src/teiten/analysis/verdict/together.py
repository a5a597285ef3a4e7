"""Trials that ended well, but whose partner did not: they do not count either.

The ledger holds each trial as it ended by itself; whether its comparison counts is known when all
of its sides have run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from teiten.analysis.model.findings import TrialView
from teiten.model.plan import Plan
from teiten.model.progress import compared_together, counting
from teiten.model.trial import PARTNER, Outcome, Problem


def judged_together(plan: Plan, views: Sequence[TrialView]) -> Iterator[TrialView]:
    """Yield all trials; one whose partner of the same attempt does not count is disturbed by it."""
    counts = counting(plan, ((view.number, view.attempt, view.outcome) for view in views))
    out = {
        (view.number, view.attempt): view for view in views if view.outcome is not Outcome.COUNTED
    }
    partners = {
        trial.number: [other.number for other in together]
        for together in compared_together(plan)
        for trial in together
    }
    for view in views:
        if view.outcome is not Outcome.COUNTED or (view.number, view.attempt) in counts:
            yield view
            continue
        places = ((number, view.attempt) for number in partners[view.number])
        blamed = next(out[place] for place in places if place in out)
        detail = f"trial {blamed.number}: {blamed.problems[0].code}" if blamed.problems else ""
        yield replace(view, outcome=Outcome.DISTURBED, problems=(Problem(PARTNER, detail),))
