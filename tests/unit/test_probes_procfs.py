from __future__ import annotations

from pathlib import Path

import pytest

from teiten.execute.probes.procfs import (
    parse_block_stat,
    parse_memory,
    parse_network,
    parse_pressure,
    parse_process,
    parse_stat,
)

STAT = b"""\
cpu  100 1 50 1000 20 3 4 5 7 0
cpu0 60 1 30 500 10 2 2 3 0 0
cpu11 40 0 20 500 10 1 2 2 0 0
intr 999 1 2 3
ctxt 123456
btime 1700000000
processes 4711
procs_running 3
procs_blocked 1
"""
PROCESS = (
    b"42 (a) (b S 0) R 7 42 42 0 -1 4194560 10 20 0 0 150 50 30 20 20 0 1 0 98765 1000 200 0\n"
)
NETWORK = b"""\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
    lo:    3193      29    0    0    0     0          0         0     3193      29    0
  eth0: 1000   7    0    0    0     0          0         0  2000   1    0
  eth1:5 7 0 0 0 0 0 0 6 1 0
"""


def test_stat() -> None:
    stat = parse_stat(STAT)
    assert stat.cpu == (100, 1, 50, 1000, 20, 3, 4, 5)
    assert stat.cores[11] == (40, 0, 20, 500, 10, 1, 2, 2)
    assert (stat.context_switches, stat.running) == (123456, 3)


def test_stat_of_old_kernels_lacks_states() -> None:
    assert parse_stat(b"cpu 1 2 3 4\n").cpu == (1, 2, 3, 4, 0, 0, 0, 0)


def test_block_device() -> None:
    disk = parse_block_stat(b" 5 0 8 1 7 0 16 2 0 1500 2500 0 0 0 0 0 0\n")
    assert (disk.reads, disk.read_bytes, disk.writes, disk.written_bytes) == (5, 4096, 7, 8192)
    assert (disk.busy_seconds, disk.queue_seconds) == (1.5, 2.5)
    with pytest.raises(ValueError, match="too few fields"):
        parse_block_stat(b"1 2 3")


def test_network_leaves_the_loopback_out() -> None:
    assert parse_network(NETWORK) == (1005, 2006)


def test_pressure() -> None:
    text = b"some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 total=9\n"
    assert parse_pressure(text) == 2.5
    with pytest.raises(ValueError, match="no pressure"):
        parse_pressure(b"")


def test_memory() -> None:
    text = b"MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable: 4 kB\nBuffers: 2 kB\nCached: 3 kB\n"
    assert parse_memory(text) == (4096, 5120)


def test_a_process_may_be_named_anything() -> None:
    process = parse_process(PROCESS)
    assert process.parent == 7
    assert (process.own, process.children, process.started) == (200, 50, 98765)
    assert not process.is_kernel


def test_kernel_threads_are_known_by_their_flag() -> None:
    assert parse_process(PROCESS.replace(b"4194560", b"2129984")).is_kernel


@pytest.mark.parametrize("text", [b"", b"1 (x) S 1", b"no parenthesis"])
def test_what_is_no_process_is_an_error(text: bytes) -> None:
    with pytest.raises(ValueError, match="not a process's stat"):
        parse_process(text)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
def test_this_kernels_own_files() -> None:
    assert len(parse_stat(Path("/proc/stat").read_bytes()).cores) >= 1
    assert parse_memory(Path("/proc/meminfo").read_bytes())[0] > 0
    assert parse_process(Path("/proc/self/stat").read_bytes()).started > 0
    parse_network(Path("/proc/net/dev").read_bytes())
