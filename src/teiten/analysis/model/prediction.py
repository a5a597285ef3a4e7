"""Findings of a collection foretold for a second machine, before it is measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from teiten.analysis.model.claims import ClaimStanding
from teiten.model.units import Bytes


@dataclass(frozen=True)
class SecondMachine:
    """The facts of a machine on which outcomes depend."""

    cores: int
    """Processors that Teiten may use there."""
    memory: Bytes


class Basis(StrEnum):
    """Why an outcome is foretold, or none is."""

    CLEAR = "clear"
    """It is the same with intervals twice as wide."""
    NEEDS_CORES = "needs-cores"
    """The finding asks for more processors than there are."""
    NOT_JUDGED = "not-judged"
    """Nothing judged it here."""
    UNDECIDED = "undecided"
    PROCESSORS = "processors"
    """It is about several clients or processors, and the machines have not as many."""
    MEMORY = "memory"
    """Its campaign needs more memory than there is."""
    NEAR = "near"
    """Intervals twice as wide do not decide it."""


@dataclass(frozen=True)
class ForetoldFinding:
    id: str
    study: str
    outcome: ClaimStanding | None
    """None where nothing is foretold."""
    basis: Basis


@dataclass(frozen=True)
class Prediction:
    """The outcomes that a collection foretells."""

    collection: str
    """The name of the one that it was made from."""
    digest: str
    """SHA-256 of that one's findings.json, as it stood."""
    made_at: float
    """Seconds since the epoch."""
    machine: SecondMachine
    findings: tuple[ForetoldFinding, ...]


@dataclass(frozen=True)
class CheckedPrediction:
    """Decided outcomes that were foretold, by what the second machine says of them."""

    right: tuple[str, ...]
    """Findings with the outcome that was foretold."""
    undecided: tuple[str, ...]
    """Inconclusive there, which is not the outcome that was foretold."""
    opposite: tuple[str, ...]
    not_judged: tuple[str, ...]
    """Neither right nor wrong: no campaign has judged them there."""

    @property
    def judged(self) -> int:
        return len(self.right) + len(self.undecided) + len(self.opposite)
