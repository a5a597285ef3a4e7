"""Measures the ceilings of this machine and of the working folder's disk."""

from __future__ import annotations

import shutil
import time
from dataclasses import asdict
from pathlib import Path

from teiten.errors import MachineError
from teiten.host.ceilings import keep_ceilings
from teiten.host.core_speed import measure_cores
from teiten.host.disk_speed import DiskSpeed, measure_disk
from teiten.host.fio import find_fio, measure_by_fio
from teiten.host.paths import Workdir
from teiten.host.scratch import scratch
from teiten.model.bottleneck import Ceilings
from teiten.model.units import GIB, Bytes, Seconds

SECONDS = Seconds(4.0)
"""Of each pattern."""
PATTERNS = 8
"""Five of the disk, three of the processors and the memory."""
SIZE = Bytes(GIB)
"""Of the file: more than a disk's own cache often holds."""
ROOM = 4
"""Times the file's size that must be free."""
OWN = "teiten"


def measure_ceilings(
    workdir: Workdir,
    *,
    logical: int,
    seconds: Seconds = SECONDS,
    size: Bytes = SIZE,
) -> Ceilings:
    """Measure, by fio where it is in the PATH, and keep the result for ``cached_ceilings``.

    ``logical``: processors that this program may use. Raises MachineError where the disk cannot be
    measured, or too little of it is free.
    """
    workdir.prepare()
    free = shutil.disk_usage(workdir.root).free
    if free < ROOM * size:
        raise MachineError(
            f"{workdir.root}: {free} bytes are free, {ROOM * size} are needed",
            "free some space, or choose another folder with --workdir",
        )
    disk, tool = _disk(workdir.clusters, size, seconds, find_fio())
    cores = measure_cores(logical, seconds)
    found = Ceilings(**asdict(disk), **asdict(cores), tool=tool, measured_at=time.time())
    keep_ceilings(workdir, found)
    return found


def _disk(folder: Path, size: Bytes, seconds: Seconds, fio: Path | None) -> tuple[DiskSpeed, str]:
    with scratch(folder, size) as file:
        if fio is not None:
            return measure_by_fio(fio, file.path, Bytes(file.size), seconds)
        return measure_disk(file, seconds), OWN
