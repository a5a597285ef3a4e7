"""Waiting for a child process, with the exact CPU time that it used."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time

import psutil

POLL_SECONDS = 0.02
"""Between two looks where the kernel cannot wake us at the child's end."""


class Child:
    """A started process: its end, and the CPU time of all its threads (user and system)."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.cpu_seconds = 0.0
        """Exact after the end; on Windows, where the kernel keeps no account of the dead, as last
        seen."""
        self._pidfd = _open_pidfd(process.pid)

    def ended(self) -> bool:
        """Whether the process has ended; takes its exit code and its account then."""
        if self.process.returncode is None:
            _take(self)
            if self.process.returncode is not None and self._pidfd is not None:
                os.close(self._pidfd)
                self._pidfd = None
        return self.process.returncode is not None

    def wait(self, seconds: float) -> bool:
        """Wait this long at most; whether the process has ended. Ctrl-C interrupts it."""
        deadline = time.monotonic() + seconds
        while not self.ended():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._sleep(left)
        return True

    def _sleep(self, left: float) -> None:
        if self._pidfd is not None:
            poll = select.poll()  # not select(), which refuses descriptors beyond 1023
            poll.register(self._pidfd, select.POLLIN)
            poll.poll(left * 1000)
        else:
            time.sleep(min(left, POLL_SECONDS))


def _open_pidfd(pid: int) -> int | None:
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:  # an old kernel, or a sandbox
        return None


if sys.platform == "win32":

    def _take(child: Child) -> None:
        try:
            times = psutil.Process(child.process.pid).cpu_times()
            child.cpu_seconds = times.user + times.system
        except psutil.Error:
            pass
        child.process.poll()

else:

    def _take(child: Child) -> None:
        try:
            pid, status, usage = os.wait4(child.process.pid, os.WNOHANG)
        except ChildProcessError:  # taken by somebody else: the exit code is lost
            child.process.poll()
            return
        if pid:
            child.process.returncode = os.waitstatus_to_exitcode(status)
            child.cpu_seconds = usage.ru_utime + usage.ru_stime
