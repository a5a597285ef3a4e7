"""Child processes that do not outlive this program, waiting for their end, the CPU time that they
used, and the identity of processes.

A child gets a session (so a process group) of its own: a Ctrl-C of the terminal reaches only this
program, which then ends its children in order. On Linux the kernel also sends the child
``death_signal`` when this program's thread that started it ends, however it ends: start children
from the main thread.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

import psutil

from teiten.host.facts.readings import read_field
from teiten.host.system.affinity import pin_self
from teiten.host.system.detached import mark, wait_for_end
from teiten.host.system.environment import Inherited, child_environment
from teiten.host.system.namespaces import inside
from teiten.host.system.signals import KILL
from teiten.host.system.users import ServerUser, run_as

PR_SET_PDEATHSIG = 1
MEMBERS = "cgroup.procs"
"""The file of a control group that makes a member of a process whose number is written to it."""
if TYPE_CHECKING:
    StandardStream = IO[bytes] | int | None


def own_python(*words: str) -> list[str]:
    """A command of our own Python that imports nothing of the folder that we are in, where others
    may have put a module of any name."""
    return [sys.executable, "-P", *words]


def spawn(
    arguments: Sequence[str | Path],
    *,
    user: ServerUser | None = None,
    library_path: Path | None = None,
    environment: Mapping[str, str] | None = None,
    inherited: Inherited = Inherited.PLAIN,
    folder: Path | None = None,
    stdin: StandardStream = subprocess.DEVNULL,
    stdout: StandardStream = None,
    stderr: StandardStream = None,
    death_signal: signal.Signals = signal.SIGTERM,
    cpus: Collection[int] = (),
    groups: Sequence[Path] = (),
    space: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own that ends with this program.

    ``user``: as whom, where that is another user. ``environment``: variables beside those that it
    inherits. ``cpus``: the processors that it, and all that it starts, is pinned to; empty for all
    of ours. ``groups``: control groups that they are members of from its first instruction.
    ``space``: the network namespace that they are in; None for ours. Raises OSError where it cannot
    be started.
    """
    given = dict(environment or {})
    if inherited is Inherited.PLAIN:  # a person's ssh may keep its connection
        given |= mark()
    doors = [os.open(group / MEMBERS, os.O_WRONLY | os.O_CLOEXEC) for group in groups]
    try:
        with inside(space):
            return subprocess.Popen(
                [os.fspath(argument) for argument in arguments],
                env=child_environment(library_path, given, user=user, inherited=inherited),
                cwd=folder,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=sys.platform != "win32",
                preexec_fn=_before_exec(death_signal, cpus, doors),  # noqa: PLW1509 - all is loaded before fork
                **run_as(user),
            )
    except subprocess.SubprocessError as error:  # what the preparation raised in the child
        asked = [f"be pinned to the processors {sorted(cpus)}"] if cpus else []
        asked += ["enter its control group"] if groups else []
        raise OSError(f"it cannot {' or '.join(asked)}") from error
    finally:
        for door in doors:
            os.close(door)


def killed_after(
    process: subprocess.Popen[bytes], seconds: float | None, grace: float = 0.0
) -> int | None:
    """Wait for a program of ours; one that has not ended by then is ended with its group, as it is
    where we are interrupted. Its exit code; None where it had to be ended. ``grace``: see
    ``end_group``."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            end_group(process, grace)


def end_group(process: subprocess.Popen[bytes], grace: float = 0.0) -> None:
    """End all processes of a child's session: asked first, where they have ``grace`` seconds, then
    killed."""
    try:
        if grace:
            signal_group(process, signal.SIGTERM)
            process.wait(grace)
    except subprocess.TimeoutExpired:
        pass
    finally:
        signal_group(process, KILL)
        process.wait()


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


def runs_as(pid: int, user: int) -> bool:
    """Whether a process is of this user (a uid); on Windows, where files show nobody's, always."""
    if sys.platform == "win32":
        return True
    if sys.platform != "linux":
        return bool(psutil.Process(pid).uids().real == user)
    uids = (read_field(Path(f"/proc/{pid}/status"), "Uid") or "").split()
    return uids[:1] == [str(user)]


def signal_found(process: psutil.Process, signal_number: signal.Signals = KILL) -> None:
    """Send a signal to a process that was found, and to no other that has got its pid since."""
    with contextlib.suppress(psutil.Error, OSError):
        if not hasattr(os, "pidfd_open") or not hasattr(signal, "pidfd_send_signal"):
            process.send_signal(signal_number)
            return
        descriptor = os.pidfd_open(process.pid)
        try:
            if process.is_running():
                signal.pidfd_send_signal(descriptor, signal_number)
        finally:
            os.close(descriptor)


def _before_exec(
    death_signal: signal.Signals, cpus: Collection[int], doors: Sequence[int]
) -> Callable[[], None] | None:
    """Make the function that the child calls between fork and exec, already as its user.

    ``doors``: open lists of members of control groups; whoever opened them had the right to.
    """
    dying = _dying_with_parent(death_signal)
    if not cpus and not doors:
        return dying

    def prepare() -> None:
        for door in doors:
            os.write(door, b"0")  # the writer itself
        if dying is not None:
            dying()
        if cpus:
            pin_self(cpus)

    return prepare


def _dying_with_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def ask_for_signal() -> None:
        # A shell starts what runs in its background with SIGQUIT ignored: until a server has set up
        # its own handling, the request would be lost.
        if death_signal != signal.SIGKILL:  # which nobody ignores
            signal.signal(death_signal, signal.SIG_DFL)
        libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # the parent ended before the request
            os.kill(os.getpid(), signal.SIGKILL)

    return ask_for_signal


def ending(exit_code: int | None) -> str:
    """How a process ended, in words: ``ended with exit code 3``, ``was ended by SIGKILL``."""
    if exit_code is None or exit_code >= 0:
        return f"ended with exit code {exit_code or 0}"
    try:
        return f"was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was ended by signal {-exit_code}"


POLL_SECONDS = 0.02
"""Between two looks where the kernel cannot wake us at the child's end."""


class EndSignal:
    """Wakes at a process's end where the kernel can (Linux), else sleeps a little."""

    def __init__(self, pid: int) -> None:
        self._pidfd = _open_pidfd(pid)

    def wait(self, seconds: float) -> None:
        """At the most ``seconds``, perhaps less."""
        if self._pidfd is not None:
            wait_for_end(self._pidfd, seconds)
        else:
            time.sleep(min(seconds, POLL_SECONDS))

    def close(self) -> None:
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None


def _open_pidfd(pid: int) -> int | None:
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return None  # another system, or a Python that was built for old headers of Linux
    try:
        return os.pidfd_open(pid)
    except OSError:  # an old kernel, or a sandbox
        return None


if sys.platform == "win32":

    def take_end(process: subprocess.Popen[bytes]) -> float | None:
        """Set the exit code of a process that has ended. The CPU seconds of all its threads, as
        they can be seen now: Windows keeps no account of the dead."""
        seconds = None
        try:
            times = psutil.Process(process.pid).cpu_times()
            seconds = times.user + times.system
        except psutil.Error:
            pass
        process.poll()
        return seconds

else:

    def take_end(process: subprocess.Popen[bytes]) -> float | None:
        """Set the exit code of a process that has ended; the exact CPU seconds of all its threads,
        None while it lives."""
        try:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        except ChildProcessError:  # taken by somebody else: the exit code is lost
            process.poll()
            return None
        if not pid:
            return None
        process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime


class Child:
    """A started process: its end, and the CPU time of all its threads (user and system)."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.cpu_seconds = 0.0
        """Exact after the end; on Windows, where the kernel keeps no account of the dead, as last
        seen."""
        self._end = EndSignal(process.pid)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def returncode(self) -> int | None:
        return self.process.returncode

    def end(self, patience: float) -> None:
        """End it with all that it started: asked first, killed after ``patience`` seconds."""
        signal_group(self.process, signal.SIGTERM)
        if not self.wait(patience):
            self.process.kill()
            self.wait(patience)

    def ended(self) -> bool:
        """Whether the process has ended; takes its exit code and its account then."""
        if self.process.returncode is None:
            used = take_end(self.process)
            if used is not None:
                self.cpu_seconds = used
            if self.process.returncode is not None:
                self._end.close()
        return self.process.returncode is not None

    def wait(self, seconds: float) -> bool:
        """Wait this long at most; whether the process has ended. Ctrl-C interrupts it."""
        deadline = time.monotonic() + seconds
        while not self.ended():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._end.wait(left)
        return True
