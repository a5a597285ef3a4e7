"""Waiting for a child process, with the exact CPU time that it used."""

from __future__ import annotations

import signal
import subprocess
import time

from teiten.host.system import processes
from teiten.host.system.waiting import EndSignal, take_end


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
