"""Whether call stacks can be sampled here. Facts first; the decision is pure."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from teiten.host.facts.readings import read_int
from teiten.host.system.users import is_root
from teiten.model.facts import Caution, HostFacts

PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
MOST_PARANOID = 2
"""perf_event_paranoid above which a plain user may not sample even programs of their own
(the kernel's Documentation/admin-guide/sysctl/kernel.rst; 3 and 4 are of Debian and Ubuntu)."""
KERNEL_TOO = 1
"""Up to which a plain user may sample the kernel too."""


@dataclass(frozen=True)
class ProfilingFacts:
    """Facts that decide whether perf may sample."""

    system: str
    """linux, darwin, win32."""
    perf: str | None
    paranoid: int | None
    is_root: bool


def read_profiling_facts() -> ProfilingFacts:
    return ProfilingFacts(
        system=sys.platform,
        perf=shutil.which("perf"),
        paranoid=read_int(PARANOID),
        is_root=is_root(),
    )


def of_host(facts: HostFacts) -> ProfilingFacts:
    return ProfilingFacts(
        facts.system.lower(), facts.perf, facts.perf_event_paranoid, facts.is_root
    )


def profiling_caution(facts: ProfilingFacts) -> Caution | None:
    """Why there will be no flame graph (a warning), or only half of one (a note)."""
    if facts.system != "linux":
        return Caution.warning("profile-system", system=facts.system)
    if facts.perf is None:
        return Caution.warning("profile-no-perf")
    if kernel_allowed(facts):
        return None
    if facts.paranoid is not None and facts.paranoid > MOST_PARANOID:
        return Caution.warning("profile-forbidden", paranoid=facts.paranoid)
    return Caution.note("profile-user-only")


def kernel_allowed(facts: ProfilingFacts) -> bool:
    """Samples inside the kernel are allowed."""
    return facts.is_root or facts.paranoid is None or facts.paranoid <= KERNEL_TOO
