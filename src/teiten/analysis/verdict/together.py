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
    """The same trials; one whose partner of the same attempt does not count is disturbed by it."""
    counts = counting(plan, ((one.number, one.attempt, one.outcome) for one in views))
    out = {(one.number, one.attempt): one for one in views if one.outcome is not Outcome.COUNTED}
    partners = {
        trial.number: [other.number for other in together]
        for together in compared_together(plan)
        for trial in together
    }
    for one in views:
        if one.outcome is not Outcome.COUNTED or (one.number, one.attempt) in counts:
            yield one
            continue
        places = ((number, one.attempt) for number in partners[one.number])
        blamed = next(out[place] for place in places if place in out)
        detail = f"trial {blamed.number}: {blamed.problems[0].code}" if blamed.problems else ""
        yield replace(one, outcome=Outcome.DISTURBED, problems=(Problem(PARTNER, detail),))
