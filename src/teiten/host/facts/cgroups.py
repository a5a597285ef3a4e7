"""Limits of control groups, versions 1 and 2, of this program's group and all above it.

Sources: cgroups(7); Linux, Documentation/admin-guide/cgroup-v1/memory.rst, …/cgroup-v2.rst,
…/scheduler/sched-bwc.rst.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from teiten.host.facts.disks import read_mounts
from teiten.host.facts.readings import read_int, read_text
from teiten.model.units import Bytes

UNLIMITED = 1 << 60
"""Version 1 writes 'no limit' as a number near 2^63."""


@dataclass(frozen=True)
class CgroupLimits:
    """The tightest limits; None without one."""

    cpu_quota_cores: float | None
    memory_limit: Bytes | None
    memory_available: Bytes | None
    """Memory that the limit leaves: the limit less what is used and cannot be reclaimed at once."""


@dataclass(frozen=True)
class Hierarchy:
    """A control group that this program's group is, or is in."""

    version: int
    """1 or 2"""
    folder: Path
    passed_on: frozenset[str] = frozenset()
    """Version 2: the controllers that groups made in it have."""


def hierarchies(controller: str, root: Path = Path("/")) -> Iterator[Hierarchy]:
    """This program's group and all above it, the nearest first, in each hierarchy that has the
    controller."""
    for version, folder in _folders(root, controller):
        if version == 1:
            yield Hierarchy(version, folder)
        elif controller in (read_text(folder / "cgroup.controllers") or "").split():
            passed_on = (read_text(folder / "cgroup.subtree_control") or "").split()
            yield Hierarchy(version, folder, frozenset(passed_on))


def read_cgroup_limits(root: Path = Path("/")) -> CgroupLimits:
    """Read this program's limits; all None on a system without control groups."""
    quotas = (_quota_of(folder) for _, folder in _folders(root, "cpu"))
    known = (_memory_of(folder) for _, folder in _folders(root, "memory"))
    memories = [memory for memory in known if memory is not None]
    return CgroupLimits(
        cpu_quota_cores=min((quota for quota in quotas if quota is not None), default=None),
        memory_limit=min((limit for limit, _ in memories), default=None),
        memory_available=min((left for _, left in memories), default=None),
    )


def parse_own_groups(text: str) -> dict[str, str]:
    """/proc/self/cgroup: controller to the group's path; version 2 is the controller ``""``."""
    groups: dict[str, str] = {}
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, separator, path = rest.partition(":")
        if separator:
            groups.update(dict.fromkeys(controllers.split(","), path))
    return groups


def _folders(root: Path, controller: str) -> Iterator[tuple[int, Path]]:
    """The folders of our group and of those above it, in each hierarchy that limits it, with the
    version."""
    groups = parse_own_groups(read_text(root / "proc/self/cgroup") or "")
    for mount in read_mounts(root):
        if mount.file_system == "cgroup" and controller in mount.options.split(","):
            version, path = 1, groups.get(controller)
        elif mount.file_system == "cgroup2":
            version, path = 2, groups.get("")
        else:
            continue
        if path is not None:
            for folder in _up(root / mount.mount_point.lstrip("/"), _below(path, mount.root)):
                yield version, folder


def _below(path: str, mount_root: str) -> PurePosixPath:
    """The group relative to the mount: in a container the mount often shows only our own group."""
    group, shown = PurePosixPath(path), PurePosixPath(mount_root)
    if group == shown or shown in group.parents:
        return group.relative_to(shown)
    return PurePosixPath()


def _up(mount_point: Path, group: PurePosixPath) -> Iterator[Path]:
    if ".." in group.parts:  # outside of our cgroup namespace
        group = PurePosixPath()
    for part in (group, *group.parents):
        yield mount_point / part.relative_to(part.anchor)


def _quota_of(folder: Path) -> float | None:
    version_2 = (read_text(folder / "cpu.max") or "").split()
    if len(version_2) == 2 and all(part.isdigit() for part in version_2):
        return _cores(int(version_2[0]), int(version_2[1]))
    quota = read_int(folder / "cpu.cfs_quota_us")
    period = read_int(folder / "cpu.cfs_period_us")
    return _cores(quota or 0, period or 0)


def _cores(quota: int, period: int) -> float | None:
    return quota / period if quota > 0 and period > 0 else None


def _memory_of(folder: Path) -> tuple[Bytes, Bytes] | None:
    for limit_name, used_name, inactive in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        limit = read_int(folder / limit_name)
        if limit is None or limit >= UNLIMITED:
            continue
        used = read_int(folder / used_name) or 0
        stat = read_text(folder / "memory.stat") or ""
        field = re.search(rf"^{inactive} (\d+)$", stat, re.MULTILINE)
        left = limit - used + (int(field[1]) if field else 0)
        return Bytes(limit), Bytes(min(limit, max(0, left)))
    return None
