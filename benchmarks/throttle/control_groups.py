"""Control groups of this benchmark's own, versions 1 and 2: less CPU, less I/O.

Source: Linux, Documentation/scheduler/sched-bwc.rst, …/admin-guide/cgroup-v2.rst.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from teiten.execute.sites.local.limit_files import TransferLimit, transfer_settings
from teiten.host.facts.disks import disk_numbers

ROOT = Path("/sys/fs/cgroup")
PERIOD = 100_000
"""µs over which the CPU's quota is counted."""


@dataclass(frozen=True)
class Limits:
    cores: float | None = None
    """CPU seconds per second."""
    io: tuple[tuple[str, int], ...] = ()
    """(kind, per second), as of ``TransferLimit``."""


@contextmanager
def control_groups(name: str, limits: Limits, folder: Path) -> Iterator[tuple[Path, ...]]:
    """The ``cgroup.procs`` files that a process must join; the groups go when it ends.

    ``folder``: on the disk to limit. Needs root. Raises OSError where the kernel refuses.
    """
    made: list[Path] = []
    try:
        made.extend(_make(controller, name) for controller in _controllers(limits))
        for file, text in _settings(limits, disk_numbers(folder)):
            for group in made:
                if (group / file).exists():
                    (group / file).write_text(text)
        yield tuple(group / "cgroup.procs" for group in made)
    finally:
        for group in reversed(made):
            group.rmdir()


def _controllers(limits: Limits) -> list[str]:
    wanted = [*(["cpu"] if limits.cores is not None else []), *(["io"] if limits.io else [])]
    if (ROOT / "cgroup.controllers").exists():
        return ["+".join(wanted)] if wanted else []
    return ["blkio" if controller == "io" else controller for controller in wanted]


def _make(controller: str, name: str) -> Path:
    if (ROOT / "cgroup.controllers").exists():
        switches = " ".join(f"+{part}" for part in controller.split("+"))
        (ROOT / "cgroup.subtree_control").write_text(switches)
        group = ROOT / name
    else:
        group = ROOT / controller / name
    if group.exists():
        group.rmdir()  # of a run that was killed; refused where a process is in it
    group.mkdir()
    return group


def _settings(limits: Limits, disks: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Files of either version, and what is written into them."""
    if limits.cores is not None:
        quota = round(limits.cores * PERIOD)
        yield "cpu.max", f"{quota} {PERIOD}"
        yield "cpu.cfs_quota_us", str(quota)
    if limits.io and not disks:
        raise OSError("the data are on no disk that can be limited")
    for version in (1, 2):
        yield from transfer_settings(version, [TransferLimit(disk, limits.io) for disk in disks])
