"""Whether a limit of memory really holds: a file larger than it is read inside.

The file has holes alone: reading it fills the page cache as any other, and neither writes nor reads
a disk. It has no name, so that nothing is left of it however this ends.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

from teiten.errors import MachineError
from teiten.execute.sites.local.limit import Limit
from teiten.execute.sites.local.limit_files import Allowed
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.page_cache import cached
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import killed_after, spawn
from teiten.host.system.signals import KILL
from teiten.model.quantities import format_size
from teiten.model.units import MIB, Bytes

READER = "import os\nwhile os.read(0, 1 << 20): pass"
BEYOND = 8
"""The file is larger than the limit by this part of it."""
COUNTED = 0.9
"""The share of the limit that must have been charged to the group at some time."""
PATIENCE, SLOWEST = 60.0, 100 * MIB
"""Seconds, and bytes per second, that the reader may take."""
HINT = "run it on a machine of that size, with --memory machine"


def check_limit(workdir: Workdir, memory: Bytes, folder: Path) -> dict[str, Any]:
    """Read a file of ``folder`` that is larger than the limit inside of one, and see most of it
    stay and the rest evicted.

    Raises MachineError where a limit cannot be made, or does not hold for the files there.
    """
    begun = time.monotonic()
    size = memory + max(64 * MIB, memory // BEYOND)
    limit = Limit.make(workdir, Allowed(memory=memory))
    try:
        with _of_holes(folder, size) as file:
            _read_inside(limit, file, size)
            kept, readings = cached(file), limit.readings()
    finally:
        limit.remove()
    if kept is None:
        raise MachineError("what the page cache holds of a file cannot be seen here", HINT)
    charged = readings.get("peak", 0)
    if charged < memory * COUNTED:
        raise MachineError(
            f"memory: the page cache of files in {folder} does not count to a control group:"
            f" {format_size(size)} were read in one, {format_size(charged)} were counted",
            "put the working folder (--workdir) on a disk with ext4, xfs or btrfs; or --memory"
            " machine",
        )
    if kept.resident > memory:
        raise MachineError(
            f"memory: of {format_size(size)} that were read inside of a limit of"
            f" {format_size(memory)} {format_size(kept.resident)} stayed in the page cache",
            HINT,
        )
    return {
        "memory": memory,
        "read": size,
        "stayed": kept.resident,
        "charged": charged,
        "cgroup": limit.facts["cgroup"],
        "folder": str(folder),
        "seconds": round(time.monotonic() - begun, 3),
    }


def _of_holes(folder: Path, size: int) -> IO[bytes]:
    try:
        with HeldFolder.open(folder) as held:
            file = held.create_nameless()
        file.truncate(size)
    except OSError as error:
        raise MachineError(
            f"memory: no file of {format_size(size)} can be made in {folder} to check the limit:"
            f" {error.strerror or error}",
            "a smaller limit, or another working folder (--workdir)",
        ) from error
    return file


def _read_inside(limit: Limit, file: IO[bytes], size: int) -> None:
    """Raises MachineError where the reader cannot start, or does not come to its end."""
    try:
        reader = spawn(
            [sys.executable, "-I", "-S", "-c", READER],
            stdin=file,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            death_signal=KILL,
            groups=limit.groups,
        )
    except OSError as error:
        raise MachineError(f"memory: nothing can be started in the limit: {error}", HINT) from error
    code = killed_after(reader, PATIENCE + size / SLOWEST)
    if code != 0:
        how = "takes too long" if code is None else f"ended with {code}"
        raise MachineError(
            f"memory: reading a file of {format_size(size)} inside of a smaller limit {how}", HINT
        )
