"""The sampler where there is no server: the machine is sampled all the same."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from teiten.connections import Conninfo, to_own_server
from teiten.execute.probes.os import OsSnapshot
from teiten.execute.probes.os_linux import LinuxReader
from teiten.execute.probes.sampler import OsProbe, Sampler, Sampling, open_reader
from teiten.execute.probes.series import Rhythm
from teiten.model.installation import Version

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc")
NO_SERVER = 2**22 + 1
"""No process has this number: it is beyond the kernel's largest."""
PATIENCE = 300.0


class CountedReader(LinuxReader):
    """Says when the machine was read so many times; the first time is the window's start."""

    def __init__(self, devices: tuple[str, ...], times: int) -> None:
        super().__init__((NO_SERVER,), devices)
        self.left = times
        self.was_read = threading.Event()

    def read(self, at: float, pgbench: int | None) -> OsSnapshot:
        snapshot = super().read(at, pgbench)
        self.left -= 1
        if not self.left:
            self.was_read.set()
        return snapshot


def sample(folder: Path, *devices: str, times: int = 2) -> Sampling:
    reader = CountedReader(devices, times)
    sampler = Sampler(
        conninfo=to_own_server(folder, 5432, "postgres", "postgres"),
        version=Version.parse("18.1"),
        reader=reader,
        interval=0.1,
    )
    sampler.start()
    assert reader.was_read.wait(PATIENCE)
    return sampler.stop()


def missing(sampling: Sampling) -> dict[str, str]:
    values = [dict(caution.values) for caution in sampling.cautions]
    return {value["source"]: value["reason"] for value in values}


def test_a_server_that_is_not_there_is_one_caution(tmp_path: Path) -> None:
    sampling = sample(tmp_path, times=4)
    assert "connection to server on socket" in missing(sampling)["postgres"]
    assert sampling.metrics["server_cpu_share"] == 0
    assert 0 <= sampling.metrics["cpu_idle_share"] <= 1
    series = next(one for one in sampling.series if one.source == "os")
    assert len(series.seconds) >= 3


def test_devices_that_are_not_there_are_told(tmp_path: Path) -> None:
    assert missing(sample(tmp_path, "nodisk9"))["disk:nodisk9"] == "No such file or directory"
    assert missing(sample(tmp_path))["disk"] == "the file system shows no block device"


def test_without_a_start_there_is_nothing_to_stop(tmp_path: Path) -> None:
    reader = open_reader((NO_SERVER,), ("x",))
    sampler = Sampler(conninfo=Conninfo(""), version=Version.parse("18.1"), reader=reader)
    sampling = sampler.stop()
    assert (sampling.series, sampling.metrics) == ((), {})
    assert sampler.stop() is sampling


def test_no_file_stays_open_and_no_thread_runs_on(tmp_path: Path) -> None:
    sample(tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    sample(tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert not [one for one in threading.enumerate() if one.name.startswith("teiten-")]


def test_a_source_that_fails_while_sampling_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "proc/net").mkdir(parents=True)
    (tmp_path / "proc/stat").write_text("cpu 1 0 0 1\ncpu0 1 0 0 1\nctxt 5\nprocs_running 2\n")
    (tmp_path / "proc/meminfo").write_text("MemAvailable: 4 kB\nCached: 4 kB\n")
    (tmp_path / "proc/net/dev").write_text("")
    reader = LinuxReader((NO_SERVER,), (), tmp_path)
    first = reader.read(0.0, None)
    (tmp_path / "proc/stat").write_text("cpu x\n")
    second = reader.read(1.0, None)
    assert first.run_queue == 1
    assert (second.cpu, second.memory_available) == (None, 4096)
    assert "stat" in dict(reader.missing)
    reader.close()


def test_a_defect_ends_the_sampling_and_not_the_trial() -> None:
    class Broken(LinuxReader):
        looks = 0

        def read(self, at: float, pgbench: int | None):  # type: ignore[no-untyped-def]
            self.looks += 1
            if self.looks == 2:
                raise RuntimeError("a defect")
            return super().read(at, pgbench)

    reader = Broken((os.getpid(),), ())
    probe = OsProbe(reader, lambda: None, Rhythm(0.01, time.monotonic, threading.Event()))
    probe.begin()
    probe.run()
    assert "cpu_idle_share" in probe.finish() or probe.series() == ()
    assert ("os", "RuntimeError: a defect") in probe.missing()
