"""One comparison of a search: a campaign of pairs of two builds, until it is decided."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from teiten.analysis.across.bisection import CommitComparison, campaign_alpha, needs_more_pairs
from teiten.analysis.verdict.sequential import least_pairs
from teiten.cli.campaign.begin import begin, carry_out_new, plan_by_way
from teiten.cli.campaign.carry_out import CarriedOut, carry_out, note_resumed
from teiten.cli.main import Session
from teiten.cli.plan.make import plan_study
from teiten.cli.plan.two_sides import SharedOptions
from teiten.errors import UsageError
from teiten.ledger.folders import FILE_NAME
from teiten.ledger.store import Ledger
from teiten.model.quantities import exact_share
from teiten.model.study import Study
from teiten.model.text import Bilingual
from teiten.model.units import Seconds, Share
from teiten.plan.durations import blocks_in_budget
from teiten.study.sides import SideFlags, ab_study


@dataclass(frozen=True)
class Question:
    """Two builds, and how they are compared."""

    campaign: str
    old: str
    """Installations by their names."""
    new: str
    what: Bilingual
    options: SharedOptions
    delta: Share
    alpha: Share
    beyond_delta: bool
    share: Seconds
    """The planned time of one comparison: it sizes the trials."""
    budget: Seconds
    """The longest time that the comparison may take."""
    command: str
    """The search's command line, for the campaign's record."""
    telling: bool = True
    """The machine's cautions are said; they are recorded in any case."""


def compare(session: Session, question: Question) -> tuple[CommitComparison | None, Seconds]:
    """The comparison and what it took; carried on where it was cut off.

    One that ended undecided is followed by another with pairs and an α of its own, as long as there
    is budget and further pairs may decide. None where the budget is too short for the first. Raises
    what ``carry_out`` does.
    """
    last, spent = None, 0.0
    for number in count(1):
        suffix = "" if number == 1 else f"-{number}"
        left = Seconds(question.budget - spent)
        if left <= 0:
            break
        alpha = campaign_alpha(question.alpha, number)
        asked = replace(question, budget=left, alpha=alpha)
        further = _campaign(session, asked, f"{question.campaign}{suffix}")
        if further is None:
            break
        last, spent = further, spent + further.seconds
        if not needs_more_pairs(last, beyond_delta=question.beyond_delta):
            break
    return last, Seconds(spent)


def _campaign(session: Session, question: Question, name: str) -> CommitComparison | None:
    folder = session.workdir.campaigns / name
    if (folder / FILE_NAME).exists():
        with Ledger.open(folder) as ledger:
            note_resumed(session, ledger)
        return _comparison(carry_out(session, folder))
    try:
        planned = plan_study(session, _study(session, question), seed=None)
    except UsageError as error:
        if "budget" not in error.message:
            raise
        return None
    sized = planned.plan.study
    if min(sized.measure.blocks, blocks_in_budget(sized)) < least_pairs(question.alpha):
        return None
    begin(session, planned, name, question.command, telling=question.telling)
    return _comparison(carry_out_new(session, name))


def _study(session: Session, question: Question) -> Study:
    """Pairs of the two, in the way that can be had; of the classic one with trials as long as the
    share of one comparison gives."""
    options = replace(
        question.options,
        budget=f"{round(question.share)}s",
        delta=exact_share(question.delta),
        alpha=exact_share(question.alpha),
    )
    sides = (SideFlags("a", question.old), SideFlags("b", question.new))
    study = ab_study(*sides, options)
    sized = plan_by_way(session, study, options).plan.study
    assert study.measure.sequential is not None
    sequential = replace(
        study.measure.sequential, budget=question.budget, beyond_delta=question.beyond_delta
    )
    measure = replace(
        study.measure,
        way=sized.measure.way,
        lengthens=sized.measure.lengthens,
        duration=sized.measure.duration,
        warmup=sized.measure.warmup,
        sequential=sequential,
    )
    return replace(study, title=question.what, workloads=sized.workloads, measure=measure)


def _comparison(carried: CarriedOut) -> CommitComparison:
    analysis = carried.analysis
    result = next(contrast for contrast in analysis.contrasts if contrast.metric.judged)
    verdict = result.overall
    return CommitComparison(
        campaign=analysis.name,
        verdict=verdict.kind,
        at_least_delta=verdict.at_least_delta,
        effect=verdict.effect,
        pairs=verdict.pairs,
        delta=verdict.delta,
        seconds=analysis.wall,
        report=str(carried.reports[0]),
        reason=verdict.reason,
    )
