"""``teiten data ssb``: files, pipes, formats, and what it refuses."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

from teiten.cli.console import Console, Verbosity
from teiten.cli.data import PlainWatch, is_dsn
from teiten.datasets.ssb.rows import native
from teiten.datasets.ssb.rows.blocks import THREAD_BYTES, Block, Watch, take_blocks
from teiten.datasets.ssb.rows.files import write_files
from teiten.datasets.ssb.rows.load import describe
from teiten.datasets.ssb.rows.results import has_known_results, known_results, queries
from teiten.datasets.ssb.rows.streaming import (
    CONNECTION_BYTES,
    StreamCount,
    StreamRoom,
    streams_for,
)
from teiten.errors import MachineError, UsageError
from teiten.host.facts.native_part import how_to_get
from teiten.host.system.files import ROOM, widen_pipe
from teiten.model.ssb import Chunk, SsbData, SsbFormat, SsbTable, SsbVariant
from teiten.model.units import Bytes
from tests.fixtures.schemas import described
from tests.fixtures.verbs import Verbs, verbs_in

pytest.importorskip("teiten_native", reason="the native part is not built: make native")

SMALL = SsbData(0.01)


@pytest.fixture
def teiten(tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]) -> Verbs:
    """Verbs with a working folder beside the test's own folder."""
    return verbs_in(tmp_path_factory.mktemp("work"), capsys)


def started(
    *arguments: str,
    environment: dict[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "teiten", *arguments],
        check=False,
        text=True,
        capture_output=True,
        env=environment,
        preexec_fn=before,
    )


def read(data: SsbData, table: SsbTable, form: SsbFormat, threads: int) -> bytes:
    text = bytearray()
    part = range(native.units(data, table))
    take_blocks(data, table, form, part, lambda block: text.extend(block.data), threads=threads)
    return bytes(text)


@pytest.mark.parametrize("form", [SsbFormat.TBL, SsbFormat.CSV, SsbFormat.BINARY])
def test_any_number_of_threads_writes_the_same(form: SsbFormat) -> None:
    alone = read(SMALL, SsbTable.LINEORDER, form, 1)
    assert read(SMALL, SsbTable.LINEORDER, form, 3) == alone


@pytest.mark.parametrize("threads", [1, 3])
def test_what_taking_raises_ends_all_threads(threads: int) -> None:
    taken = []

    def take(block: Block) -> None:
        taken.append(block.units)
        if len(taken) == 2:
            raise BrokenPipeError

    part = range(native.units(SsbData(0.1), SsbTable.LINEORDER))
    with pytest.raises(BrokenPipeError):
        take_blocks(SsbData(0.1), SsbTable.LINEORDER, SsbFormat.TBL, part, take, threads=threads)
    assert len(taken) == 2
    assert not [one for one in threading.enumerate() if one.name == "teiten-ssb"]


@pytest.mark.parametrize("variant", list(SsbVariant))
def test_csv_and_parquet_hold_the_same(variant: SsbVariant, tmp_path: Path) -> None:
    data = SsbData(0.01, variant)
    write_files(data, SsbFormat.CSV, tmp_path, 2, Watch())
    written = write_files(data, SsbFormat.PARQUET, tmp_path, 2, Watch())
    for path, one in written:
        table = pyarrow.parquet.read_table(path)
        columns = native.columns(data, one.table)
        assert table.column_names == [column.name for column in columns]
        csv = pyarrow.csv.read_csv(
            path.with_suffix(".csv"),
            pyarrow.csv.ReadOptions(column_names=table.column_names),
            convert_options=pyarrow.csv.ConvertOptions(column_types=table.schema),
        )
        assert csv.cast(table.schema).equals(table)
        assert table.num_rows == one.rows
        for column, expected in zip(columns, one.sums, strict=True):
            values = table.column(column.name).to_pylist()
            assert sum(len(v) if column.type == "text" else v for v in values) == expected


def test_files_appear_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "supplier.tbl").touch()
    with pytest.raises(UsageError, match=r"supplier\.tbl exists"):
        write_files(SMALL, SsbFormat.TBL, tmp_path, 1, Watch())
    (tmp_path / "supplier.tbl").unlink()

    class Interrupting(Watch):
        def progress(self, table: SsbTable, units: int, rows: int) -> None:
            if table is SsbTable.LINEORDER:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_files(SMALL, SsbFormat.TBL, tmp_path, 2, Interrupting())
    assert list(tmp_path.iterdir()) == []

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10**9, 10**9, 10**6))
    with pytest.raises(MachineError, match=r"take about 0\.0 GB, .* has 0\.0 GB free"):
        write_files(SMALL, SsbFormat.TBL, tmp_path, 1, Watch())
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6))

    folder = tmp_path / "out"
    ended = started("data", "ssb", "--scale", "1", "--to", str(folder), before=limit)
    assert ended.returncode == 3
    assert "writing to" in ended.stderr and "File too large" in ended.stderr
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told(teiten: Verbs, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = teiten("data", "ssb", "--scale", "0.01", "--to", str(tmp_path / "file" / "folder"))
    assert ended.code == 3
    assert "folder failed: Not a directory" in ended.err
    assert "hint: name a folder that can be made and written to" in ended.err


def test_too_large_for_the_disk(teiten: Verbs, tmp_path: Path) -> None:
    ended = teiten("data", "ssb", "--scale", "10000", "--to", str(tmp_path / "out"))
    assert ended.code == 3
    assert "the files take about" in ended.err and "hint: free disk space" in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--scale", "0"), "--scale 0: scale factor 0 is not above 0"),
        (("--scale", "-3"), "--scale -3: scale factor -3 is not above 0"),
        (("--scale", "nan"), "is not above 0"),
        (("--scale", "1.5"), "has a fraction"),
        (("--scale", "1e9"), "is above 10000"),
        (("--scale", "many"), "'many' is not a valid float"),
        (("--scale", "1", "--table", "lineorders"), "no such table. Did you mean 'lineorder'?"),
        (("--scale", "1", "--chunk", "9/8"), "--chunk 9/8 is not a part of a whole"),
        (("--scale", "1", "--chunk", "0/8"), "--chunk 0/8 is not a part of a whole"),
        (("--scale", "1", "--chunk", "half"), "--chunk half is not a part of a whole"),
        (("--scale", "1", "--streams", "0"), "'--streams'"),
    ],
)
def test_bad_usage_is_told(
    teiten: Verbs, arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    ended = teiten("data", "ssb", *arguments, "--to", str(tmp_path / "out"))
    assert ended.code == 2
    assert message in ended.err and "hint: " in ended.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--to - takes one table"),
        (("--table", "date", "--format", "parquet"), "needs a folder"),
        (("--table", "date", "--json"), "both write to stdout"),
    ],
)
def test_what_a_pipe_cannot_take(teiten: Verbs, arguments: tuple[str, ...], message: str) -> None:
    ended = teiten("data", "ssb", "--scale", "1", "--to", "-", *arguments)
    assert ended.code == 2
    assert message in ended.err and ended.out == ""


def test_a_broken_pipe_ends_quietly() -> None:
    command = f"{sys.executable} -m teiten data ssb --scale 10 --table lineorder --to - | head -1"
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        check=False, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert ended.stdout.startswith("1|1|") and ended.stdout.count("\n") == 1
    assert ended.stderr == ""
    assert ended.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone can do it")
def test_a_pipe_gets_more_room(tmp_path: Path) -> None:
    import fcntl  # noqa: PLC0415 - not on Windows

    reader, writer = os.pipe()
    try:
        widen_pipe(writer)
        assert fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ) == ROOM
    finally:
        os.close(reader)
        os.close(writer)
    with (tmp_path / "file").open("wb") as file:
        widen_pipe(file.fileno())


def test_an_interruption_does_not_wait_for_a_reader() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "teiten", "data", "ssb", "--scale", "10", "--streams", "2",
         "--table", "lineorder", "--to", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.read(1) == b"1"
        os.kill(process.pid, signal.SIGINT)
        process.wait(timeout=300)
        assert (process.returncode, process.stderr.read().strip()) == (130, b"interrupted")


def test_an_interruption_leaves_no_file(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "teiten", "-q", "data", "ssb", "--scale", "20",
         "--table", "lineorder", "--to", str(tmp_path)],
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        part = tmp_path / "lineorder.tbl.teiten-part"
        while process.poll() is None and not (part.exists() and part.stat().st_size):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert stderr.strip() == "interrupted"
    assert list(tmp_path.iterdir()) == []


def test_what_was_written_is_told_as_json(teiten: Verbs, tmp_path: Path) -> None:
    ended = teiten("data", "ssb", "--scale", "0.01", "--table", "supplier", "--table", "date",
                   "--to", str(tmp_path), "--json")  # fmt: skip
    assert described("data ssb", ended.out) == [
        {"table": "supplier", "rows": 20, "file": str(tmp_path / "supplier.tbl")},
        {"table": "date", "rows": 2556, "file": str(tmp_path / "date.tbl")},
    ]


def test_without_the_native_part_the_hint_says_how_to_build_it(tmp_path: Path) -> None:
    (tmp_path / "teiten_native.py").write_text("raise ImportError('not built')")
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    ended = started(
        *("data", "ssb", "--scale", "1", "--to", "out"),
        environment={**os.environ, "PYTHONPATH": paths},
    )
    assert ended.returncode == 3
    assert "error: the native part of Teiten" in ended.stderr
    assert f"hint: {how_to_get()}" in ended.stderr


def test_targets_are_told_apart() -> None:
    assert is_dsn("postgresql://user@host/ssb") and is_dsn("dbname=ssb") and is_dsn("service=x")
    assert not is_dsn("folder") and not is_dsn("/data/ssb")


def test_a_password_is_not_shown() -> None:
    shown = describe("host=db.example dbname=ssb user=me password=secret")
    assert "db.example" in shown and "secret" not in shown
    with pytest.raises(UsageError, match="--to is not a connection string"):
        describe("host=db nonsense=1")


def test_chunks_split_without_gaps() -> None:
    for units in (0, 1, 7, 1_500_000):
        for count in (1, 2, 7, 100):
            ranges = [Chunk(number, count).range_of(units) for number in range(1, count + 1)]
            assert [unit.start for unit in ranges[1:]] == [unit.stop for unit in ranges[:-1]]
            assert (ranges[0].start, ranges[-1].stop) == (0, units)


def test_there_are_13_queries_with_results() -> None:
    names = ["q1.1", "q1.2", "q1.3", "q2.1", "q2.2", "q2.3", "q3.1", "q3.2", "q3.3", "q3.4",
             "q4.1", "q4.2", "q4.3"]  # fmt: skip
    assert list(queries()) == names
    for variant in SsbVariant:
        for scale in (0.01, 0.1, 1):
            assert list(known_results(variant, scale)) == names
        assert known_results(variant, 2) == {}


def test_results_are_known_of_all_rows_only() -> None:
    assert has_known_results(SsbData(1, SsbVariant.PAPER))
    assert not has_known_results(SsbData(1, tables=tuple(SsbTable)[1:]))
    assert not has_known_results(SsbData(1, chunk=Chunk(1, 2)))
    assert not has_known_results(SsbData(3))


ROOMY = StreamRoom(processors=2, available=Bytes(16 * 1024**3))


@pytest.mark.parametrize(
    ("asked", "room", "server", "expected"),
    [
        (None, ROOMY, False, StreamCount(2)),
        (2, ROOMY, False, StreamCount(2)),
        (100_000, ROOMY, False, StreamCount(2, "there are 2 CPUs")),
        (8, ROOMY, True, StreamCount(8)),
        (100_000, ROOMY, True, StreamCount(8, "there are 2 CPUs, of which each keeps up with 4")),
        (3, StreamRoom(1, Bytes(2**34)), False, StreamCount(1, "there is one CPU")),
        (None, StreamRoom(64, Bytes(4 * THREAD_BYTES * 3)), False, StreamCount(3)),
        (None, StreamRoom(64, Bytes(0)), False, StreamCount(1)),
    ],
)
def test_streams_are_bounded_by_processors_and_memory(
    asked: int | None, room: StreamRoom, server: bool, expected: StreamCount
) -> None:
    assert streams_for(asked, room, server=server) == expected


def test_streams_beyond_the_memory_are_told() -> None:
    room = StreamRoom(64, Bytes(4 * CONNECTION_BYTES * 5))
    found = streams_for(100, room, server=True)
    assert found.count == 5 and "memory" in found.bound


@pytest.mark.slow
def test_a_hundred_thousand_streams_take_no_more_memory_than_the_processors_need(
    tmp_path: Path,
) -> None:
    def limited() -> None:  # a hundred thousand buffers would have 460 GB
        resource.setrlimit(resource.RLIMIT_AS, (4 * 1024**3, 4 * 1024**3))

    ended = started(
        *("data", "ssb", "--scale", "0.1", "--streams", "100000", "--to", str(tmp_path / "out")),
        before=limited,
    )
    assert ended.returncode == 0, ended.stderr
    assert "--streams 100000: " in ended.stderr and "CPU" in ended.stderr


def test_threads_without_a_block_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[range] = []

    def counted(data: SsbData, table: SsbTable, form: SsbFormat, part: range) -> native.Rows:
        made.append(part)
        return native.rows(data, table, form, part)

    monkeypatch.setattr("teiten.datasets.ssb.rows.blocks.rows", counted)
    read(SMALL, SsbTable.LINEORDER, SsbFormat.TBL, threads=1000)
    assert len(made) == 4  # 15,000 orders in blocks of 4,096


def test_an_empty_target_is_refused_and_nothing_written(
    teiten: Verbs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = teiten("data", "ssb", "--scale", "0.01", "--to", "")
    assert ended.code == 2
    assert "--to is empty" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_progress_counts_each_table_s_own_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter([0.0, 0.0, 11.0, 22.0])
    monkeypatch.setattr("teiten.cli.data.time.monotonic", lambda: next(now))
    watch = PlainWatch(
        Console(Verbosity.NORMAL, "never"), {SsbTable.CUSTOMER: 300, SsbTable.LINEORDER: 60_000}
    )
    watch.progress(SsbTable.CUSTOMER, 1, 1)
    watch.progress(SsbTable.CUSTOMER, 299, 299)
    watch.progress(SsbTable.LINEORDER, 7_500, 29_850)
    said = capsys.readouterr().err
    assert "customer: 300 of about 300 rows" in said
    assert "lineorder: 29,850 of about 60,000 rows, 22 s left for all tables" in said


@pytest.mark.parametrize(
    ("table", "variant", "key"),
    [
        (SsbTable.CUSTOMER, SsbVariant.REFERENCE, 300_000_000),
        (SsbTable.SUPPLIER, SsbVariant.REPORTS, 100_000_000),
        (SsbTable.LINEORDER, SsbVariant.PAPER, 60_000_000_000),
    ],
)
def test_keys_of_many_digits_are_the_same_in_every_format(
    table: SsbTable, variant: SsbVariant, key: int, tmp_path: Path
) -> None:
    """All columns are compared in crates/ssb/tests/ends.rs; here as files of the last chunk."""
    data = SsbData(10_000, variant, (table,), Chunk(100_000_000, 100_000_000))
    first = []
    for form in (SsbFormat.TBL, SsbFormat.CSV, SsbFormat.PARQUET):
        ((path, written),) = write_files(data, form, tmp_path, 1, Watch())
        if form is SsbFormat.PARQUET:
            keys = pyarrow.parquet.read_table(path).column(0).to_pylist()
        else:
            mark = "|" if form is SsbFormat.TBL else ","
            keys = [int(line.split(mark)[0]) for line in path.read_text().splitlines()]
        assert keys[-1] == key
        assert written.sums[0] == sum(keys)
        first.append(keys)
    assert first[0] == first[1] == first[2]
