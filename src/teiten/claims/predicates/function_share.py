"""A function's share of the server's CPU time, new against old."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Claim, ClaimWords, Reason
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.predicate import Key, Reader
from teiten.analysis.stacks import share_of
from teiten.claims.forms import FORM, Bounds, Parts, Word
from teiten.claims.of_curves import ContrastOfCurves
from teiten.model.plan import Plan
from teiten.model.trial import Event


@dataclass(frozen=True, config=FORM)
class FunctionShare(ContrastOfCurves):
    """The ratio new/old of a function's share of the server's CPU time, with what it calls, lies
    within bounds. Needs flame graphs."""

    function: Word
    parts: Parts
    kind: Literal["function-share"] = "function-share"

    def metric_of(self, claim: Claim) -> str:  # noqa: ARG002
        return f"function_share:{self.function}"

    def bounds(self, delta: float) -> Sequence[Bounds]:  # noqa: ARG002
        return self.parts

    def reader(self) -> Reader:
        return shares

    def lacking(self, plan: Plan) -> Reason | None:
        return None if plan.study.measure.flame_graph else Reason("flame-graph")

    def needs(self, words: ClaimWords) -> Iterator[str]:
        yield words("claim.needs.flame-graph")


def shares(
    claims: Sequence[Claim], _plan: Plan, views: Iterable[TrialView], _events: Iterable[Event]
) -> Mapping[Key, Mapping[str, float]]:
    """The shares of the functions of claims, of each trial with sampled stacks."""
    wanted = {
        claim.predicate.metric_of(claim): claim.predicate.function
        for claim in claims
        if isinstance(claim.predicate, FunctionShare)
    }
    return {
        (view.number, view.attempt): {
            name: share_of(view.stack_samples, function) for name, function in wanted.items()
        }
        for view in views
        if view.stack_samples is not None
    }
