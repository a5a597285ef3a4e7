"""The files of control groups, versions 1 and 2: what is written into them, and what they tell.

Sources: cgroups(7); Linux, Documentation/admin-guide/cgroup-v1/memory.rst, …/blkio-controller.rst,
…/cgroup-v2.rst.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import MachineError
from teiten.host.facts.cgroups import Hierarchy, hierarchies
from teiten.host.facts.readings import read_int, read_text
from teiten.host.system.causes import raise_os_errors_as

FILES_1 = {
    "read_iops": "blkio.throttle.read_iops_device",
    "write_iops": "blkio.throttle.write_iops_device",
    "read_bandwidth": "blkio.throttle.read_bps_device",
    "write_bandwidth": "blkio.throttle.write_bps_device",
}
FILE_2 = "io.max"
KEYS_2 = {
    "read_iops": "riops",
    "write_iops": "wiops",
    "read_bandwidth": "rbps",
    "write_bandwidth": "wbps",
}


@dataclass(frozen=True)
class TransferLimit:
    """How much of one device may be read and written."""

    device: str
    """``7:3``"""
    limits: tuple[tuple[str, float], ...]
    """``model.storage.Emulation.limits``"""


def transfer_controller(root: Path = Path("/")) -> str:
    """The controller that limits transfers here: ``io`` of version 2, or ``blkio`` of version 1.

    Raises MachineError where there is none.
    """
    for controller, version, file in (("io", 2, FILE_2), ("blkio", 1, FILES_1["read_iops"])):
        fitting = [
            hierarchy for hierarchy in hierarchies(controller, root) if hierarchy.version == version
        ]
        if any(hierarchy.passed_on or (hierarchy.folder / file).exists() for hierarchy in fitting):
            return controller
    raise MachineError(
        "no control group limits what is read from and written to a device here (neither io.max of"
        " version 2 nor blkio.throttle of version 1)",
        "emulate no device: --storage NAME=DIR on another disk; or boot a kernel with"
        " CONFIG_BLK_DEV_THROTTLING",
    )


def transfer_settings(
    version: int, transfers: Sequence[TransferLimit]
) -> Iterator[tuple[str, str]]:
    """Files and what is written into them; one write for each limit of each device."""
    for transfer in transfers:
        if version == 1:
            for name, value in transfer.limits:
                yield FILES_1[name], f"{transfer.device} {int(value)}"
        elif transfer.limits:
            words = " ".join(f"{KEYS_2[name]}={int(value)}" for name, value in transfer.limits)
            yield FILE_2, f"{transfer.device} {words}"


def lifted(text: str) -> str:
    """Make the text that takes a limit of version 1 back."""
    return f"{text.split(maxsplit=1)[0]} 0"


MEMORY, STORAGE, CPU_TIME = "memory", "storage", "cpu-time"
"""Resources that are limited or counted."""
CONTROLLERS = {
    MEMORY: ("memory", "memory"),
    STORAGE: ("blkio", "io"),
    CPU_TIME: ("cpuacct", ""),  # a group of version 2 counts it without any controller
}
"""Their names in version 1 and in version 2."""
BEYOND_ANY_DISK = 1 << 50
"""Bytes per second: version 1 counts transfers only where there is some rule."""
PEAKS = ("memory.peak", "memory.max_usage_in_bytes", "memory.current")
"""From version 2 since Linux 5.19, version 1, and version 2 before."""
SWAP_1, SWAP_2 = "memory.memsw.limit_in_bytes", "memory.swap.max"
READ_1, WRITE_1 = FILES_1["read_bandwidth"], FILES_1["write_bandwidth"]
NEEDED = frozenset({"memory.limit_in_bytes", "memory.max", FILE_2, *FILES_1.values()})
"""A group without these files limits nothing."""


@dataclass(frozen=True)
class Allowed:
    """Resources that those in a group may use together; None for no limit."""

    memory: int | None = None
    """Bytes."""
    read: int | None = None
    """Bytes per second."""
    write: int | None = None
    disk: str | None = None
    """The number of the whole disk that is read and written, ``254:0``."""
    transfers: tuple[TransferLimit, ...] = ()
    """Limits of devices that this Teiten has made, which nobody else uses."""
    counted: bool = False
    """Whether their use is counted as well, as far as the system lets a group count it."""

    @property
    def limited(self) -> dict[str, int]:
        """Resources that are limited, and to how much."""
        amounts = {MEMORY: self.memory, STORAGE: self.read or self.write}
        return {name: amount for name, amount in amounts.items() if amount is not None}

    @property
    def wanted(self) -> tuple[str, ...]:
        """Resources that groups are needed for."""
        return tuple(dict.fromkeys((*self.limited, *([STORAGE] if self.transfers else ()))))


def settings(allowed: Allowed, what: str, version: int) -> Iterator[tuple[str, str]]:
    """Files of a group and what is written into them, in order; ``what``: MEMORY or STORAGE."""
    if what == MEMORY and allowed.memory is not None:
        yield from _of_memory(str(int(allowed.memory)), version)
    elif what == STORAGE:
        yield from transfer_settings(version, allowed.transfers)
        if allowed.disk is not None and (version == 1 or STORAGE in allowed.limited):
            yield from _of_storage(allowed.disk, allowed.read, allowed.write, version)


def _of_memory(limit: str, version: int) -> Iterator[tuple[str, str]]:
    if version == 1:
        yield "memory.swappiness", "0"
        yield "memory.limit_in_bytes", limit
        yield SWAP_1, limit
    else:
        yield "memory.max", limit
        yield SWAP_2, "0"


def _of_storage(
    disk: str | None, read: int | None, write: int | None, version: int
) -> Iterator[tuple[str, str]]:
    if version == 1:
        yield READ_1, f"{disk} {read or BEYOND_ANY_DISK}"
        yield WRITE_1, f"{disk} {write or BEYOND_ANY_DISK}"
    else:
        yield FILE_2, f"{disk} rbps={read or 'max'} wbps={write or 'max'}"


def peak(group: Path) -> int | None:
    """The most bytes of memory that were charged to it."""
    return next(filter(None, (read_int(group / name) for name in PEAKS)), None)


def oom_kills(group: Path) -> int | None:
    """How many processes the kernel ended in it because there was no more memory."""
    for name in ("memory.events", "memory.oom_control"):
        counted = re.search(r"^oom_kill (\d+)$", read_text(group / name) or "", re.MULTILINE)
        if counted:
            return int(counted[1])
    return None


Written = tuple[tuple[Path, str], ...]
"""Files and what is written into them."""


@dataclass(frozen=True)
class Throttle:
    """Writes that limit what a group reads from and writes to storage, and that lift this; both
    empty where it has no limit.

    What is prepared and what is checked is not measured: held to the bandwidth of a node it would
    only take longer. The group is the same all the time, so that what it used is counted
    throughout.
    """

    held: Written = ()
    let_go: Written = ()

    @classmethod
    def of(cls, allowed: Allowed, parents: Mapping[str, Hierarchy], name: str) -> Throttle:
        """``name``: of the group below its parent."""
        if STORAGE not in allowed.limited or STORAGE not in parents:
            return cls()
        parent = parents[STORAGE]
        group, version = parent.folder / name, parent.version
        return cls(
            tuple((group / file, text) for file, text in settings(allowed, STORAGE, version)),
            tuple(
                (group / file, text)
                for file, text in _of_storage(allowed.disk, None, None, version)  # still counted
            ),
        )

    def apply(self) -> None:
        """Raises MachineError where the kernel refuses, so that nothing is measured without."""
        _write(self.held)

    def lift(self) -> None:
        """Raises MachineError where the kernel refuses."""
        _write(self.let_go)


NO_THROTTLE = Throttle()


def _write(files: Written) -> None:
    for file, text in files:
        doing = f"the limit of a node's storage cannot be changed: {file}"
        with raise_os_errors_as(doing, "did somebody else remove the control group? Run it again"):
            file.write_text(text, encoding="ascii")
