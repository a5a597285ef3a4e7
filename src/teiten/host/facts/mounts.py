"""Mounted file systems and their places: /proc/self/mountinfo (see proc(5))."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from teiten.host.facts.readings import read_text

MINIMUM_FIELDS = 10


@dataclass(frozen=True)
class Mount:
    """A line of mountinfo."""

    device_number: str
    """``major:minor``."""
    root: str
    """The part of the file system that is mounted: ``/``, or a folder (a bind mount, a cgroup)."""
    mount_point: str
    file_system: str
    source: str
    options: str
    """Options of the mount and of the file system, each once."""


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """The mounts in the order of the kernel; lines that cannot be understood are left out."""
    return tuple(mount for line in text.splitlines() if (mount := _parse_line(line)) is not None)


def read_mounts(root: Path = Path("/")) -> tuple[Mount, ...]:
    """The mounts that this program sees; empty where the system has no mountinfo."""
    return parse_mountinfo(read_text(root / "proc/self/mountinfo") or "")


def mount_of(path: PurePosixPath, mounts: Iterable[Mount]) -> Mount | None:
    """The mount that holds an absolute path: the deepest one, of several the last."""
    best: Mount | None = None
    for mount in mounts:
        point = PurePosixPath(mount.mount_point)
        deeper = best is None or len(point.parts) >= len(PurePosixPath(best.mount_point).parts)
        if deeper and (point == path or point in path.parents):
            best = mount
    return best


def _parse_line(line: str) -> Mount | None:
    fields = line.split(" ")
    if len(fields) < MINIMUM_FIELDS or "-" not in fields[6:]:
        return None
    after = fields[fields.index("-", 6) + 1 :]
    if len(after) < 3:
        return None
    options = dict.fromkeys([*fields[5].split(","), *after[2].split(",")])
    return Mount(
        device_number=fields[2],
        root=_unescape(fields[3]),
        mount_point=_unescape(fields[4]),
        file_system=after[0],
        source=_unescape(after[1]),
        options=",".join(options),
    )


def _unescape(text: str) -> str:
    """Blanks and backslashes are written as ``\\040``."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
