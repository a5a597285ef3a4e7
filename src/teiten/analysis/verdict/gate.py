"""The decision of a gate: whether a change made a workload slower, and whether this machine can
tell. Pure.

The base is measured twice in each start, on copies of its own: what its two sides differ by is
noise, and is judged as the head is, by an interval from as many starts. A gate that cannot tell
says so; it never guesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from teiten.analysis.model.findings import ContrastResult, Verdict, VerdictKind
from teiten.analysis.model.verdict import BY_SIGN
from teiten.analysis.verdict.verdict import NOT_AVERAGED
from teiten.model.plan import Context


class GateOutcome(StrEnum):
    """The answer for a workload, or for all of a gate."""

    REGRESSION = "regression"
    NONE = "none"
    """No slowdown by δ or more: equivalent, faster, or different by less than δ."""
    CANNOT_TELL = "cannot-tell"


class GateReason(StrEnum):
    """Why a gate cannot tell."""

    UNDECIDED = "undecided"
    """The interval still holds both: a slowdown by δ, and none."""
    EQUAL_SIDES_DIFFER = "equal-sides-differ"
    """The base differs from itself, so that the head's difference may have the same cause."""


@dataclass(frozen=True)
class GateVerdicts:
    """The verdicts on the head and on the base against itself: over all levels, or at one."""

    head: Verdict
    control: Verdict
    context: Context = ()
    """The level; empty over all of them."""

    @property
    def answer(self) -> GateReason | GateOutcome:
        return decide_gate(self.head, self.control)


@dataclass(frozen=True)
class GateLine:
    """One workload of a gate."""

    head: ContrastResult
    """The head against the base."""
    control: ContrastResult
    """The base against itself, from the same starts."""
    outcome: GateOutcome
    reason: GateReason | None
    """None where the gate can tell."""
    decisive: tuple[GateVerdicts, ...]
    """The verdicts from which the outcome follows: of no regression all that were asked."""

    @property
    def workload(self) -> str:
        return self.head.workload


def gate_lines(
    contrasts: Iterable[ContrastResult], *, head: str, again: str
) -> tuple[GateLine, ...]:
    """One line for each workload, in their order; ``head``, ``again``: the levels of the sides."""
    judged = {
        (contrast.workload, contrast.new): contrast
        for contrast in contrasts
        if contrast.metric.judged
    }
    return tuple(
        _line(contrast, judged[workload, again])
        for (workload, new), contrast in judged.items()
        if new == head
    )


def gate_outcome(lines: Sequence[GateLine]) -> GateOutcome:
    """The answer over all workloads: a regression of any, else that any cannot be told."""
    outcomes = {line.outcome for line in lines}
    worst_first = (GateOutcome.REGRESSION, GateOutcome.CANNOT_TELL)
    return next((outcome for outcome in worst_first if outcome in outcomes), GateOutcome.NONE)


def decide_gate(head: Verdict, control: Verdict) -> GateReason | GateOutcome:
    """The outcome of one verdict on the head beside that on the base against itself, or why there
    is none.

    - The base is slower or faster than itself: nothing that is found here can be believed.
    - The base differs from itself by less than δ: a slowdown counts only where its whole interval
      lies beyond δ. What else is slower may be the same bias.
    - Else the head's own verdict decides. Slower is a regression; undecided is no answer.
    """
    if control.kind in (*BY_SIGN, VerdictKind.MIXED):
        return GateReason.EQUAL_SIDES_DIFFER
    if head.kind is VerdictKind.SLOWER:
        biased = control.kind is VerdictKind.DIFFERENT_BUT_SMALL
        believed = head.at_least_delta or not biased
        return GateOutcome.REGRESSION if believed else GateReason.EQUAL_SIDES_DIFFER
    if head.kind in (VerdictKind.INCONCLUSIVE, VerdictKind.MIXED):
        return GateReason.UNDECIDED
    return GateOutcome.NONE


def _line(head: ContrastResult, control: ContrastResult) -> GateLine:
    asked = tuple(_verdicts(head, control))
    answers = [verdicts.answer for verdicts in asked]
    reason = next((answer for answer in answers if isinstance(answer, GateReason)), None)
    outcome = GateOutcome.CANNOT_TELL if reason else GateOutcome.NONE
    if GateOutcome.REGRESSION in answers:
        outcome, reason = GateOutcome.REGRESSION, None
    decisive = (verdicts for verdicts in asked if verdicts.answer is (reason or outcome))
    return GateLine(head, control, outcome, reason, tuple(decisive))


def _verdicts(head: ContrastResult, control: ContrastResult) -> Iterator[GateVerdicts]:
    """The verdicts that decide: over all levels, or at each where a mean of the head says nothing,
    or where the base against itself has none: a level at which it differs would be overlooked."""
    overall = head.overall
    without_mean = NOT_AVERAGED in (overall.reason, control.overall.reason)
    if overall.kind is not VerdictKind.MIXED and not without_mean:
        yield GateVerdicts(overall, control.overall)
        return
    beside = {level.context: level.verdict for level in control.levels}
    for level in head.levels:
        yield GateVerdicts(level.verdict, beside[level.context], level.context)
