"""The transaction log's reader: bounded memory and disk, damaged files, what it leaves behind."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pyarrow
import pytest

from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.client.log_folder import CHUNK_BYTES, LogFile, log_paths
from teiten.execute.client.pgbench_log import TransactionLogReader, recording
from teiten.host.system import files

STAT_BLOCK = 512
"""The unit of ``st_blocks``."""
LINE = "3 %d %d 0 1795265030 %06d\n"


def second_of_log(number: int, lines: int) -> bytes:
    """What pgbench writes in a second at ``lines`` transactions per second."""
    return "".join(
        LINE % (number * lines + at, 20 + at % 977, at % 1000000) for at in range(lines)
    ).encode()


def test_the_files_of_the_threads(tmp_path: Path) -> None:
    names = [path.name for path in log_paths(tmp_path, "transactions", 77, 3)]
    assert names == ["transactions.77", "transactions.77.1", "transactions.77.2"]


def test_memory_and_disk_stay_bounded_at_100000_lines_a_second(tmp_path: Path) -> None:
    """Twelve seconds of log: what is held grows neither in memory nor on disk."""
    path = tmp_path / "transactions.1"
    path.touch()
    histogram = LatencyHistogram()
    tail = LogFile(path, recording(histogram))
    lines, held_bytes, held_disk = 100_000, [], []
    data = second_of_log(0, lines)
    with path.open("ab", buffering=0) as writer:
        tracemalloc.start()
        for _ in range(12):
            writer.write(data)
            tracemalloc.reset_peak()
            tail.read()
            held_bytes.append(tracemalloc.get_traced_memory()[1] + pyarrow.total_allocated_bytes())
            held_disk.append(path.stat().st_blocks * STAT_BLOCK)
        tracemalloc.stop()
    tail.close(delete=True)
    assert histogram.count == 12 * lines
    assert max(held_bytes) < 8 * CHUNK_BYTES
    assert max(held_bytes[6:]) <= 1.2 * max(held_bytes[:6])
    if tail.punches:
        assert max(held_disk) < len(data) / 4
    assert list(tmp_path.iterdir()) == []


def test_the_reader_takes_what_comes_and_deletes_it(tmp_path: Path) -> None:
    paths = log_paths(tmp_path, "transactions", 5, 3)
    reader = TransactionLogReader(paths)
    reader.start()
    paths[0].write_bytes(second_of_log(0, 1000))
    paths[1].write_bytes(second_of_log(1, 500) + b"0 9 skipped 0 1 2\n0 9 failed 0 1 2\n")
    summary = reader.stop()
    assert summary.counted == 1500, "without what was skipped or failed"
    assert summary.error is None
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_pgbench_did_not_finish_is_left_out(tmp_path: Path) -> None:
    (path,) = log_paths(tmp_path, "transactions", 5, 1)
    path.write_bytes(second_of_log(0, 10) + b"3 11 40")
    reader = TransactionLogReader([path])
    reader.start()
    assert reader.stop().counted == 10


def test_a_log_of_another_form_is_told(tmp_path: Path) -> None:
    (path,) = log_paths(tmp_path, "transactions", 5, 1)
    path.write_bytes(b"1795265030 5173 many 0\n")
    reader = TransactionLogReader([path])
    reader.start()
    summary = reader.stop()
    assert summary.error is not None
    assert "ArrowInvalid" in summary.error
    assert list(tmp_path.iterdir()) == []


def test_without_holes_the_log_is_counted_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_fallocate", None)
    (path,) = log_paths(tmp_path, "transactions", 5, 1)
    path.write_bytes(second_of_log(0, 10_000))
    reader = TransactionLogReader([path])
    reader.start()
    summary = reader.stop()
    assert summary.counted == 10_000
    assert summary.error is None
