"""Speed of the processors and the memory, and how many cores busy programs get here."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass

import numpy as np

from teiten.host.ceilings.disk_speed import Request, rate
from teiten.model.units import MIB, Seconds

HASHED = 256 * 1024
"""Bytes of a piece of work, which stay in the core's cache; hashlib leaves Python's lock."""
COPIED = 128 * MIB
"""More than caches hold."""


@dataclass(frozen=True)
class CoreSpeed:
    """Units as in ``model.bottleneck.Ceilings``."""

    core_speed: float
    machine_speed: float
    cores: float
    memory: float


def measure_cores(logical: int, seconds: Seconds) -> CoreSpeed:
    """``logical``: processors that this program may use. Takes three times ``seconds``."""
    one = rate([hashing()], seconds)
    start, used = time.perf_counter(), time.process_time()
    machine = rate([hashing() for _ in range(logical)], seconds)
    cores = (time.process_time() - used) / (time.perf_counter() - start)
    return CoreSpeed(one, machine, cores, rate([copying()], seconds))


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
