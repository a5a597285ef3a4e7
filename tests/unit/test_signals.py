"""Signals that end a program, wherever they meet it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from pydantic_core import SchemaError

from teiten.cli.failures import report_failure
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
        begun = time.monotonic()
        time.sleep(60)  # the wait is ended, and not waited for
    assert time.monotonic() - begun < 30
    assert raised.value.signal == number
    assert "Traceback" not in capsys.readouterr().err


def test_inside_a_campaign_it_is_seen_by_the_next_check() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible(), one_interruption() as interruption:
        one = Interrupting(signal.SIGTERM)
        del one
        assert interruption.requested
        interruption.check()


def test_a_first_signal_waits_where_it_is_held_and_a_second_one_does_not() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), interruptible(), one_interruption() as interruption:
        with interruption.held():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("held")
        done.append("not reached")
    assert done == ["held"]
    with (
        pytest.raises(Interrupted),
        interruptible(),
        one_interruption() as interruption,
        interruption.held(),
    ):
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        done.append("not reached")
    assert done == ["held"]


def test_a_signal_that_was_raised_is_not_raised_again_by_what_follows() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), interruptible(), one_interruption() as interruption:
        try:
            with interruption.held():
                os.kill(os.getpid(), signal.SIGTERM)
                interruption.check()
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            with interruption.held():
                done.append("cleaned up")
    assert done == ["cleaned up"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM])
def test_what_is_ignored_from_the_beginning_stays_ignored(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with interruptible(), one_interruption() as interruption:
            os.kill(os.getpid(), number)
            assert not interruption.requested
        assert signal.getsignal(number) == signal.SIG_IGN
    finally:
        signal.signal(number, before)


WAITING = """
import sys, click
from teiten.cli import main as module
from teiten.start import run
@click.command()
def wait():
    print("waiting", flush=True)
    sys.stdin.read()
module.teiten.get_command = lambda context, name: wait
module.VERBS = {"wait": "wait"}
sys.argv = ["teiten", "wait"]
run()
"""


@pytest.mark.parametrize("name", ["INT", "HUP", "TERM"])
@pytest.mark.parametrize("ignored", [True, False])
def test_a_program_whose_shell_ignores_a_signal_goes_on(name: str, ignored: bool) -> None:
    """``trap '' INT; teiten run …``, from its first moment to its last."""
    trap = f"trap '' {name}; " if ignored else ""
    with subprocess.Popen(
        ["sh", "-c", f'{trap}exec "$@"', "sh", sys.executable, "-c", WAITING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "waiting\n", process.stderr.read()
        process.send_signal(getattr(signal, f"SIG{name}"))
        if ignored:
            assert process.stdin is not None
            process.stdin.close()  # its wait is over
        said = process.stderr.read()
    assert process.returncode == (0 if ignored else 130), said
    assert ("interrupted" in said) != ignored


def test_an_interruption_that_pydantic_made_an_error_of_is_none_of_ours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = SchemaError('Error building "enum" validator:\n  Interrupted: ')
    assert report_failure(error) == 130
    assert capsys.readouterr().err == "interrupted\n"
