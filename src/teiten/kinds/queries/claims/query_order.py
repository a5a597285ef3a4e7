"""Which classes of queries gain more than others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, ClaimQuestion, ClaimWords
from teiten.claims.forms import FORM
from teiten.kinds.queries.claims.bounded import asked_queries, changes, means_of
from teiten.kinds.queries.claims.predicate import OfSides
from teiten.kinds.queries.claims.sides import ClaimSides
from teiten.kinds.queries.claims.told import listed
from teiten.study.tables import Words


def _said(check: Check, words: ClaimWords) -> str:
    first, second = (listed(words, one) for one in check.classes)
    return words("claim.order", first=first, second=second)


ORDER = CheckKind("order", _said)
"""The ratio of new and old of the second class of queries, and that of the first."""
Class = Annotated[Words, Field(min_length=1)]


@dataclass(frozen=True, config=FORM)
class QueryOrder(OfSides):
    """The ratio new/old rises from each class of queries to the next, as their geometric means."""

    classes: Annotated[tuple[Class, ...], Field(strict=False, min_length=2)]
    kind: Literal["query-order"] = "query-order"
    compares: ClassVar[bool] = True

    def asked(self, found: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        old, new = found.sides
        ratios = changes(old, new)
        means = {one: means_of(ratios, asked_queries(one, found.queries)) for one in self.classes}
        for first, second in itertools.pairwise(self.classes):
            lower, higher = means[first], means[second]
            blocks = sorted(lower.keys() & higher.keys())
            yield ClaimQuestion(
                ORDER,
                (old.side, new.side),
                (),
                tuple(higher[block] - lower[block] for block in blocks),
                0.0,
                math.inf,
                classes=(first, second),
                server=found.server,
            )
