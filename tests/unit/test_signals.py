"""Signals that end a program, wherever they meet it."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from teiten.host.system.signals import Interrupted, interruptible, one_interruption

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


class Interrupting:
    """Something whose end is met by a signal, so that Python drops what is raised."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self.number)
        sum(range(1000))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_python_drops_is_raised_anew_and_not_printed(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Interrupted) as raised, interruptible():
        one = Interrupting(number)
        del one
        time.sleep(5)
    assert raised.value.signal == number
    assert "Traceback" not in capsys.readouterr().err


def test_inside_a_campaign_it_is_seen_by_the_next_check() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible(), one_interruption() as interruption:
        one = Interrupting(signal.SIGTERM)
        del one
        assert interruption.requested
        interruption.check()


def test_a_hangup_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible(), one_interruption() as interruption:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not interruption.requested
    finally:
        signal.signal(signal.SIGHUP, before)
