"""perf itself on a busy process of our own: no server needed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from teiten.execute.load import ExtraWindow
from teiten.execute.probes.perf import PerfError, PerfSession, PerfWay
from teiten.execute.sites.contract import StackSource
from teiten.execute.stacks import Window, sample
from teiten.host.facts.stacks import ProfilingFacts, kernel_allowed, read_profiling_facts
from teiten.model.facts import Caution, Severity
from teiten.model.stacks import CallGraph
from teiten.model.units import Seconds

BUSY = """
import os, sys
sys.stdin.readline()
if os.fork() == 0:
    total = sum(range(12_000_000))
    os._exit(0)
os.wait()
print("done", flush=True)
sys.stdin.readline()
"""
"""Works in a child that it starts when told to, as a postmaster does."""


@pytest.fixture
def facts() -> ProfilingFacts:
    found = read_profiling_facts()
    if found.perf is None or found.system != "linux":
        pytest.skip("perf is not installed: apt-get install linux-perf")
    if not found.is_root and (found.paranoid or 0) > 2:
        pytest.skip(f"kernel.perf_event_paranoid is {found.paranoid}")
    return found


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield process
    process.kill()
    process.communicate()


def work(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    assert process.stdout.readline() == "done\n"


def perfs() -> list[psutil.Process]:
    children = psutil.Process().children(recursive=True)
    return [child for child in children if child.name().startswith("perf")]


def session(facts: ProfilingFacts, pid: int, folder: Path) -> PerfSession:
    way = PerfWay(facts.perf or "perf", CallGraph.DWARF, kernel_allowed(facts), 499)
    return PerfSession(way, [pid], folder)


def test_the_work_of_a_child_that_started_later_is_sampled(
    facts: ProfilingFacts, busy: subprocess.Popen[str], tmp_path: Path
) -> None:
    one = session(facts, busy.pid, tmp_path)
    try:
        one.begin()
        work(busy)
        one.end()
        folded = one.read()
        counters = one.counters()
    finally:
        one.abandon()
    assert folded.stacks.total() > 10
    assert counters["cpu_seconds"] > 0.02
    assert not perfs()
    assert not list(tmp_path.glob("*.data"))


def test_a_process_that_is_gone_is_an_error_with_perfs_words(
    facts: ProfilingFacts, tmp_path: Path
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    one = session(facts, ended.pid, tmp_path)
    with pytest.raises(PerfError) as caught:
        one.begin()
    one.abandon()
    assert caught.value.message
    assert not perfs()


def test_perf_that_dies_in_mid_window_is_a_caution(
    facts: ProfilingFacts, busy: subprocess.Popen[str], tmp_path: Path
) -> None:
    window = Window(
        Seconds(1.0), 1, StackSource(busy.pid, "-O2", "PostgreSQL 18.4"), tmp_path / "profile"
    )

    def load() -> ExtraWindow:
        for each in perfs():
            each.kill()
        work(busy)
        return ExtraWindow(Seconds(1.0), 5.0, ())

    caution = sample(window, facts, load)
    assert isinstance(caution, Caution)
    assert (caution.code, caution.severity) == ("profile-failed", Severity.WARNING)
    assert dict(caution.values)["server"] == "PostgreSQL 18.4"
    assert dict(caution.values)["reason"]
    assert not perfs() and not (tmp_path / "profile").exists()


def test_without_perf_no_load_is_run(busy: subprocess.Popen[str], tmp_path: Path) -> None:
    window = Window(
        Seconds(1.0), 1, StackSource(busy.pid, "", "PostgreSQL 18.4"), tmp_path / "profile"
    )

    def load() -> ExtraWindow:
        raise AssertionError("the load ran for nothing")

    caution = sample(window, ProfilingFacts("linux", None, 2, False), load)
    assert isinstance(caution, Caution)
    assert caution.code == "profile-no-perf"
