"""CPU time by whose it is: the server's, pgbench's, Teiten's own, and that of all others.

A process that ends hands its time (and that of its children) to the parent that waits for it, so
the sum of own and children's time over a living tree loses nothing: short-lived backends count.
Where a parent does not wait (it ignores SIGCHLD), what was used since the last look is lost.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from teiten.execute.probes.procfs import ProcessRecord, parse_process

OPEN_FILES = 400
"""Kept open between looks (saves a path lookup each); beyond, files are opened for each look."""
KTHREADD = 2


class ProcessGroup(StrEnum):
    SERVER = "server"
    PGBENCH = "pgbench"
    TEITEN = "teiten"
    OTHER = "other"


WAITED_FOR = frozenset({ProcessGroup.SERVER, ProcessGroup.PGBENCH})
"""Groups whose first process Teiten has started."""
Records = Mapping[int, ProcessRecord]


def group_of(pid: int, records: Records, roots: Mapping[int, ProcessGroup]) -> ProcessGroup:
    """The group of the nearest ancestor (or the process itself) that is a root; else OTHER."""
    seen: set[int] = set()
    while pid not in seen:
        if pid in roots:
            return roots[pid]
        seen.add(pid)
        record = records.get(pid)
        if record is None:
            break
        pid = record.parent
    return ProcessGroup.OTHER


class CpuAccount:
    """Adds up ticks by group from one look to the next. Pure: it is given the records."""

    def __init__(self, teiten: int) -> None:
        self._teiten = teiten
        self._before: dict[int, tuple[ProcessRecord, ProcessGroup]] | None = None
        self.ticks: dict[ProcessGroup, int] = dict.fromkeys(ProcessGroup, 0)

    def update(self, records: Records, roots: Mapping[int, ProcessGroup]) -> None:
        """Take a look; the first one is the zero. ``roots``: pid of a group's first process."""
        now = {pid: (record, group_of(pid, records, roots)) for pid, record in records.items()}
        if self._before is not None:
            self._add(self._before, now, roots)
        self._before = now

    def _add(
        self,
        before: Mapping[int, tuple[ProcessRecord, ProcessGroup]],
        now: Mapping[int, tuple[ProcessRecord, ProcessGroup]],
        roots: Mapping[int, ProcessGroup],
    ) -> None:
        living = dict.fromkeys(ProcessGroup, 0)
        inherited = dict.fromkeys(ProcessGroup, 0)
        heir = ended_root(before, now, roots)
        for pid, (record, group) in now.items():
            old = before[pid][0] if pid in before else None
            known = old is not None and old.started == record.started
            living[group] += record.own - (old.own if old and known else 0)
            gained = record.children - (old.children if old and known else 0)
            inherited[heir if heir and pid == self._teiten else group] += gained
        for pid, (record, group) in before.items():
            if pid not in now or now[pid][0].started != record.started:
                ours = record.parent == self._teiten
                inherited[heir if heir and ours else group] -= record.own + record.children
        for group in ProcessGroup:
            # less than nothing inherited: a parent did not wait, the time went nowhere
            self.ticks[group] += max(0, living[group]) + max(0, inherited[group])


def ended_root(
    before: Mapping[int, object], now: Mapping[int, object], roots: Mapping[int, ProcessGroup]
) -> ProcessGroup | None:
    """The server's or pgbench's group where its first process ended between two looks.

    Teiten, which waited for it, inherits its time: that is to be counted as the group's. What was
    counted for another child of Teiten (a log's reader) before it ended stays that child's.
    """
    ended = (group for pid, group in roots.items() if pid in before and pid not in now)
    return next((group for group in ended if group in WAITED_FOR), None)


class ProcessReader:
    """Reads /proc/PID/stat of all programs, keeping the files open; kernel threads are skipped."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = os.fspath(proc)
        self._files: dict[int, int] = {}
        self._kernel: set[int] = set()

    @property
    def sees_all(self) -> bool:
        """False in a container and where other users' processes are hidden (hidepid)."""
        return KTHREADD in self._kernel

    def read(self) -> dict[int, ProcessRecord]:
        """All programs that can be seen now."""
        pids = {int(name) for name in os.listdir(self._proc) if name.isdigit()}  # noqa: PTH208 - quick
        self._kernel &= pids
        for pid in self._files.keys() - pids:
            os.close(self._files.pop(pid))
        records: dict[int, ProcessRecord] = {}
        for pid in pids - self._kernel:
            record = self._read_one(pid)
            if record is None:
                continue
            if record.is_kernel:
                self._forget(pid)
                self._kernel.add(pid)
            else:
                records[pid] = record
        return records

    def close(self) -> None:
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()

    def _read_one(self, pid: int) -> ProcessRecord | None:
        descriptor = self._files.get(pid)
        if descriptor is not None:
            try:
                return parse_process(os.pread(descriptor, 1024, 0))
            except (OSError, ValueError):
                self._forget(pid)  # ended; its number may be another's by now
        try:
            descriptor = os.open(f"{self._proc}/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        self._files[pid] = descriptor
        try:
            return parse_process(os.pread(descriptor, 1024, 0))
        except (OSError, ValueError):
            self._forget(pid)
            return None
        finally:
            if len(self._files) > OPEN_FILES:
                self._forget(pid)

    def _forget(self, pid: int) -> None:
        descriptor = self._files.pop(pid, None)
        if descriptor is not None:
            os.close(descriptor)
