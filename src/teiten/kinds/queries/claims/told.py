"""How checks of queries are told."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.analysis.model.claims import ClaimStanding, ClaimWords
from teiten.kinds.queries.claims.measures import plan_measure


def listed(words: ClaimWords, queries: Sequence[str]) -> str:
    """One query by its name, several as their mean."""
    text = words("list.separator").join(queries)
    return text if len(queries) == 1 else words("claim.mean-of", queries=text)


def of_metric(words: ClaimWords, metric: str, what: str) -> str:
    """With the words for a number that is taken from plans; else as it is."""
    found = plan_measure(metric)
    return what if found is None else words(f"claim.{found[0].value}", of=found[1], what=what)


def all_or_none(agree: Sequence[bool]) -> ClaimStanding:
    """Plans that differ among repetitions decide nothing."""
    if all(agree):
        return ClaimStanding.REPRODUCED
    return ClaimStanding.INCONCLUSIVE if any(agree) else ClaimStanding.CONTRADICTED
