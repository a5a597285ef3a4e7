"""A number itself, not a ratio of two, lies within bounds: a metric, or the share of waiting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords
from teiten.analysis.model.findings import SeriesView, TrialView
from teiten.analysis.model.node_series import WAITS, find_series
from teiten.analysis.model.predicate import Aliases, Key, Reader
from teiten.claims.curves import ClaimCurve
from teiten.claims.forms import FORM, RatioBounds, Word
from teiten.claims.of_curves import CurveGround, OfCurves
from teiten.model.plan import Plan
from teiten.model.trial import Event

Floor = Annotated[float, Field(gt=0, strict=True)]


def _said(check: Check, words: ClaimWords) -> str:
    side = words.side(check.sides[0])
    return words.plural("claim.amount", round(check.at[0]), side=side)


AMOUNT = CheckKind("amount", _said)
"""The number at a level."""


LEAST_SHARE = 0.001
"""A smaller share counts as this: in ten looks a second at a few backends it is less than one."""


@dataclass(frozen=True, config=FORM, kw_only=True)
class AmountOfMetric(RatioBounds, OfCurves):
    """A number lies within bounds in its own unit, at every level of clients. What is less than
    ``floor`` counts as that: logarithms know no zero."""

    floor: Floor
    event: Word | None = None
    """The number is the share of the active backends' samples whose wait event holds this word
    (``wal``); None for the claim's metric."""
    kind: Literal["amount"] = "amount"
    counts: ClassVar[bool] = True
    aliases: ClassVar[Aliases] = {"wait-share": {"floor": LEAST_SHARE}}

    def metric_of(self, claim: Claim) -> str:
        return f"wait_share:{self.event}" if self.event else claim.metric

    def reader(self) -> Reader | None:
        return wait_shares if self.event else None

    def asked(
        self,
        curves: Sequence[ClaimCurve],
        machine: CurveGround,  # noqa: ARG002
    ) -> Iterator[ClaimQuestion]:
        for curve in curves:
            for level in curve.levels:
                values = curve.points[level]
                yield ClaimQuestion(
                    AMOUNT,
                    (curve.side,),
                    (level,),
                    {block: math.log(max(value, self.floor)) for block, value in values.items()},
                    *self.log_bounds,
                )


def wait_shares(
    claims: Sequence[Claim], _plan: Plan, views: Iterable[TrialView], _events: Iterable[Event]
) -> Mapping[Key, Mapping[str, float]]:
    """The shares of the events of claims, of each trial whose waits were sampled."""
    events = {
        claim.predicate.metric_of(claim): claim.predicate.event
        for claim in claims
        if isinstance(claim.predicate, AmountOfMetric) and claim.predicate.event
    }
    return {
        (view.number, view.attempt): {
            name: share_of(find_series(view, WAITS), word) for name, word in events.items()
        }
        for view in views
    }


def share_of(series: SeriesView | None, word: str) -> float:
    """Compute the share of the time of active backends that goes to wait events with ``word`` in
    their names; NaN without samples."""
    if series is None:
        return math.nan
    means = {
        name: float(np.nanmean(values))
        for name, values in series.columns.items()
        if np.isfinite(values).any()
    }
    total = math.fsum(means.values())
    matching = math.fsum(value for name, value in means.items() if word.lower() in name.lower())
    return matching / total if total > 0 else math.nan
