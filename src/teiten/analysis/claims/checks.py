"""A question to a check: the mean with its interval, and whether it lies between its bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from teiten.analysis.model.claims import (
    BUILD,
    NO_MARGIN,
    Check,
    Claim,
    ClaimQuestion,
    ClaimStanding,
)
from teiten.analysis.model.predicate import Ground
from teiten.analysis.verdict.carry_over import CarryOverBias, bias_of, stands_despite
from teiten.analysis.verdict.changes import deciding_half_width_of, half_width_of
from teiten.analysis.verdict.contrasts import sides_of
from teiten.analysis.verdict.verdict import (
    LEFT_BEHIND,
    NO_VARIANCE,
    HalfWidth,
    Rule,
    exp,
    mean_and_deviation,
    student_half_width,
)
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.model.metrics import Better
from teiten.model.plan import Plan
from teiten.model.study import SERVER
from teiten.model.units import Share

NARROW = math.log(1.25)
"""Bounds nearer to each other ask for a small difference, as a ratio: one that is smaller than δ is
none against it."""
Estimate = tuple[float, float, float]
"""Mean and interval, as logarithms."""
Estimator = Callable[[Sequence[float], float], Estimate | None]


def estimated(
    values: Sequence[float], alpha: float, width: HalfWidth = student_half_width
) -> Estimate | None:
    """The mean with its interval, Student's unless another width is given; None of fewer than two
    values, of equal ones, or with a NaN."""
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return None
    mean, deviation = mean_and_deviation(values)
    if deviation < NO_VARIANCE:
        return None
    half = width(deviation, len(values), alpha)
    return mean, mean - half, mean + half


def counted(estimator: Estimator) -> Estimator:
    """Adapt an estimator to what is counted, not timed: without any scatter it is known exactly."""

    def estimate(values: Sequence[float], alpha: float) -> Estimate | None:
        finite = len(values) > 1 and all(map(math.isfinite, values))
        if finite and max(values) - min(values) < NO_VARIANCE:
            return values[0], values[0], values[0]
        return estimator(values, alpha)

    return estimate


def exact(values: Sequence[float], _alpha: float) -> Estimate | None:
    """A published number as it is: it was printed without an interval; None of a NaN."""
    finite = bool(values) and math.isfinite(values[0])
    return (values[0], values[0], values[0]) if finite else None


def lack_of(*samples: Sequence[float]) -> str:
    """The code of the reason why samples of logarithms have no interval, the same for every kind of
    check: too few blocks, a value without a logarithm, or no scatter."""
    if min(map(len, samples)) < 2:
        return "too-few"
    if not all(math.isfinite(value) for sample in samples for value in sample):
        return "not-positive"
    return "identical"


def checks_of(claim: Claim, ground: Ground) -> tuple[Check, ...]:
    """Every check of a claim on a campaign, each question by the interval of its design.

    Raises UnmetError where the campaign lacks what the predicate asks."""
    asked = tuple(
        question
        if isinstance(question, Check)
        else replace(question, values=ground.evidence.alone(question.values))
        for question in claim.predicate.questions(claim, ground)
    )
    return _answered(asked, partial(_judged, claim, ground, among=len(asked)))


def _judged(claim: Claim, ground: Ground, question: ClaimQuestion, *, among: int) -> Check:
    """Check a question by the interval of the campaign's design, at the comparison's own α where it
    has a verdict, and then no sooner. Nothing can be said where the two sides leave so much behind
    for each other that it could change that verdict, or the outcome; what is counted does not
    depend on how long a transaction takes."""
    plan, measure = ground.plan, ground.plan.study.measure
    own, width = measure.alpha, half_width_of(measure)
    bias: CarryOverBias | None = None
    is_counted = claim.predicate.is_counted(claim)
    if _has_verdict(claim, plan, question):
        own = comparison_alpha(plan, claim.workload, question.averaged)
        width = deciding_half_width_of(measure, question.averaged)
        every = ground.evidence.observations
        mine = [observation for observation in every if observation.workload == claim.workload]
        bias = None if is_counted else bias_of(plan, claim.workload, mine, question.sides)
    estimator: Estimator = partial(estimated, width=width)
    if is_counted:
        estimator = counted(estimator)
    judge = partial(check_of, question, measure.alpha, among=among, own=own, delta=measure.delta)
    check = judge(estimator)
    if bias is None or check.effect is None:
        return check
    longer = judge(partial(_longer, estimator, bias.most))
    has_verdict = stands_despite(check.effect, bias, Rule(measure.delta, own, Better.HIGHER))
    if has_verdict and longer.standing is check.standing:
        return check
    nothing = replace(check, ratio=None, low=None, high=None, confidence=None, lack=LEFT_BEHIND)
    return replace(nothing, standing=ClaimStanding.INCONCLUSIVE)


def _longer(
    estimator: Estimator, most: float, values: Sequence[float], alpha: float
) -> Estimate | None:
    """An estimate whose interval is longer by so much at both ends."""
    estimate = estimator(values, alpha)
    return estimate and (estimate[0], estimate[1] - most, estimate[2] + most)


def _has_verdict(claim: Claim, plan: Plan, question: ClaimQuestion) -> bool:
    """Whether a question is about two of the sides that the campaign contrasts."""
    contrasted = set(question.sides) <= set(sides_of(plan, claim.workload))
    return question.kind.of_sides and contrasted and _is_contrasted(claim, plan)


def _is_contrasted(claim: Claim, plan: Plan) -> bool:
    """Whether a claim is about the contrasted factor alone; one that names no sides may be."""
    named = claim.contrast
    if named is None:
        return True
    of_server = plan.study.contrast == SERVER and named.factor == BUILD
    return (of_server or named.factor == plan.study.contrast) and named.old_at == named.new_at


def checks_in_print(claim: Claim) -> tuple[Check, ...]:
    """List the checks of a claim on the published table; none where it lacks what is asked."""
    asked = tuple(claim.predicate.printed_questions(claim))
    return _answered(asked, partial(check_of, alpha=1.0, estimator=exact))


def _answered(
    asked: Sequence[ClaimQuestion | Check], judge: Callable[[ClaimQuestion], Check]
) -> tuple[Check, ...]:
    return tuple(question if isinstance(question, Check) else judge(question) for question in asked)


def check_of(
    question: ClaimQuestion,
    alpha: float,
    estimator: Estimator,
    *,
    among: int = 1,
    own: float | None = None,
    delta: Share = NO_MARGIN,
) -> Check:
    """``among``: the checks of its claim. A claim needs all of them to be reproduced, so that none
    needs less than α for its part; one is enough to contradict it, so that each may do so at α over
    their number alone. ``own``: the α that its comparison has in the campaign, where that is less;
    its interval is at that one. ``delta``: the smallest difference of two sides that matters."""
    own = alpha if own is None else min(own, alpha)
    values = tuple(question.values.values())
    estimate = estimator(values, own)
    strict = estimator(values, min(own, alpha / among))
    mean, low, high = estimate or (None, None, None)
    margin = delta if question.kind.of_sides and not _is_narrow(question) else NO_MARGIN
    standing = standing_between(estimate, strict, question.low, question.high, margin)
    contradicts = standing is ClaimStanding.CONTRADICTED
    return Check(
        kind=question.kind,
        sides=question.sides,
        at=question.at,
        ratio=None if mean is None else exp(mean),
        low=None if low is None else exp(low),
        high=None if high is None else exp(high),
        least=None if math.isinf(question.low) else math.exp(question.low),
        most=None if math.isinf(question.high) else math.exp(question.high),
        pairs=len(values),
        standing=standing,
        classes=question.classes,
        server=question.server,
        metric=question.metric,
        confidence=None if estimate is None else Share(1 - own),
        lack=lack_of(values) if estimate is None else "",
        margin=margin,
        is_below_margin=contradicts and not _outside(strict, question.low, question.high),
    )


def _is_narrow(question: ClaimQuestion) -> bool:
    """Whether a finding is about a small difference: "only a little faster"."""
    return question.high - question.low < NARROW


def _outside(estimate: Estimate | None, low: float, high: float) -> bool:
    return estimate is not None and (estimate[2] < low or estimate[1] > high)


def standing_between(
    estimate: Estimate | None,
    strict: Estimate | None,
    low: float,
    high: float,
    margin: Share = NO_MARGIN,
) -> ClaimStanding:
    """Reproduced by an interval wholly between the bounds, contradicted by a strict one wholly
    outside.

    A bound of 0 says which of two sides is ahead: with a ``margin``, a share, a strict interval
    that has no difference as large contradicts it, and an exact 0 keeps no such bound.
    """
    (lowest, below), (highest, above) = (low, low), (high, high)
    if margin:
        if low == 0:
            lowest, below = math.ulp(0.0), math.log1p(margin)
        if high == 0:
            highest, above = -math.ulp(0.0), -math.log1p(margin)
    if estimate is not None and lowest <= estimate[1] and estimate[2] <= highest:
        return ClaimStanding.REPRODUCED
    if _outside(strict, below, above):
        return ClaimStanding.CONTRADICTED
    return ClaimStanding.INCONCLUSIVE
