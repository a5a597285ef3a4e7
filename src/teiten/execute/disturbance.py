"""Whether others disturbed a trial: a rule on the machine's record, blind to the result.

What the hypervisor stole is a share of what was wanted, and not of all CPU time: a side that wants
more CPU loses more ticks to the same neighbour, would be found disturbed more often, and would keep
the quieter trials (METHOD.md, A trial).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from teiten.model.trial import Problem
from teiten.model.units import Share

SHARE = re.compile(r"(client_|node_\d+_|)cpu_(?:other|steal)_share")
"""How the names of a machine's metrics begin: the server's, the load generator's of its own, and
those of nodes on hosts of their own."""
LEAST_WANTED = 0.1
"""The least share of CPU time that is judged: of less, a tick of 10 ms would be a share."""


def problems(metrics: Mapping[str, float], limit: Share) -> tuple[Problem, ...]:
    """Where others used more than this share (METHOD.md, A trial, 7)."""
    return tuple(
        Problem(code, f"{share:.1%} > {limit:.1%}")
        for machine in _machines(metrics)
        for code, share in _shares(metrics, machine)
        if share > limit
    )


def _machines(metrics: Mapping[str, float]) -> list[str]:
    return sorted({found[1] for found in map(SHARE.fullmatch, metrics) if found is not None})


def _shares(metrics: Mapping[str, float], machine: str) -> Iterator[tuple[str, float]]:
    yield "steal", stolen(metrics, machine)
    yield "other-load", metrics.get(f"{machine}cpu_other_share", 0.0)


def stolen(metrics: Mapping[str, float], machine: str = "") -> float:
    """Find the share of wanted CPU time that the hypervisor took, 0 to 1; 0 where not known."""
    taken = metrics.get(f"{machine}cpu_steal_share", 0.0)
    used = (metrics.get(f"{machine}cpu_{way}_share", 0.0) for way in ("user", "system"))
    return taken / max(LEAST_WANTED, taken + sum(used)) if taken > 0 else 0.0
