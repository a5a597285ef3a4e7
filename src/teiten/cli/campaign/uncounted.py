"""Trials that do not count, in words: how many, why, and the key that decides about it; pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from statistics import median

from teiten.analysis.model.findings import CampaignAnalysis, TrialView, VerdictKind
from teiten.errors import TrialsFailedError
from teiten.model.study import USUAL_DISTURBED_SHARE
from teiten.model.trial import PARTNER
from teiten.report.effects import percent, plain_percent
from teiten.report.texts import texts

OTHERS, STOLEN = "other-load", "steal"
CAUSES = {
    OTHERS: "other programs used more than {limit} of the CPU",
    STOLEN: "the hypervisor took more than {limit} of the CPU time that was wanted",
}
"""By the code of a problem; {limit}: ``measure.disturbed_share``."""
TAKEN_BY_OTHERS = re.compile(r"(client_|node_\d+_|)cpu_other_share")


def why_uncounted(analysis: CampaignAnalysis) -> str | None:
    """The most frequent cause, and how often it was one: "other programs used more than 5 % of the
    CPU in 38 of 44 trials". None where every trial counts."""
    causes = _causes(analysis.trials)
    if not causes:
        return None
    code, count = causes.most_common(1)[0]
    t = texts("en")
    limit = plain_percent(t, analysis.plan.study.measure.tolerated_share)
    words = CAUSES.get(code) or t.either(f"problem.{code}", code)
    return f"{words.format(limit=limit)} in {count} of {len(analysis.trials)} trials"


def hint_for_uncounted(analysis: CampaignAnalysis) -> str:
    """Say what to do about uncounted trials: the key of the study, with a value under which nine of
    ten would have counted, where others disturbed them."""
    causes = _causes(analysis.trials)
    if not causes or causes.most_common(1)[0][0] != OTHERS:
        return "the report lists every trial with its reason"
    shares = sorted(map(_share_of_others, analysis.trials))
    nine_of_ten = shares[math.ceil(0.9 * len(shares)) - 1]
    sufficient = min(1.0, math.ceil(nine_of_ten * 10 + 1e-9) / 10)  # in steps of 10 %
    return (
        "measure when the machine is idle, or let trials count beside other programs, with wider"
        f" intervals: --set disturbed_share={sufficient:.0%}"
    )


def busy_machine_line(analysis: CampaignAnalysis) -> str | None:
    """How busy others kept the machine while trials were counted all the same, and what that left
    undecided. None of a machine that was calm enough for trials to count by the usual limit."""
    shares = [_share_of_others(trial) for trial in analysis.trials if trial.counts]
    if not shares or (typical := median(shares)) <= USUAL_DISTURBED_SHARE:
        return None
    t = texts("en")
    undecided = [
        f"{contrast.workload} {contrast.new}/{contrast.old}"
        for contrast in analysis.contrasts
        if contrast.metric.judged and contrast.overall.kind is VerdictKind.INCONCLUSIVE
    ]
    left = f"; not decided: {', '.join(undecided)}" if undecided else ""
    return (
        f"Other programs used {percent(t, typical, 0)} of the CPU beside the typical trial, which"
        f" makes intervals wider than on an idle machine{left}."
    )


def uncounted_lines(analysis: CampaignAnalysis) -> tuple[str, ...]:
    """For the end of a campaign that did not decide everything: what trials were lost, and why."""
    why = why_uncounted(analysis)
    lost = sum(not trial.counts for trial in analysis.trials)
    if why is None:
        return ()
    return (
        f"{lost} of {len(analysis.trials)} trials do not count: {why}",
        hint_for_uncounted(analysis),
    )


def refuse_uncounted(analysis: CampaignAnalysis) -> None:
    """Raises TrialsFailedError where a comparison that was wanted has no number.

    A sequential campaign makes up for a lost pair by a later one, and ends without repeats; it has
    failed where a workload has not one trial that counts.
    """
    counted = {trial.number for trial in analysis.trials if trial.counts}
    without = [trial for trial in analysis.due if trial.number not in counted]
    if analysis.standing.ending is not None:
        repeats = analysis.plan.study.measure.repeats
        tries = Counter(trial.number for trial in analysis.trials)
        measured = {trial.workload for trial in analysis.trials if trial.number in counted}
        without = [
            trial
            for trial in without
            if tries[trial.number] > repeats
            or (tries[trial.number] and trial.cell.workload not in measured)
        ]
    if not without:
        return
    message, first = "no trial counts", without[0].cell
    if counted:
        lacking = f"{len(without)} of {len(analysis.due)}"
        message = f"{lacking} trials have no counted result, first: {first}"
    raise TrialsFailedError(f"{message}: {why_uncounted(analysis)}", hint_for_uncounted(analysis))


def _causes(trials: Sequence[TrialView]) -> Counter[str]:
    """How many trials each code kept from counting; a trial whose partner was disturbed has the
    partner's code."""
    return Counter(_cause(trial) for trial in trials if not trial.counts)


def _cause(trial: TrialView) -> str:
    if not trial.problems:
        return trial.outcome.value
    problem = trial.problems[0]
    return problem.detail.rpartition(": ")[2] if problem.code == PARTNER else problem.code


def _share_of_others(trial: TrialView) -> float:
    """Find the others' share of the busiest machine's CPU, 0 to 1; 1 where it was not measured."""
    shares = (share for name, share in trial.metrics.items() if TAKEN_BY_OTHERS.fullmatch(name))
    return max(shares, default=1.0)
