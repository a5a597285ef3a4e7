"""A noise floor in words, for ``teiten null`` and ``teiten plan``.

How the length of trials was chosen, in words, for ``teiten ab``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from teiten.analysis.model.replication import NoiseSource, Replication
from teiten.analysis.verdict.sequential import pairs_for
from teiten.model.noise import NoiseFloor
from teiten.model.quantities import rough_duration
from teiten.ways.registry import rules

EFFECTS = (0.01, 0.02, 0.05)
"""For which the pairs are told that they need."""


def noise_lines(floor: NoiseFloor) -> Iterator[str]:
    """A noise floor in words."""
    lag = "" if floor.lag_one is None else f", lag-1 correlation {floor.lag_one:+.2f}"
    clients = f"{floor.clients} client{'s' * (floor.clients != 1)}"
    pairs = "starts in paired transactions" if rules()[floor.way].concurrent else "pairs"
    yield (
        f"{floor.workload}, {clients}: {pairs} of equal sides deviate by"
        f" {_percent(floor.deviation)} ({_percent(floor.robust_deviation)} without the few that"
        f" are far off){lag}, {floor.pairs} pairs"
    )
    yield (
        f"  false alarms: of sequential comparisons resampled from these pairs"
        f" {_percent(floor.false_alarms)} call a difference; at most {_percent(floor.alpha)} is"
        " promised (a rough estimate)"
    )
    if floor.bias is not None:
        estimate = (
            f"{_signed(floor.bias.mean)} ({_signed(floor.bias.low)} to {_signed(floor.bias.high)})"
        )
        how = "one side is favoured" if floor.bias.certain else "no side is known to be favoured"
        yield (
            f"  bias: B against A {estimate}, {how}; up to {_percent(floor.bias.bound)} of a"
            " difference found here may be what stays for all pairs (the place of the files, the"
            " start order)"
        )
    yield f"  {needed_text(floor)}"
    if floor.between is not None and floor.within is not None:
        best = "the longer the better"
        if floor.best_duration is not None:
            best = f"a trial longer than {rough_duration(floor.best_duration)} does not pay"
        yield (
            f"  from trial to trial {_percent(floor.between)}, from second to second"
            f" {_percent(floor.within)}: {best}"
        )


def needed_text(floor: NoiseFloor) -> str:
    """How many pairs effects need here."""
    parts = []
    for effect in EFFECTS:
        pairs = pairs_for(effect, floor.deviation, floor.alpha)
        if pairs is None:
            parts.append(f"{effect:.0%}: no number of pairs")
        else:
            time = rough_duration(pairs * floor.seconds_of_a_pair)
            parts.append(f"{effect:.0%}: {pairs} pairs ({time} of measuring)")
    return "a difference is found with about " + ", ".join(parts)


def _signed(logarithm: float) -> str:
    return f"{math.expm1(logarithm) * 100:+.2g} %"


def _percent(share: float) -> str:
    return f"{share * 100:.2g} %"


def replication_lines(chosen: Replication) -> Iterator[str]:
    """Describe the noise that was seen, and the length of trials that follows from it."""
    source = f"the pilot ({chosen.starts} starts of both servers, {chosen.seen} slices after each)"
    if chosen.source is NoiseSource.NULL:
        source = f"the null campaign {chosen.campaign}"
    yield (
        f"{source}: trials differ by {_percent(chosen.between)} from start to start and by"
        f" {_percent(chosen.within)} from second to second"
    )
    cut = f" in {chosen.slices} slices, in turn" if chosen.slices > 1 else ""
    starts = "every pair" if chosen.restart_every == 1 else f"{chosen.restart_every} pairs"
    expected = chosen.pairs and f"; a difference of δ takes about {chosen.pairs} pairs"
    yield (
        f"so a trial measures {chosen.duration:g} s{cut}, and servers are restarted after {starts}"
        f"{expected or ''}"
    )
