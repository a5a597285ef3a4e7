"""Waiting for the end of a child, and the CPU time that it used, as each system can."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time

import psutil

from teiten.host.system import processes

POLL_SECONDS = 0.02
"""Between two looks where the kernel cannot wake us at the child's end."""
LONGEST_POLL = 1e6
"""Seconds: poll counts milliseconds in a C int."""


class EndSignal:
    """Wakes at a process's end where the kernel can (Linux), else sleeps a little."""

    def __init__(self, pid: int) -> None:
        self._pidfd = _open_pidfd(pid)

    def wait(self, seconds: float) -> None:
        """At the most ``seconds``, perhaps less."""
        if self._pidfd is not None:
            poll = select.poll()  # not select(), which refuses descriptors beyond 1023
            poll.register(self._pidfd, select.POLLIN)
            poll.poll(min(seconds, LONGEST_POLL) * 1000)
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
        processes.signal_group(self.process, signal.SIGTERM)
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
