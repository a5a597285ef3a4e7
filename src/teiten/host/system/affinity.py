"""On which processors processes may run. Linux alone pins; elsewhere nothing is known or done."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from teiten.errors import ServerError
from teiten.host.facts.readings import parse_id_list, read_field


def affinity(pid: int) -> frozenset[int] | None:
    """The processors of a process's mask, the cpuset of its cgroup applied; 0 is this thread.

    None where the system has no such mask (macOS). Raises ProcessLookupError for no process.
    """
    if sys.platform != "linux":
        return None
    return frozenset(os.sched_getaffinity(pid))


def pin_self(cpus: Collection[int]) -> None:
    """Keep this thread, and what it starts, on these processors.

    Raises OSError where the kernel refuses: none of them is online, or the cpuset holds none.
    """
    if sys.platform != "linux":
        raise OSError("this system cannot pin a program to processors")
    os.sched_setaffinity(0, cpus)


def pinned_to(pid: int, root: Path = Path("/")) -> tuple[int, ...]:
    """Read /proc/PID/status of a process; empty where it cannot be read."""
    return parse_id_list(read_field(root / f"proc/{pid}/status", "Cpus_allowed_list") or "")


@contextmanager
def kept_off(cpus: Collection[int]) -> Iterator[None]:
    """Keep this thread, and threads that it starts meanwhile, off these processors.

    Nothing happens where that would leave none, or the system pins nothing.
    """
    before = affinity(0) if cpus else None
    rest = (before or frozenset()) - set(cpus)
    if before is None or not rest:
        yield
        return
    pin_self(rest)
    try:
        yield
    finally:
        pin_self(before)


def confirm_pinned(what: str, pid: int | None, cpus: Sequence[int]) -> list[int]:
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
