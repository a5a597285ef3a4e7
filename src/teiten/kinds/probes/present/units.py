"""Times, sizes and shares of probes as people read them: one unit for all of a table or chart.

The note on the memory beside every result: how much, and how it is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from teiten.analysis.model.verdict import Estimate
from teiten.kinds.probes.results import MemoryKnown, ProbeResult, ProbeSide, probes_found
from teiten.report.effects import confidence_percent
from teiten.report.numbers import (
    NOTHING,
    bytes_text,
    decimals_for,
    decimals_of,
    fixed,
    measured,
    significant,
)
from teiten.report.tables import TableCell, number_cell
from teiten.report.texts import Texts
from teiten.report.view.kit import Kit

IN_MILLISECONDS = 10e-3
"""From this greatest time on."""


@dataclass(frozen=True)
class ProbeTimeUnit:
    name: str
    factor: float
    """The number of these units in a second."""

    def text(self, seconds: float) -> str:
        """Three significant digits."""
        return significant(seconds * self.factor)

    def estimate(self, estimate: Estimate | None) -> str:
        """With the digits that its interval allows."""
        return NOTHING if estimate is None else estimate_text(estimate.scaled(self.factor))

    def cell(self, seconds: float | None) -> TableCell:
        return number_cell(seconds, self.text)

    def estimate_cell(self, estimate: Estimate | None) -> TableCell:
        return TableCell(self.estimate(estimate), None if estimate is None else estimate.mean)

    def interval(self, t: Texts, estimate: Estimate) -> str:
        """``12.1 to 12.9``"""
        return interval(t, estimate.scaled(self.factor))

    def interval_cell(self, t: Texts, estimate: Estimate) -> TableCell:
        return TableCell(self.interval(t, estimate), estimate.low)

    def with_name(self, text: str) -> str:
        return f"{text} {self.name}"


MICROSECONDS = ProbeTimeUnit("µs", 1e6)
MILLISECONDS = ProbeTimeUnit("ms", 1e3)


def unit_for(seconds: Iterable[float]) -> ProbeTimeUnit:
    greatest = max((second for second in seconds if math.isfinite(second)), default=0.0)
    return MILLISECONDS if greatest >= IN_MILLISECONDS else MICROSECONDS


def estimate_text(estimate: Estimate) -> str:
    """With the digits that its interval allows."""
    return measured(estimate.mean, estimate.half_width)


def interval(t: Texts, estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return NOTHING
    decimals = decimals_for(estimate.half_width)
    low, high = (fixed(end, decimals) for end in (estimate.low, estimate.high))
    return t("interval.plain", low=low, high=high)


def shared_level(kit: Kit) -> dict[str, str | int]:
    """The ``count`` of comparisons of probes that share α, and the ``confidence`` of each."""
    count = probes_found(kit.analysis).comparisons
    confidence = confidence_percent(kit.t, 1 - kit.study.measure.alpha / count)
    return {"confidence": confidence, "count": count}


def percent(share: float) -> str:
    """A share that was counted, without its sign: a column says it."""
    return fixed(100 * share, 1)


def percent_cell(share: float | None) -> TableCell:
    return number_cell(share, percent)


def said_percent(t: Texts, share: float) -> str:
    """Format for a sentence: ``0 %``, ``0.04 %``, ``48 %``, ``99.6 %``, ``99.96 %``: never all or
    nothing that is not."""
    value = 100 * share
    whole = value in (0, 100) or 10 <= value < 99
    decimals = 0 if whole else max(1, decimals_of(min(value, 100 - value), 1))
    return t("unit.percent", value=fixed(value, decimals))


def side_cell(kit: Kit, side: ProbeSide) -> TableCell:
    return TableCell(kit.short(side.side), float(side.shared_buffers))


def clients_steps(kit: Kit, result: ProbeResult) -> dict[tuple[str, str], str]:
    """Name each step and part that several clients ran; an empty name where there is one alone."""
    places = dict.fromkeys((load.step, load.part) for side in result.sides for load in side.clients)
    separator = kit.t("list.separator")
    return {
        place: separator.join(filter(None, place)) if len(places) > 1 else "" for place in places
    }


def size_cell(size: float) -> TableCell:
    return TableCell(bytes_text(size).replace(" ", "\u00a0"), float(size))


def memory_text(kit: Kit) -> str:
    """``Memory: 2 GiB …, by a control group (checked: of 2.25 GiB read, 1.96 GiB stayed).``"""
    memories = probes_found(kit.analysis).memories
    if not memories:
        return ""
    return kit.t(
        "probe.memory", listed=kit.t("list.strong").join(_said(kit, memory) for memory in memories)
    )


def _said(kit: Kit, known: MemoryKnown) -> str:
    is_checked = known.read is not None and known.stayed is not None
    how = "machine" if not known.limited else "checked" if is_checked else "limited"
    sizes = {"memory": known.memory, "read": known.read, "stayed": known.stayed}
    texts = {name: bytes_text(size) for name, size in sizes.items()}
    return kit.t(f"probe.memory-{how}", **texts)
