"""Limits of what a control group transfers from and to a device.

Sources: Linux, Documentation/admin-guide/cgroup-v1/blkio-controller.rst, …/cgroup-v2.rst (io.max).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import MachineError
from teiten.host.facts.cgroups import hierarchies

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
