"""How the length of trials was chosen, in words, for ``teiten ab``."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.analysis.model.replication import NoiseSource, Replication


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
    expected = "" if chosen.pairs is None else f"; a difference of δ takes about {chosen.pairs}"
    yield (
        f"so a trial measures {chosen.duration:g} s{cut}, and servers are restarted after {starts}"
        + expected
        + (" pairs" if expected else "")
    )


def _percent(share: float) -> str:
    return f"{share * 100:.2g} %"
