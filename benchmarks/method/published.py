"""Published findings, simulated with the printed table as the truth: how many are reproduced?

A finding whose bounds lie so close to what was printed that its own truth is not found again would
be a trap. Every check of a finding is drawn with the printed ratio as its mean, and judged as
Teiten judges it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from teiten.analysis.claims.checks import check_of, checks_in_print, estimated
from teiten.analysis.claims.outcomes import standing_of
from teiten.analysis.model.claims import Check, Claim, ClaimQuestion, ClaimStanding

DEVIATION = 0.01
"""Of a pair, as on a machine of one's own; of three sets of 300 s the median scatters as much."""
ALPHA = 0.05


def reproduced(
    claim: Claim, blocks: int, *, campaigns: int, seed: int, comparisons: int = 1
) -> float | None:
    """The share of campaigns that reproduce a finding; None of one without a printed table, or
    that the printed table itself does not keep.

    ``blocks``: of the study's profile ``published``. ``comparisons``: how many of two sides share α
    there; 1 for the bounds by themselves.
    """
    printed = checks_in_print(claim)
    if not printed or any(check.standing is not ClaimStanding.REPRODUCED for check in printed):
        return None
    random = np.random.default_rng(seed)
    standings = (_standing(printed, blocks, random, comparisons) for _ in range(campaigns))
    return sum(standing is ClaimStanding.REPRODUCED for standing in standings) / campaigns


def _standing(
    printed: Sequence[Check], blocks: int, random: np.random.Generator, comparisons: int
) -> ClaimStanding:
    checks = [_drawn(check, len(printed), blocks, random, comparisons) for check in printed]
    return standing_of(checks)[0]


def _drawn(
    printed: Check, among: int, blocks: int, random: np.random.Generator, comparisons: int
) -> Check:
    means = max(1, len(printed.at), sum(map(len, printed.classes)))
    noise = random.normal(0.0, DEVIATION / math.sqrt(means), blocks)
    values = math.log(printed.ratio or math.nan) + noise
    low = -math.inf if printed.least is None else math.log(printed.least)
    high = math.inf if printed.most is None else math.log(printed.most)
    question = ClaimQuestion(
        printed.kind, printed.sides, printed.at, dict(enumerate(values.tolist())), low, high
    )
    own = ALPHA * means / comparisons if printed.kind.of_sides else None
    check = check_of(question, ALPHA, estimated, among=among, own=own)
    return replace(check, classes=printed.classes)
