"""The predicate about probes: how a probe's time grows with the clients that run its statement.

Others are about levels of any factor (``teiten.claims.predicates.levels``); these are named
``first``, ``middle`` and ``last``, as the sizes of a campaign are the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import CheckKind, Claim, ClaimQuestion
from teiten.analysis.model.evidence import Blocks, EvidenceTable, differences, log_changes
from teiten.analysis.model.predicate import Ground, Predicate, UnmetError
from teiten.claims.curves import beyond_reach
from teiten.claims.forms import FORM, Ratio, RatioBounds, Span, Word, worded
from teiten.claims.predicates.levels import OfLevels
from teiten.claims.sides import ClaimSide
from teiten.kinds.probes.metrics import CLIENTS_TIME
from teiten.study.tables import Words

Times = Mapping[int, Blocks]
"""By number of clients, in rising order."""


_CLIENTS = ("few", "many")
GROWTH = CheckKind(
    "probe-growth", worded("claim.probe-growth", of="probe", sides=("old", "new"), at=_CLIENTS)
)
"""By how much the time grows from few clients to many: at the new level by that at the old."""


RISE = CheckKind("probe-rise", worded("claim.probe-rise", of="probe", sides=("side",), at=_CLIENTS))
"""The time with many clients by that with few, at one level."""


@dataclass(frozen=True, config=FORM, kw_only=True)
class ProbeGrowth(RatioBounds, OfLevels):
    """How much longer a probe takes with more clients lies within bounds, at every number of them:
    at each of some levels of a factor; or that at the new level of the claim's contrast by that at
    the old one, and how long it takes at each is not asked."""

    of: Word
    factor: str = ""
    levels: Words = ()
    """Levels of the factor; empty for the claim's contrast."""
    beyond: Ratio | None = None
    """Growth is from the most clients within this multiple of the processors to those beyond; None
    for that from the fewest."""
    kind: Literal["probe-growth"] = "probe-growth"

    @property
    def compares(self) -> bool:
        return not self.levels

    def quantities(self, claim: Claim) -> tuple[str]:
        return (CLIENTS_TIME,)

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        kind = GROWTH if self.compares else RISE
        for place in self.places(claim, ground.evidence, self.factor, self.levels):
            for sides in [place.sides] if self.compares else [(side,) for side in place.sides]:
                labels = tuple(side.label for side in sides)
                times = [_times(side, ground.evidence) for side in sides]
                few, further = self._numbers(times, ground.cores)
                for many in further:
                    values = _growth_of([log_changes(side[few], side[many]) for side in times])
                    compared = (kind, labels, (few, many))
                    yield self.question(claim, place, compared, values, self.log_bounds)

    def _numbers(self, times: Sequence[Times], cores: int) -> tuple[int, list[int]]:
        """The number of clients from which times grow, and those to which. Raises UnmetError."""
        numbers = sorted(set.intersection(*(set(side) for side in times)))
        most = min(numbers, default=0) if self.beyond is None else self.beyond * cores
        within = [number for number in numbers if number <= most]
        further = numbers[len(within) :]
        if within and further:
            return within[-1], further
        if self.beyond is None:
            raise UnmetError("probe-clients", probe=self.of)
        raise beyond_reach(Span(least=self.beyond))


def _growth_of(changes: Sequence[Blocks]) -> Blocks:
    """The growth on one side; of two, that on the new by that on the old, of blocks of both."""
    return changes[0] if len(changes) == 1 else differences(*changes)


def _times(side: ClaimSide, evidence: EvidenceTable) -> Times:
    counts = sorted(map(int, evidence.parts(side.workload, side.at, CLIENTS_TIME)))
    return {clients: side.blocks(evidence, f"{CLIENTS_TIME}:{clients}") for clients in counts}


PREDICATES: tuple[type[Predicate], ...] = (ProbeGrowth,)
