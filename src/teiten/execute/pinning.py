"""The processors that a trial's processes are pinned to, read back from the kernel."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.errors import ServerError
from teiten.host.system.affinity import pinned_to


def confirm(what: str, pid: int | None, cpus: Sequence[int]) -> list[int]:
    """The processors of a process in /proc/PID/status, which must be those that were asked.

    Raises ServerError where they are others: the trial measured something else.
    """
    running = pinned_to(pid) if pid is not None else ()
    if sorted(running) != sorted(cpus):
        raise ServerError(
            f"{what} runs on the processors {_listed(running)}, not on {_listed(cpus)}, which it"
            " was pinned to",
            "see whether something on this machine moves processes (cpuset, systemd, numad)",
        )
    return sorted(running)


def _listed(cpus: Sequence[int]) -> str:
    return ", ".join(str(cpu) for cpu in sorted(cpus)) or "unknown"
