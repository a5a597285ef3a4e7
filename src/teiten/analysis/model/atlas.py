"""The speed of every workload on several versions, relative to the oldest: an atlas of upgrades."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.analysis.model.verdict import Interval, Verdict
from teiten.model.installation import Version
from teiten.model.metrics import Better, Metric
from teiten.model.text import Bilingual


@dataclass(frozen=True)
class AtlasPoint:
    """A workload on one version."""

    version: Version
    verdict: Verdict
    """The campaign's own, over all levels, against the line's first version."""


@dataclass(frozen=True)
class AtlasLine:
    """A workload through the versions of a campaign."""

    campaign: str
    """In the collection."""
    workload: str
    title: Bilingual
    metric: Metric
    first: Version
    """The version to which the others are relative."""
    points: tuple[AtlasPoint, ...]

    def speed(self, point: AtlasPoint) -> Interval | None:
        """The speed on a version by that on the first one; None where the verdict has no ratio."""
        effect = point.verdict.effect
        of_time = self.metric.better is Better.LOWER
        return effect.inverse if effect is not None and of_time else effect
