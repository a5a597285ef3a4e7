"""Measures the ceilings of this machine and of the working folder's disk."""

from __future__ import annotations

import shutil
import time
from dataclasses import asdict
from pathlib import Path

from teiten.errors import MachineError
from teiten.host.ceilings.core_speed import measure_cores
from teiten.host.ceilings.disk_speed import DiskSpeed, measure_disk
from teiten.host.ceilings.fio import find_fio, measure_by_fio
from teiten.host.ceilings.kept import keep_ceilings
from teiten.host.ceilings.others import others_share, read_clock
from teiten.host.ceilings.scratch import scratch
from teiten.host.system.paths import Workdir
from teiten.model.bottleneck import Ceilings
from teiten.model.units import GIB, Bytes, Seconds

SECONDS = Seconds(4.0)
"""Duration of each pattern's measurement."""
PATTERNS = 8
"""Five of the disk, three of the processors and the memory."""
SIZE = Bytes(GIB)
"""Size of the file: more than a disk's own cache often holds."""
ROOM = 4
"""Times the file's size that must be free."""
OWN = "teiten"
MOST_OTHERS = 0.1
"""Share of all processors that others may take meanwhile: with more, no ceiling was measured."""


def measure_ceilings(
    workdir: Workdir,
    *,
    logical: int,
    seconds: Seconds = SECONDS,
    size: Bytes = SIZE,
) -> Ceilings:
    """Measure, by fio where it is in the PATH, and keep the result for ``cached_ceilings``.

    ``logical``: processors that this program may use. Raises MachineError where the disk cannot be
    measured, too little of it is free, or others used the machine meanwhile.
    """
    workdir.prepare()
    free = shutil.disk_usage(workdir.root).free
    if free < ROOM * size:
        raise MachineError(
            f"{workdir.root}: {free} bytes are free, {ROOM * size} are needed",
            "free some space, or choose another folder with --workdir",
        )
    before = read_clock()
    disk, tool = _disk(workdir.clusters, size, seconds, find_fio())
    cores = measure_cores(logical, seconds)
    _refuse_disturbed(others_share(before, read_clock()))
    found = Ceilings(**asdict(disk), **asdict(cores), tool=tool, measured_at=time.time())
    keep_ceilings(workdir, found)
    return found


def _refuse_disturbed(others: float) -> None:
    if others > MOST_OTHERS:
        raise MachineError(
            f"other programs, or the hypervisor, took {others:.0%} of the processors meanwhile",
            "stop them, or measure the ceilings when the machine is idle",
        )


def _disk(folder: Path, size: Bytes, seconds: Seconds, fio: Path | None) -> tuple[DiskSpeed, str]:
    with scratch(folder, size) as file:
        if fio is not None:
            return measure_by_fio(fio, file.path, Bytes(file.size), seconds)
        return measure_disk(file, seconds), OWN
