"""Programs that left the process that started them (setsid, a double fork), found and ended.

What Teiten starts carries a mark in its environment, and so does all that it starts in turn. A
process with the mark of ours that is no descendant of this process has left. Linux only: elsewhere
nobody is found.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from teiten.host.facts.kernel import pid_namespace
from teiten.host.system.signals import DYING, KILL

VARIABLE = "TEITEN_STARTED_BY"
_PROC = Path("/proc")
_FURTHER_READS = 3
LONGEST_POLL = 1e6
"""Seconds: poll counts milliseconds in a C int."""


def mark() -> dict[str, str]:
    """The variable by which all that this process starts is known; empty where /proc is missing.

    Pids are used again, and a container has pids of its own: the value has the pid, the start (in
    ticks since the boot) and the pid namespace.
    """
    try:
        return {VARIABLE: f"{os.getpid()}.{_status(os.getpid())[1]}.{pid_namespace()}"}
    except (OSError, ValueError, IndexError):
        return {}


def end_detached(*, of_dead: bool = False) -> int:
    """End at once what left, and wait until it has ended; count it.

    ``of_dead``: also what another Teiten started that has ended since. What a living one started is
    left alone, as is every process without a mark.
    """
    own = mark().get(VARIABLE)
    killed: list[int] = []
    try:
        for pid, value in _marked() if own is not None else ():
            if _has_left(pid) if value == own else of_dead and _is_orphan(value):
                killed += _killed(pid, value)
        end = time.monotonic() + DYING
        for descriptor in killed:
            wait_for_end(descriptor, max(0.0, end - time.monotonic()))
    finally:
        for descriptor in killed:
            os.close(descriptor)
    return len(killed)


def _marked() -> Iterator[tuple[int, str]]:
    for entry in _PROC.iterdir():
        if entry.name.isdecimal():
            value = _value(int(entry.name))
            if value is not None:
                yield int(entry.name), value


def _value(pid: int) -> str | None:
    """The mark of a process; None where it has none, or is not ours to see."""
    begin = f"{VARIABLE}=".encode()
    with suppress(OSError):
        for variable in _environment(_PROC / str(pid)).split(b"\0"):
            if variable.startswith(begin):
                return variable.removeprefix(begin).decode("ascii", "replace")
    return None


def _environment(process: Path) -> bytes:
    """Read the variables of a process, again while it is between two programs: for a moment of
    execve(2) it has none. A kernel thread has neither variables nor a program. Raises OSError."""
    content = (process / "environ").read_bytes()
    for _ in range(_FURTHER_READS):
        if content:
            break
        (process / "exe").readlink()
        time.sleep(0.001)
        content = (process / "environ").read_bytes()
    return content


def _has_left(pid: int) -> bool:
    """Whether a process is neither this one nor below it."""
    with suppress(OSError, ValueError, IndexError):
        while pid > 1:
            if pid == os.getpid():
                return False
            pid, _ = _status(pid)
        return os.getpid() != 1  # as the first process of a container, what left is below it again
    return False


def _is_orphan(value: str) -> bool:
    """Whether the Teiten of a mark, in our pid namespace, has ended."""
    pid, _, rest = value.partition(".")
    started, _, namespace = rest.partition(".")
    if not pid.isdecimal() or namespace != pid_namespace():
        return False
    try:
        return str(_status(int(pid))[1]) != started
    except FileNotFoundError:
        return True
    except (OSError, ValueError, IndexError):
        return False


def _killed(pid: int, value: str) -> list[int]:
    """Kill a process; its descriptor, or nothing where it has ended or the pid is another's now."""
    with suppress(OSError):
        descriptor = os.pidfd_open(pid)
        try:
            if _value(pid) == value:
                signal.pidfd_send_signal(descriptor, KILL)
                return [descriptor]
        except OSError:
            pass
        os.close(descriptor)
    return []


def wait_for_end(descriptor: int, seconds: float) -> None:
    """Wait, so long at most, until a process (a pidfd) has ended: on a busy machine one that was
    killed still runs for a while."""
    poll = select.poll()  # not select(), which refuses descriptors beyond 1023
    poll.register(descriptor, select.POLLIN)
    poll.poll(min(seconds, LONGEST_POLL) * 1000)


def _status(pid: int) -> tuple[int, int]:
    """Parent, and start in ticks since the boot (proc_pid_stat(5)). Raises OSError."""
    text = (_PROC / str(pid) / "stat").read_bytes().decode("ascii", "replace")
    fields = text.rpartition(")")[2].split()  # a name may hold blanks and parentheses
    return int(fields[1]), int(fields[19])
