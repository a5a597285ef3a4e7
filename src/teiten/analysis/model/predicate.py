"""The predicate of a published finding: one class, found by its kind in a claims file.

Its fields are its form there; it asks a campaign, the published table, or two campaigns; and the
kinds of its checks say what they compare (``teiten.claims``, ``teiten.kinds.KIND.claims``).
"""

# ruff: noqa: ARG002 - a default needs nothing of what it is given

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from teiten.analysis.model.claims import Check, Claim, ClaimQuestion, ClaimWords, Reason
from teiten.model.plan import Plan

if TYPE_CHECKING:
    from teiten.analysis.model.comparison import Systems
    from teiten.analysis.model.evidence import EvidenceTable


@dataclass(frozen=True)
class Ground:
    """The campaign on which a claim is checked."""

    evidence: EvidenceTable
    cores: int

    @property
    def plan(self) -> Plan:
        return self.evidence.plan


class UnmetError(Exception):
    """A campaign, or a published table, does not have what a predicate asks."""

    def __init__(self, code: str, **values: str) -> None:
        super().__init__(code)
        self.reason = Reason(code, tuple(values.items()))


class Predicate(ABC):
    """The statement of a finding about results. Its fields are its form in a claims file."""

    @property
    def compares(self) -> bool:
        """Whether it compares two levels of a factor, which the claim names as its contrast."""
        return False

    @property
    @abstractmethod
    def kind(self) -> str:
        """Its name in a claims file."""

    counts: ClassVar[bool] = False
    """A number without any scatter is a result: it is counted, not timed."""

    def is_counted(self, claim: Claim) -> bool:
        """Whether the claim's numbers are."""
        return self.counts

    @abstractmethod
    def questions(self, claim: Claim, ground: Ground) -> Iterable[ClaimQuestion | Check]:
        """Ask a campaign the finding's questions; of what has no interval, such as plans, give the
        check itself.

        Raises UnmetError where the campaign lacks what that takes.
        """

    def printed_questions(self, claim: Claim) -> Iterable[ClaimQuestion | Check]:
        """Ask the published table the finding's questions; nothing where it lacks what is asked.

        Raises UnmetError as ``questions`` does.
        """
        return ()

    def between(self, claim: Claim, systems: Systems) -> tuple[Check, ...]:
        """Check the finding on two campaigns, one of each of two systems."""
        raise UnmetError("compared")

    def quantities(self, claim: Claim) -> Collection[str]:
        """The names of the numbers of trials that it looks at: of metrics, or of what a kind reads
        from a trial beside them; a quantity by its name alone stands for all its parts."""
        return (claim.metric,)

    @property
    def only_at(self) -> Mapping[str, Collection[str]]:
        """The levels, by factor, outside of which it looks at no trial."""
        return {}

    def require(self, plan: Plan) -> None:  # noqa: B027
        """Raise UnmetError where a campaign lacks what it takes beside the claim's own needs."""

    def needs(self, words: ClaimWords) -> Iterator[str]:
        """Say in words what a campaign must have beside the claim's own needs."""
        yield from ()

    def refuses(self, metric: str) -> str:
        """Why it cannot be about a metric; empty where it can."""
        return ""
