"""What servers and load programs together may use: a control group that they are started in.

The limit of memory holds for everything that is charged to the group: the servers' own memory,
their shared memory, and the page cache of the files that they read and write. What of these files
is in the page cache already is charged to others, and so must leave it before. Swap is not used in
the limit's place.

A group is noted in the working folder before it is made, so that one that a killed Teiten has left
is found again; only what is noted is removed, and only where nobody but its own processes is in it.

Sources: cgroups(7); Linux, Documentation/admin-guide/cgroup-v1/memory.rst, …/cgroup-v2.rst,
…/scheduler/sched-bwc.rst.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from teiten.errors import MachineError
from teiten.execute.postgres.marker import same_process
from teiten.execute.sites.local.transfers import (
    TransferLimit,
    lifted,
    transfer_controller,
    transfer_settings,
)
from teiten.host.facts.cgroups import Hierarchy, hierarchies
from teiten.host.facts.readings import read_int, read_text
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import MEMBERS, signal_found, started_at

PEAKS = ("memory.peak", "memory.max_usage_in_bytes", "memory.current")
"""From version 2 since Linux 5.19, version 1, and version 2 before."""
ENDING = ".limit"
"""Of notes in the clusters' room."""
PREFIX = "teiten-"
PERIOD = 100_000
"""Microseconds in which the share of the processors is counted."""
PATIENCE = 10.0
"""Seconds that processes may take to leave a group after they were killed."""
HINT = (
    "it needs root, or a control group that was given to this user (systemd-run --user --scope"
    " -p Delegate=yes); or leave the limit out"
)
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Limit:
    """Groups of this trial, one for each hierarchy that has a controller of it."""

    groups: tuple[Path, ...]
    facts: dict[str, Any]
    """What was limited, for the ledger."""
    note: Path
    kernel: tuple[tuple[str, str], ...] = ()
    """Of version 1: the same limits of a device for what the kernel itself writes to it."""

    @classmethod
    def make(
        cls,
        workdir: Workdir,
        cpus: float | None,
        memory: int | None,
        root: Path = Path("/"),
        transfers: Sequence[TransferLimit] = (),
    ) -> Limit:
        """``cpus``: seconds of processor time per second; ``memory``: bytes; None for no limit.
        ``transfers``: of devices that this Teiten has made.

        Raises MachineError where this system or its rights do not permit it; nothing is left then.
        """
        wanted = {
            controller: amount
            for controller, amount in (("cpu", cpus), ("memory", memory))
            if amount is not None
        }
        if sys.platform != "linux":
            raise MachineError("only Linux can limit what a server uses", "leave the limit out")
        controller = transfer_controller(root) if transfers else None
        parents = _parents({**wanted, **({controller: 0.0} if controller else {})}, root)
        name = f"{PREFIX}{os.getpid()}-{next(_numbers)}"
        groups = {parent.folder / name: parent for parent in parents.values()}
        note = workdir.clusters / f"{name}{ENDING}"
        workdir.clusters.mkdir(parents=True, exist_ok=True)
        kernel = _of_kernel(controller, root, transfers)
        note.write_text(_noted(groups, kernel), encoding="utf-8")
        facts: dict[str, Any] = {**wanted, "cgroup": _version(parents)}
        if transfers:
            facts["transfers"] = {one.device: dict(one.limits) for one in transfers}
            facts["kernel_writes_limited"] = bool(kernel) or controller == "io"
        made = cls(tuple(groups), facts, note, kernel)
        try:
            for group, parent in groups.items():
                group.mkdir()
                own = {name: wanted[name] for name in wanted if parents[name] is parent}
                _write(group, _settings(parent, own))
                if controller is not None and parents[controller] is parent:
                    _write(group, transfer_settings(parent.version, transfers))
            for file, text in kernel:
                Path(file).write_text(text, encoding="ascii")
            if memory is not None:
                _require_no_swap(made.groups, root)
        except MachineError:
            made.remove()
            raise
        except OSError as error:
            made.remove()
            raise MachineError(
                f"the limit of {' and '.join(parents)} cannot be set: {error}", HINT
            ) from error
        return made

    def readings(self) -> dict[str, int]:
        """What the kernel has counted of memory: the peak in bytes, and the processes that it
        ended because there was no more; as far as it tells."""
        return {
            name: value
            for group in self.groups
            for name, value in (("peak", _peak(group)), ("oom_kills", _oom_kills(group)))
            if value is not None
        }

    def remove(self) -> None:
        """Give the groups back; what still runs in them is killed. What cannot be removed stays
        noted, and is swept at the next start."""
        _lift(self.kernel)
        gone = [_removed(group) for group in self.groups]
        if all(gone):
            self.note.unlink(missing_ok=True)


def require_limits(cpus: float | None, memory: int | None, root: Path = Path("/")) -> None:
    """Raise MachineError where this system or its rights permit no such limit; makes nothing."""
    if sys.platform != "linux":
        raise MachineError("only Linux can limit what a server uses", "leave the limit out")
    _parents({name: 0.0 for name, one in (("cpu", cpus), ("memory", memory)) if one}, root)


def sweep_limits(workdir: Workdir, *, ending: bool = False) -> tuple[str, ...]:
    """Remove the groups that a Teiten which has died has left; say which.

    ``ending``: those that this process made go too.
    """
    done = []
    for note in sorted(workdir.clusters.glob(f"*{ENDING}")):
        found = _read(note)
        if found is None:
            continue
        lives = same_process(int(found["pid"]), found["process_started"])
        if lives and not (ending and found["pid"] == os.getpid()):
            continue
        _lift(tuple((str(file), str(text)) for file, text in found["kernel"]))
        groups = [Path(one) for one in found["groups"]]
        gone = [group.name.startswith(PREFIX) and _removed(group) for group in groups]
        if all(gone):
            note.unlink(missing_ok=True)
            done += [f"removed the left control group {group}" for group in groups]
    return tuple(done)


SWAP_1, SWAP_2 = "memory.memsw.limit_in_bytes", "memory.swap.max"
_OPTIONAL = frozenset({"memory.swappiness", SWAP_1, SWAP_2, "cpu.cfs_period_us"})
"""A group without the others limits nothing."""


def _settings(parent: Hierarchy, wanted: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Files and what is written into them, in order."""
    memory, cpus = wanted.get("memory"), wanted.get("cpu")
    if memory is not None and parent.version == 1:
        yield "memory.swappiness", "0"
        yield "memory.limit_in_bytes", str(int(memory))
        yield SWAP_1, str(int(memory))
    elif memory is not None:
        yield "memory.max", str(int(memory))
        yield SWAP_2, "0"
    if cpus is not None and parent.version == 1:
        yield "cpu.cfs_period_us", str(PERIOD)
        yield "cpu.cfs_quota_us", str(round(cpus * PERIOD))
    elif cpus is not None:
        yield "cpu.max", f"{round(cpus * PERIOD)} {PERIOD}"


def _write(group: Path, settings: Iterable[tuple[str, str]]) -> None:
    """Raises OSError where a file that limits something is not there."""
    for file, text in settings:
        if (group / file).exists() or file not in _OPTIONAL:
            (group / file).write_text(text, encoding="ascii")


def _require_no_swap(groups: tuple[Path, ...], root: Path) -> None:
    """A limit that swap goes round is none."""
    if any((group / name).exists() for group in groups for name in (SWAP_1, SWAP_2)):
        return
    if len((read_text(root / "proc/swaps") or "").splitlines()) > 1:  # the first are headings
        raise MachineError(
            "the kernel does not limit swap by control groups here, and this machine has swap",
            "swapoff -a meanwhile, or boot with swapaccount=1",
        )


def _peak(group: Path) -> int | None:
    return next(filter(None, (read_int(group / name) for name in PEAKS)), None)


def _oom_kills(group: Path) -> int | None:
    for name in ("memory.events", "memory.oom_control"):
        found = re.search(r"^oom_kill (\d+)$", read_text(group / name) or "", re.MULTILINE)
        if found:
            return int(found[1])
    return None


def _parents(wanted: Mapping[str, float], root: Path) -> dict[str, Hierarchy]:
    """By controller, the nearest group from ours upwards in which one for it can be made."""
    found = {}
    for controller in wanted:
        seen = list(hierarchies(controller, root))
        fitting = [one for one in seen if _is_ours_to_divide(one, tuple(wanted))]
        if not fitting:
            raise MachineError(_reason(controller, seen), HINT)
        found[controller] = fitting[0]
    by_folder = {one.folder: one for one in found.values()}
    return {controller: by_folder[one.folder] for controller, one in found.items()}


def _is_ours_to_divide(one: Hierarchy, wanted: tuple[str, ...]) -> bool:
    if not os.access(one.folder, os.W_OK | os.X_OK):
        return False
    return one.version == 1 or set(wanted) <= one.passed_on


def _reason(controller: str, seen: list[Hierarchy]) -> str:
    if not seen:
        return f"this system has no control groups that limit {controller}"
    folder = seen[0].folder
    if any(os.access(one.folder, os.W_OK) for one in seen):
        return (
            f"the control groups above {folder} do not pass {controller} on to those below them"
            f" (cgroup.subtree_control)"
        )
    return f"no control group that limits {controller} can be made in or above {folder}"


def _of_kernel(
    controller: str | None, root: Path, transfers: Sequence[TransferLimit]
) -> tuple[tuple[str, str], ...]:
    """Files and what is written into them. In version 1 what the kernel writes back belongs to the
    topmost group, which can be seen unless this is a container."""
    if controller != "blkio":
        return ()
    top = list(hierarchies(controller, root))[-1].folder
    settings = ((top / file, text) for file, text in transfer_settings(1, transfers))
    return tuple((os.fspath(file), text) for file, text in settings if os.access(file, os.W_OK))


def _lift(kernel: Sequence[tuple[str, str]]) -> None:
    for file, text in kernel:
        with contextlib.suppress(OSError):
            Path(file).write_text(lifted(text), encoding="ascii")


def _version(parents: Mapping[str, Hierarchy]) -> int:
    return max(one.version for one in parents.values())


def _noted(groups: Mapping[Path, Hierarchy], kernel: Sequence[tuple[str, str]]) -> str:
    pid = os.getpid()
    found = {
        "pid": pid,
        "process_started": started_at(pid),
        "groups": [os.fspath(group) for group in groups],
        "kernel": list(kernel),
    }
    return json.dumps(found) + "\n"


def _read(note: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
        named = {name: found[name] for name in ("pid", "process_started", "groups")}
        return {**named, "kernel": found.get("kernel", [])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _removed(group: Path) -> bool:
    """Whether a group is gone; its processes are killed first."""
    end = time.monotonic() + PATIENCE
    while group.is_dir():
        for pid in _members(group):
            with contextlib.suppress(psutil.Error):
                signal_found(psutil.Process(pid))
        with contextlib.suppress(OSError):
            group.rmdir()
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(0.05)
    return True


def _members(group: Path) -> list[int]:
    try:
        text = (group / MEMBERS).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return []
    return [int(line) for line in text.split() if line.isdigit()]
