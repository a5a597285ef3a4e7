"""Numbers taken from the plans of trials, which findings speak of, and their words."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from teiten.analysis.model.claims import ClaimStanding, ClaimWords


class PlanMeasure(StrEnum):
    """A metric's name is ``MEASURE:OF``."""

    BLOCKS = "plan_blocks"
    """Blocks of a table, its partitions included, found in shared buffers or read."""
    SECONDS = "plan_seconds"
    """Exclusive seconds of all nodes of a type, in all processes."""
    SHARE = "plan_share"
    """Exclusive seconds of all nodes of a type, as a share of the plan's."""
    ALONE = "plan_alone"
    """The share that one process made of the scans of a table's partitions that read a row."""

    LEADER = "plan_leader"
    """The scans of a table's partitions that no worker had a part in, which the leader made one
    after another, as a share of the time of the slowest process of the Append above them."""

    @property
    def counted(self) -> bool:
        """Whether a number without any scatter is a result: it is counted, not timed."""
        return self in (PlanMeasure.BLOCKS, PlanMeasure.ALONE)


def plan_measure(metric: str) -> tuple[PlanMeasure, str] | None:
    """The measure and what it is of; None where the metric is not taken from a plan."""
    name, _, of = metric.partition(":")
    found = next((one for one in PlanMeasure if one.value == name), None)
    return None if found is None or not of else (found, of)


LAUNCHED = "workers_launched"
"""The name under which a trial's number of launched workers is observed."""
SERIAL = "plan_serial"
"""The name under which a plan that asks for no workers is observed, as 1; others have no value."""
PERMITTED = "workers_permitted"
"""The name under which the number of workers that a trial's parameters permit is observed."""


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
