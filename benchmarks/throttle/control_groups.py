"""Control groups of this benchmark's own, versions 1 and 2: less CPU, less I/O.

Sources: Linux, Documentation/admin-guide/cgroup-v1/blkio-controller.rst, …/cgroup-v2.rst.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PERIOD = 100_000
"""µs over which the CPU's quota is counted."""
KINDS = {"rbps": "read_bps", "wbps": "write_bps", "riops": "read_iops", "wiops": "write_iops"}
"""Version 2's name of an I/O limit, and version 1's."""


@dataclass(frozen=True)
class Limits:
    cores: float | None = None
    """CPU seconds per second."""
    io: tuple[tuple[str, int], ...] = ()
    """(kind, per second), kinds as in version 2: rbps, wbps, riops, wiops."""


@contextmanager
def control_groups(name: str, limits: Limits, folder: Path) -> Iterator[tuple[Path, ...]]:
    """The ``cgroup.procs`` files that a process must join; the groups go when it ends.

    ``folder``: on the disk to limit. Needs root. Raises OSError where the kernel refuses.
    """
    made: list[Path] = []
    try:
        made.extend(_make(controller, name) for controller in _controllers(limits))
        for group in made:
            _limit(group, limits, _device(folder))
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


def _limit(group: Path, limits: Limits, device: str) -> None:
    if limits.cores is not None:
        quota = round(limits.cores * PERIOD)
        if (group / "cpu.max").exists():
            (group / "cpu.max").write_text(f"{quota} {PERIOD}")
        elif (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.cfs_quota_us").write_text(str(quota))
    for kind, value in limits.io:
        if (group / "io.max").exists():
            (group / "io.max").write_text(f"{device} {kind}={value}")
        elif (group / f"blkio.throttle.{KINDS[kind]}_device").exists():
            (group / f"blkio.throttle.{KINDS[kind]}_device").write_text(f"{device} {value}")


def _device(folder: Path) -> str:
    """The whole disk below a folder, ``254:0``: partitions cannot be limited."""
    number = folder.stat().st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    block = Path(f"/sys/dev/block/{name}")
    if (block / "partition").exists():
        return (block.resolve().parent / "dev").read_text().strip()
    return name
