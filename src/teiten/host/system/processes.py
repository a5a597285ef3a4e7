"""Child processes that do not outlive this program, and the identity of processes.

A child gets a session (so a process group) of its own: a Ctrl-C of the terminal reaches only this
program, which then ends its children in order. On Linux the kernel also sends the child
``death_signal`` when this program's thread that started it ends, however it ends: start children
from the main thread.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

import psutil

from teiten.host.system.affinity import pin_self
from teiten.host.system.users import ServerUser

PR_SET_PDEATHSIG = 1
if TYPE_CHECKING:
    StandardStream = IO[bytes] | int | None


def spawn(
    arguments: Sequence[str | Path],
    *,
    user: ServerUser | None = None,
    library_path: Path | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    stdin: StandardStream = subprocess.DEVNULL,
    stdout: StandardStream = None,
    stderr: StandardStream = None,
    death_signal: signal.Signals = signal.SIGTERM,
    cpus: Collection[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own that ends with this program.

    ``user``: as whom, where that is another user. ``cpus``: the processors that it, and all that it
    starts, is pinned to; empty for all of ours. Raises OSError where it cannot be started.
    """
    other = user if user is not None and user.is_other else None
    try:
        return subprocess.Popen(
            [os.fspath(argument) for argument in arguments],
            env=child_environment(library_path, environment),
            cwd=folder,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=sys.platform != "win32",
            user=other.uid if other else None,
            group=other.gid if other else None,
            extra_groups=[] if other else None,
            preexec_fn=_before_exec(death_signal, cpus),  # noqa: PLW1509 - all is loaded before fork
        )
    except subprocess.SubprocessError as error:  # what the preparation raised in the child
        raise OSError(f"it cannot be pinned to the processors {sorted(cpus)}") from error


def child_environment(
    library_path: Path | None = None, environment: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Our environment without PG* variables, so that no setting of the user's shell leaks in."""
    result = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    result["LC_ALL"] = "C"
    if library_path is not None:
        name = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
        known = result.get(name)
        result[name] = f"{library_path}{os.pathsep}{known}" if known else str(library_path)
    result.update(environment or {})
    return result


def signal_group(process: subprocess.Popen[bytes], signal_number: signal.Signals) -> None:
    """Send a signal to all processes of a child's session; nothing where it has ended."""
    if sys.platform == "win32":
        send_signal(process, signal_number)
        return
    try:
        os.killpg(process.pid, signal_number)
    except ProcessLookupError:
        return


def send_signal(process: subprocess.Popen[bytes], signal_number: signal.Signals) -> None:
    """Send a signal to one child; Windows has none, and ends it at once."""
    if sys.platform == "win32":
        process.terminate()
    else:
        process.send_signal(signal_number)


ENDED = frozenset({"zombie", "dead"})
"""psutil's words for a process that has ended; on other hosts there may be no psutil."""


def started_at(pid: int) -> float | None:
    """When a process was started (seconds since the epoch); None where there is none.

    Pid and start together identify a process: pids are used again. One that has ended and that its
    parent has not asked after yet (a zombie) is none: it uses nothing and never will.
    """
    try:
        process = psutil.Process(pid)
        return None if process.status() in ENDED else process.create_time()
    except psutil.Error:
        return None


def _before_exec(death_signal: signal.Signals, cpus: Collection[int]) -> Callable[[], None] | None:
    """What the child does between fork and exec, already as its user."""
    dying = _dying_with_parent(death_signal)
    if not cpus:
        return dying

    def prepare() -> None:
        if dying is not None:
            dying()
        pin_self(cpus)

    return prepare


def _dying_with_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def ask_for_signal() -> None:
        libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # the parent ended before the request
            os.kill(os.getpid(), signal.SIGKILL)

    return ask_for_signal


SERVER_NAME = "postgres"
SAME_START = 5.0
"""Seconds by which a backend's start may differ between the kernel's and the server's account."""


def postmaster_of(backend: int, started: float) -> int | None:
    """The parent of a backend, where that is a process of this machine; else None.

    ``started``: when the server says that the backend began (seconds since the epoch). A server on
    another machine may have a backend of the same pid, but not one of this name and start.
    """
    try:
        process = psutil.Process(backend)
        parent = process.parent()
        if parent is None or abs(process.create_time() - started) > SAME_START:
            return None
        named = process.name().startswith(SERVER_NAME) and parent.name().startswith(SERVER_NAME)
        return parent.pid if named else None
    except psutil.Error:
        return None
