"""Measures the ceilings of this machine and of the working folder's disk."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from dataclasses import dataclass

import numpy as np
import psutil

from teiten.errors import MachineError
from teiten.host.ceilings.disk_speed import OF_DISK, Request, rate
from teiten.host.ceilings.kept import keep_ceilings
from teiten.host.ceilings.storage_speed import measure_folder
from teiten.host.system.paths import Workdir
from teiten.model.bottleneck import Ceilings
from teiten.model.units import GIB, MIB, Bytes, Seconds

SECONDS = Seconds(4.0)
"""Duration of each pattern's measurement."""
PATTERNS = 8
"""Five of the disk, three of the processors and the memory."""
SIZE = Bytes(GIB)
"""Size of the file: more than a disk's own cache often holds."""
ROOM = 4
"""Times the file's size that must be free."""
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
    disk, tool = measure_folder(workdir.clusters, size, seconds, OF_DISK)
    cores = measure_cores(logical, seconds)
    others = others_share(before, read_clock())
    if others > MOST_OTHERS:
        raise MachineError(
            f"other programs, or the hypervisor, took {others:.0%} of the processors meanwhile",
            "stop them, or measure the ceilings when the machine is idle",
        )
    ceilings = Ceilings(**disk, **cores, tool=tool, measured_at=time.time())
    keep_ceilings(workdir, ceilings)
    return ceilings


HASHED = 256 * 1024
"""Bytes of a piece of work, which stay in the core's cache; hashlib leaves Python's lock."""
COPIED = 128 * MIB
"""More than caches hold."""


def measure_cores(logical: int, seconds: Seconds) -> dict[str, float]:
    """Measure the fields of ``Ceilings`` that are of processors and memory.

    ``logical``: processors that this program may use. Takes three times ``seconds``.
    """
    core = rate([hashing()], seconds)
    start, used = time.perf_counter(), time.process_time()
    machine = rate([hashing() for _ in range(logical)], seconds)
    cores = (time.process_time() - used) / (time.perf_counter() - start)
    memory = rate([copying()], seconds)
    return {"core_speed": core, "machine_speed": machine, "cores": cores, "memory": memory}


def hashing() -> Request:
    data = bytes(HASHED)

    def request() -> int:
        hashlib.sha256(data).digest()
        return HASHED

    return request


def copying() -> Request:
    """Reads and writes as many bytes."""
    source, target = np.ones(COPIED, dtype=np.uint8), np.zeros(COPIED, dtype=np.uint8)

    def request() -> int:
        np.copyto(target, source)
        return 2 * COPIED

    return request


@dataclass(frozen=True)
class CpuClock:
    """CPU seconds since the machine started, and of this program with its ended children."""

    total: float
    busy: float
    """In programs and the kernel, and stolen; without interrupts, which nobody owns."""
    own: float


def read_clock() -> CpuClock:
    times = psutil.cpu_times()._asdict()
    busy = sum(times.get(name, 0.0) for name in ("user", "nice", "system", "steal"))
    idle = sum(times.get(name, 0.0) for name in ("idle", "iowait", "irq", "softirq"))
    own = os.times()
    return CpuClock(
        busy + idle, busy, own.user + own.system + own.children_user + own.children_system
    )


def others_share(before: CpuClock, after: CpuClock) -> float:
    """The share of all processors that others took between two moments."""
    total = after.total - before.total
    if total <= 0:
        return 0.0
    others = (after.busy - before.busy) - (after.own - before.own)
    return min(1.0, max(0.0, others / total))
