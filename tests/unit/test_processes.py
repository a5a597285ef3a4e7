"""Programs that Teiten starts end with it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from teiten.execute.client.paired import in_words
from teiten.host.system.processes import ending, spawn


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


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (3, "ended with exit code 3"),
        (-9, "was ended by SIGKILL"),
        (-250, "was ended by signal 250"),
        (None, "ended with exit code 0"),
    ],
)
def test_how_a_process_ended_is_told_in_words(code: int | None, words: str) -> None:
    assert ending(code) == words


def test_the_generators_errors_have_no_numbers_of_the_system() -> None:
    assert in_words("b: Resource temporarily unavailable (os error 11)") == (
        "b: the server did not answer in time"
    )
    assert in_words("a: Connection refused (os error 111)") == "a: Connection refused"
