"""Programs that left their session end with what started them; nobody else's do."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from teiten.execute.postgres.remains import is_alive
from teiten.host.system.detached import VARIABLE, end_detached, mark
from teiten.host.system.processes import spawn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="found in /proc")
LEAVES = "setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $!"
PATIENCE = 60.0


@pytest.fixture
def started() -> Iterator[list[psutil.Process]]:
    """Processes that are ended after the test, whatever became of them."""
    processes: list[psutil.Process] = []
    yield processes
    for process in processes:
        if process.is_running():
            process.kill()


def leave(environment: dict[str, str] | None = None) -> psutil.Process:
    """A process whose parent has ended: started by us, or by another with this environment."""
    if environment is None:
        shell = spawn(["sh", "-c", LEAVES], stdout=subprocess.PIPE)
    else:
        shell = subprocess.Popen(["sh", "-c", LEAVES], stdout=subprocess.PIPE, env=environment)
    output, _ = shell.communicate(timeout=PATIENCE)
    process = psutil.Process(int(output))
    wait_until(lambda: process.name() == "sleep")
    return process


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_left_its_session_is_ended_and_what_did_not_is_not(
    started: list[psutil.Process],
) -> None:
    left = leave()
    child = spawn(["sleep", "300"])
    unmarked = leave({"PATH": os.environ["PATH"]})
    started += [left, psutil.Process(child.pid), unmarked]
    assert end_detached() >= 1
    assert not is_alive(left)
    assert child.poll() is None and unmarked.is_running()
    child.kill()
    child.wait()


def test_what_a_living_teiten_started_is_left_alone_and_what_a_dead_one_did_is_not(
    started: list[psutil.Process],
) -> None:
    own = mark()[VARIABLE]
    namespace = own.rpartition(".")[2]
    parent = os.getppid()
    ticks = own.split(".")[1]
    status = Path(f"/proc/{parent}/stat").read_text("ascii", "replace")
    parents_start = status.rpartition(")")[2].split()[19]
    path = {"PATH": os.environ["PATH"]}
    of_living = leave({**path, VARIABLE: f"{parent}.{parents_start}.{namespace}"})
    of_dead = leave({**path, VARIABLE: f"{parent}.{int(ticks) + 10**9}.{namespace}"})
    elsewhere = leave({**path, VARIABLE: f"{parent}.{int(ticks) + 10**9}.1"})
    started += [of_living, of_dead, elsewhere]
    end_detached()
    assert all(process.is_running() for process in started)
    end_detached(of_dead=True)
    of_dead.wait(PATIENCE)
    assert of_living.is_running() and elsewhere.is_running()
