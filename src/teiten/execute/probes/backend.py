"""Resource use of backends, as the kernel accounts it; see proc_pid_io(5), and sched-stats.rst.

The CPU time of one backend over the seconds of a trial.
"""

from __future__ import annotations

import operator
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import psycopg

from teiten.connections import first_value
from teiten.execute.probes.procfs import io_counters, parse_process
from teiten.execute.probes.series import ticks
from teiten.host.facts.readings import read_field
from teiten.model.trial import Series

PROC = Path("/proc")
NANOSECONDS = 1e-9
PROGRAMS = ("postgres", "postmaster")
"""How the names of a server's processes begin; some distributions start it by the second."""
STARTED = """
SELECT extract(epoch FROM backend_start) FROM pg_stat_activity WHERE pid = pg_backend_pid()
"""
APART = 5.0
"""Seconds between what the server and what the kernel says: the one is known to a second, and
clocks are set."""


@dataclass(frozen=True)
class Usage:
    """Since a process began, or between two looks; None of what the kernel does not tell us."""

    cpu: float | None = None
    """Seconds."""
    read: int | None = None
    """Bytes that were fetched from disks."""
    written: int | None = None
    """Bytes that it let be written to disks later."""

    def since(self, before: Usage) -> Usage:
        return self._combined(before, operator.sub)

    def with_further(self, further: Usage) -> Usage:
        return self._combined(further, operator.add)

    def _combined(self, usage: Usage, combine: Callable[[Any, Any], Any]) -> Usage:
        pairs = zip(astuple(self), astuple(usage), strict=True)
        return Usage(*(None if None in pair else combine(*pair) for pair in pairs))


NOTHING = Usage(0.0, 0, 0)


def backend_of(connection: psycopg.Connection[Any]) -> int | None:
    """The process of a connection's server side; None where that is not seen to be on this
    machine."""
    process = _process_of(connection)
    return None if process is None else process.pid


def postmaster_of(connection: psycopg.Connection[Any]) -> int | None:
    """The first process of a connection's server; None as ``backend_of``."""
    with suppress(psutil.Error):
        backend = _process_of(connection)
        parent = None if backend is None else backend.parent()
        if parent is not None and parent.name().startswith(PROGRAMS):
            return parent.pid
    return None


def _process_of(connection: psycopg.Connection[Any]) -> psutil.Process | None:
    started = first_value(connection, STARTED)
    return backend_process(connection.info.backend_pid, float(started or 0))


def backend_process(pid: int, started: float) -> psutil.Process | None:
    """A process, where it is PostgreSQL's, and began when the server says that its backend did: on
    another machine, or in another container, its number is that of something else here.

    ``started``: seconds since 1970.
    """
    with suppress(psutil.Error, ValueError):  # a pooler's number may be negative
        process = psutil.Process(pid)
        begun = process.create_time()
        if process.name().startswith(PROGRAMS) and abs(begun - started) < APART:
            return process
    return None


def usage_of(pid: int | None, proc: Path = PROC) -> Usage:
    """Read the CPU time and the I/O that a process has used since it began."""
    if pid is None:
        return Usage()
    io = io_counters(pid, proc)
    return Usage(_cpu(proc / str(pid)), io.get("read_bytes"), io.get("write_bytes"))


def memory_of(pid: int | None, proc: Path = PROC) -> int | None:
    """Bytes of a process's own memory, without shared buffers and the programs' files (RssAnon of
    proc_pid_status(5)); None where the kernel does not tell."""
    value = read_field(proc / str(pid) / "status", "RssAnon")
    return None if value is None else int(value.removesuffix("kB")) * 1024


def _cpu(process: Path) -> float | None:
    """By the scheduler's account, in nanoseconds; without it by ticks of, mostly, 10 ms."""
    try:
        return int((process / "schedstat").read_bytes().split()[0]) * NANOSECONDS
    except (OSError, ValueError, IndexError):
        pass
    try:
        ticks = parse_process((process / "stat").read_bytes()).own
        return ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


SOURCE = "backend"
CPU_SHARE = "cpu_share"
"""The column: the share of one processor since the sample before."""
INTERVAL = 0.25


class BackendWatch:
    """Looks at a process from ``with`` to its end; ``series`` is then what was seen."""

    def __init__(
        self,
        pid: int | None,
        look: Callable[[int | None], Usage] = usage_of,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``pid``: None where the process is not on this machine: nothing is seen of it."""
        self._pid, self._look, self._clock = pid, look, clock
        self._seen: list[tuple[float, float]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="teiten-backend", daemon=True)

    def __enter__(self) -> BackendWatch:
        self.look()
        if self._seen:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self.look()

    def look(self) -> None:
        """Nothing of a process that has ended."""
        used = self._look(self._pid).cpu
        if used is not None:
            self._seen.append((self._clock(), used))

    @property
    def series(self) -> tuple[Series, ...]:
        """None of fewer than two looks, or of no time between them."""
        at, used = (np.array([look[column] for look in self._seen]) for column in (0, 1))
        apart = np.diff(at)
        if not len(apart) or not (apart > 0).all():
            return ()
        return (Series(SOURCE, at[1:] - at[0], {CPU_SHARE: np.diff(used) / apart}),)

    def _run(self) -> None:
        for _ in ticks(self._clock(), INTERVAL, self._clock, self._stop.wait):
            self.look()
