"""Programs that Teiten starts end with it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from teiten.host.system.processes import spawn


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux sends a signal at a parent's end")
def test_a_signal_that_is_ignored_here_is_heeded_by_what_is_started() -> None:
    """A shell ignores SIGQUIT in what it runs in the background; a server that had not yet set up
    its own handling outlived a Teiten that was killed."""
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    try:
        child = spawn(["sleep", "60"], death_signal=signal.SIGQUIT)
    finally:
        signal.signal(signal.SIGQUIT, before)
    try:
        status = Path(f"/proc/{child.pid}/status").read_text("ascii")
        ignored = next(line for line in status.splitlines() if line.startswith("SigIgn:"))
        assert not int(ignored.split()[1], 16) & 1 << (signal.SIGQUIT - 1)
        child.send_signal(signal.SIGQUIT)
        assert child.wait(timeout=120) == -signal.SIGQUIT
    finally:
        child.kill()
        child.wait()


def test_a_program_that_is_to_be_killed_at_our_end_is_started() -> None:
    assert spawn(["true"], death_signal=signal.SIGKILL).wait(timeout=120) == 0
