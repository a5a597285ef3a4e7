"""Limits of what servers and load programs may use together: control groups they start in.

The limit of memory holds for everything that is charged to the group: the servers' own memory,
their shared memory, and the page cache of the files that they read and write. What of these files
is in the page cache already is charged to others, and so must leave it before. Swap is not used in
the limit's place.

A group is noted in the working folder before it is made, so that one that a killed Teiten has left
is found again; only what is noted is removed, and only where nobody but its own processes is in it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from teiten.errors import MachineError
from teiten.execute.sites.local.limit_files import (
    CONTROLLERS,
    CPU_TIME,
    MEMORY,
    NEEDED,
    NO_THROTTLE,
    STORAGE,
    SWAP_1,
    SWAP_2,
    Allowed,
    Throttle,
    TransferLimit,
    lifted,
    oom_kills,
    peak,
    settings,
    transfer_controller,
    transfer_settings,
)
from teiten.execute.sites.local.notes import PREFIX, left_notes, write_note
from teiten.host.facts.cgroups import Hierarchy, hierarchies
from teiten.host.facts.readings import read_text
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import MEMBERS, signal_found
from teiten.model.quantities import format_size
from teiten.model.trial import Problem
from teiten.model.units import Bytes

ENDING = ".limit"
"""Ending of notes in the folder of clusters."""
GROUPS, KERNEL = "groups", "kernel"
PATIENCE = 10.0
"""Seconds that processes may take to leave a group after they were killed."""
HINT = (
    "it needs root, or a control group that was given to this user (systemd-run --user --scope"
    " -p Delegate=yes); or leave the limit out: --memory machine"
)
TRANSFERS_HINT = (
    "begin in a group that was given away: systemd-run --scope -p Delegate=yes teiten … (as root);"
    " or name a folder on another disk: --storage NAME=DIR"
)
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Limit:
    """Groups of this trial, one for each hierarchy that has a controller of it."""

    groups: tuple[Path, ...]
    facts: dict[str, Any]
    """Facts on what was limited, for the ledger."""
    note: Path
    kernel: tuple[tuple[str, str], ...] = ()
    """In version 1, the same limits of a device for what the kernel itself writes to it."""
    throttle: Throttle = NO_THROTTLE

    @classmethod
    def make(cls, workdir: Workdir, allowed: Allowed, root: Path = Path("/")) -> Limit:
        """Raises MachineError where this system or its rights do not permit it; nothing is left
        then."""
        _require_linux()
        parents = _parents(allowed.wanted, root)
        if allowed.counted:
            parents = _with_counting(parents, root)
        name = f"{PREFIX}{os.getpid()}-{next(_numbers)}"
        groups = tuple(dict.fromkeys(parent.folder / name for parent in parents.values()))
        kernel = _of_kernel(allowed, parents, root)
        noted = {GROUPS: list(map(os.fspath, groups)), KERNEL: kernel}
        note = write_note(workdir, f"{name}{ENDING}", noted)
        throttle = Throttle.of(allowed, parents, name)
        made = cls(groups, _facts(allowed, parents, kernel), note, kernel, throttle)
        try:
            for group in groups:
                group.mkdir()
            for what, parent in parents.items():
                _set(parent.folder / name, allowed, what, parent.version)
            for file, text in kernel:
                Path(file).write_text(text, encoding="ascii")
            if allowed.memory is not None:
                _require_no_swap(made.groups, root)
        except MachineError:
            made.remove()
            raise
        except OSError as error:
            made.remove()
            raise MachineError(
                f"the limit of {' and '.join(allowed.wanted)} cannot be set: {error}", HINT
            ) from error
        return made

    def readings(self) -> dict[str, int]:
        """Read what the kernel has counted of memory: the peak in bytes, and the processes that it
        ended because there was no more; as far as it tells."""
        return {
            name: value
            for group in self.groups
            for name, value in (("peak", peak(group)), ("oom_kills", oom_kills(group)))
            if value is not None
        }

    def remove(self) -> None:
        """Give the groups back; what still runs in them is killed. What cannot be removed stays
        noted, and is swept at the next start."""
        _lift(self.kernel)
        gone = [_removed(group) for group in self.groups]
        if all(gone):
            self.note.unlink(missing_ok=True)


def out_of_memory(
    limit: Limit | None, memory: Bytes | None, facts: dict[str, Any]
) -> tuple[Problem, ...]:
    """A problem where the kernel ended processes in a limit of memory, whose readings become facts
    of the trial."""
    if limit is None or memory is None:
        return ()
    readings = facts["memory"] = limit.readings()
    killed = readings.get("oom_kills", 0)
    return (Problem("out-of-memory", f"{killed} in {format_size(memory)}"),) if killed else ()


def require_limits(allowed: Allowed, root: Path = Path("/")) -> None:
    """Raise MachineError where this system or its rights permit no such limit; makes nothing."""
    _require_linux()
    _parents(allowed.wanted, root)


def require_transfers(root: Path = Path("/")) -> None:
    """Raise MachineError where no group of ours could limit the transfers of a device; makes
    nothing. systemd passes ``io`` on below groups that were given away, and nowhere else."""
    transfer_controller(root)
    try:
        require_limits(Allowed(transfers=(TransferLimit("0:0", ()),)), root)
    except MachineError as error:
        raise MachineError(error.message, TRANSFERS_HINT) from error


def sweep_limits(workdir: Workdir, *, ending: bool = False) -> tuple[str, ...]:
    """Remove the groups that a Teiten which has died has left; say which.

    ``ending``: those that this process made go too.
    """
    done = []
    for note, noted in left_notes(workdir, ENDING, ours=ending):
        _lift(noted.get(KERNEL, ()))
        groups = [Path(path) for path in noted.get(GROUPS, ())]
        gone = [group.name.startswith(PREFIX) and _removed(group) for group in groups]
        if all(gone):
            note.unlink(missing_ok=True)
            done += [f"removed the left control group {group}" for group in groups]
    return tuple(done)


def _require_linux() -> None:
    if sys.platform != "linux":
        raise MachineError("only Linux can limit what a server uses", "leave the limit out")


def _facts(
    allowed: Allowed, parents: Mapping[str, Hierarchy], kernel: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    version = max((hierarchy.version for hierarchy in parents.values()), default=None)
    facts: dict[str, Any] = {**allowed.limited, "cgroup": version}
    if allowed.transfers:
        facts["transfers"] = {device.device: dict(device.limits) for device in allowed.transfers}
        facts["kernel_writes_limited"] = bool(kernel) or parents[STORAGE].version != 1
    return facts


def _of_kernel(
    allowed: Allowed, parents: Mapping[str, Hierarchy], root: Path
) -> tuple[tuple[str, str], ...]:
    """Files and what is written into them. In version 1 what the kernel writes back belongs to the
    topmost group, which can be seen unless this is a container."""
    if not allowed.transfers or parents[STORAGE].version != 1:
        return ()
    top = _hierarchies(STORAGE, root)[-1].folder
    settings_1 = ((top / file, text) for file, text in transfer_settings(1, allowed.transfers))
    return tuple((os.fspath(file), text) for file, text in settings_1 if os.access(file, os.W_OK))


def _lift(kernel: Iterable[Sequence[str]]) -> None:
    for file, text in kernel:
        with contextlib.suppress(OSError):
            Path(file).write_text(lifted(text), encoding="ascii")


def _set(group: Path, allowed: Allowed, what: str, version: int) -> None:
    for file, text in settings(allowed, what, version):
        if (group / file).exists() or file in NEEDED:
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


def _parents(wanted: Collection[str], root: Path) -> dict[str, Hierarchy]:
    """By what is limited, the nearest group from ours upwards in which one for it can be made."""
    seen = {what: _hierarchies(what, root) for what in wanted}
    for what, levels in seen.items():  # first by itself, so that the reason names what is lacking
        if not any(_is_ours_to_divide(hierarchy, (what,)) for hierarchy in levels):
            raise MachineError(_reason(what, levels), HINT)
    chosen = {}
    for what, levels in seen.items():
        fitting = [hierarchy for hierarchy in levels if _is_ours_to_divide(hierarchy, wanted)]
        if not fitting:
            raise MachineError(_reason(" and ".join(wanted), levels), HINT)
        chosen[what] = fitting[0]
    by_folder = {hierarchy.folder: hierarchy for hierarchy in chosen.values()}
    return {what: by_folder[hierarchy.folder] for what, hierarchy in chosen.items()}


def _hierarchies(what: str, root: Path) -> list[Hierarchy]:
    names = [name for name in dict.fromkeys(CONTROLLERS[what]) if name]
    return [hierarchy for name in names for hierarchy in hierarchies(name, root)]


def _with_counting(parents: dict[str, Hierarchy], root: Path) -> dict[str, Hierarchy]:
    """Also what is counted alone, as far as there are controllers that let us."""
    for what in (MEMORY, STORAGE, CPU_TIME):
        with contextlib.suppress(MachineError):
            parents = _parents(tuple(dict.fromkeys((*parents, what))), root)
    return parents


def _is_ours_to_divide(hierarchy: Hierarchy, wanted: Collection[str]) -> bool:
    if not os.access(hierarchy.folder, os.W_OK | os.X_OK):
        return False
    return (
        hierarchy.version == 1
        or {CONTROLLERS[what][1] for what in wanted} - {""} <= hierarchy.passed_on
    )


def _reason(what: str, seen: list[Hierarchy]) -> str:
    if not seen:
        return f"this system has no control groups that limit {what}"
    folder = seen[0].folder
    if any(os.access(hierarchy.folder, os.W_OK) for hierarchy in seen):
        return (
            f"the control groups above {folder} do not pass {what} on to those below them"
            f" (cgroup.subtree_control)"
        )
    return f"no control group that limits {what} can be made in or above {folder}"


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
    return [int(line) for line in (read_text(group / MEMBERS) or "").split() if line.isdigit()]
