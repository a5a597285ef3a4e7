"""Star Schema Benchmark data: rates against references measured in the same run, in alternation.

``python -m benchmarks.ssb [--tpchgen PATH] [--server 18] [--scale 1] [--repeats 3]``

- lineorder to a pipe, as text and as binary COPY, with one thread and with all CPUs, against
  lineitem by ``tpchgen-cli`` (``cargo install tpchgen-cli --root DIR``) with one thread;
- lineorder into a server, with one stream and with as many as CPUs, against COPY of the same rows
  by the same client from binary files in the page cache.

Exit code 1 where text is not 6 times tpchgen-cli's rate with one thread, or where a load is not 0.9
of the files' rate. The start of each program is part of its time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.copy import LibpqWriter

from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.installations import find_installations, resolve
from teiten.execute.ssb.files import write_files
from teiten.execute.ssb.load import LoadOptions, create_statement, load
from teiten.execute.ssb.native import columns
from teiten.execute.ssb.streaming import BUFFER
from teiten.execute.ssb.watch import Unwatched
from teiten.host.paths import Workdir, default_workdir
from teiten.host.users import server_user
from teiten.model.ssb import Chunk, SsbData, SsbFormat, SsbTable

LEAST_TEXT_RATIO = 6.0
LEAST_LOAD_RATIO = 0.9
ROWS = 6_001_215
"""Rows of lineorder and of lineitem at scale factor 1; both grow with it."""
FACT = (SsbTable.LINEORDER,)
CPUS = len(os.sched_getaffinity(0))


def seconds_of_pipe(command: list[str]) -> float:
    """Run a program with its output through a pipe to a reader that throws it away."""
    begin = time.perf_counter()
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as maker,
        subprocess.Popen(["cat"], stdin=maker.stdout, stdout=subprocess.DEVNULL) as reader,
    ):
        assert maker.stdout is not None
        maker.stdout.close()
        reader.wait()
        maker.wait()
    assert maker.returncode == 0, command
    return time.perf_counter() - begin


def our_command(scale: int, form: SsbFormat, threads: int) -> list[str]:
    return [
        *(sys.executable, "-m", "teiten", "-q", "data", "ssb", "--table", "lineorder"),
        *("--scale", str(scale), "--format", form, "--streams", str(threads), "--to", "-"),
    ]


def pipe_makers(scale: int, tpchgen: Path | None) -> dict[str, Callable[[], float]]:
    """What is measured with a pipe, by name."""
    commands = {
        f"{form} to a pipe, {threads} threads": our_command(scale, form, threads)
        for form in (SsbFormat.TBL, SsbFormat.BINARY)
        for threads in sorted({1, CPUS})
    }
    if tpchgen is not None:
        commands["tpchgen-cli lineitem, 1 thread"] = [
            *(str(tpchgen), "--scale-factor", str(scale), "--tables", "lineitem"),
            *("--format", "tbl", "--num-threads", "1", "--stdout"),
        ]
    return {name: partial(seconds_of_pipe, command) for name, command in commands.items()}


def seconds_of_load(dsn: str, data: SsbData, streams: int) -> float:
    """Load lineorder as ``teiten data ssb --no-verify`` does."""
    begin = time.perf_counter()
    load(dsn, data, LoadOptions(streams, verify=False), Unwatched())
    elapsed = time.perf_counter() - begin
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE lineorder")
        connection.execute("CHECKPOINT")
    return elapsed


def seconds_of_files(dsn: str, data: SsbData, files: list[Path]) -> float:
    """COPY of prepared files, one connection each; FREEZE where there is one, as in a load."""
    begin = time.perf_counter()
    with psycopg.connect(dsn) as connection:
        connection.execute(create_statement("lineorder", columns(data, SsbTable.LINEORDER)))
        if len(files) == 1:
            copy_file(connection, files[0], freeze=True)
    if len(files) > 1:
        with ThreadPoolExecutor(len(files)) as pool:
            list(pool.map(lambda file: copy_alone(dsn, file), files))
    elapsed = time.perf_counter() - begin
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE lineorder")
        connection.execute("CHECKPOINT")
    return elapsed


def copy_alone(dsn: str, path: Path) -> None:
    with psycopg.connect(dsn) as connection:
        copy_file(connection, path, freeze=False)


def copy_file(connection: psycopg.Connection, path: Path, *, freeze: bool) -> None:
    options = sql.SQL("FORMAT binary, FREEZE" if freeze else "FORMAT binary")
    statement = sql.SQL("COPY lineorder FROM STDIN ({})").format(options)
    buffer = memoryview(bytearray(BUFFER))
    with connection.cursor() as cursor, path.open("rb", buffering=0) as file:
        writer = LibpqWriter(cursor, flush_threshold=0)
        with cursor.copy(statement, writer=writer) as copy:
            while size := file.readinto(buffer):
                copy.write(buffer[:size])


@contextmanager
def a_server(server: str, workdir: Path, folder: Path) -> Iterator[str]:
    installation = resolve(server, find_installations(Workdir(workdir)))
    cluster = Cluster.create(
        installation,
        folder / "cluster" / "data",
        user=server_user(),
        checksums=False,
        log=folder / "cluster" / "server.log",
    )
    try:
        cluster.start()
        yield cluster.conninfo("postgres")
    finally:
        cluster.remove()


def load_makers(dsn: str, scale: int, folder: Path) -> dict[str, Callable[[], float]]:
    """What is measured with a server, by name; writes the files."""
    makers: dict[str, Callable[[], float]] = {}
    whole = SsbData(scale, tables=FACT)
    for streams in sorted({1, CPUS}):
        chunks = [
            SsbData(scale, tables=FACT, chunk=Chunk(number, streams))
            for number in range(1, streams + 1)
        ]
        files = [
            path
            for chunk in chunks
            for path, _ in write_files(chunk, SsbFormat.BINARY, folder / "files", CPUS, Unwatched())
        ]
        makers[f"files, {streams} streams"] = partial(seconds_of_files, dsn, whole, files)
        makers[f"load, {streams} streams"] = partial(seconds_of_load, dsn, whole, streams)
    return makers


def measured(makers: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """The median seconds of each; the order turns round with every repeat."""
    seconds: dict[str, list[float]] = {name: [] for name in makers}
    for repeat in range(repeats):
        for name in list(makers)[:: -1 if repeat % 2 else 1]:
            seconds[name].append(makers[name]())
    return {name: statistics.median(values) for name, values in seconds.items()}


def told(seconds: Mapping[str, float], rows: int) -> None:
    for name, value in seconds.items():
        print(f"{name:<32} {value:>8.2f} s {rows / value / 1e6:>8.2f} M rows/s")


def compared(name: str, ratio: float, least: float) -> bool:
    print(f"{name:<32} {ratio:>8.2f}   (at least {least:g})")
    return ratio >= least


def main() -> int:
    arguments = _arguments()
    rows = ROWS * arguments.scale
    seconds = measured(pipe_makers(arguments.scale, arguments.tpchgen), arguments.repeats)
    with tempfile.TemporaryDirectory(prefix="teiten-ssb-", dir=arguments.disk) as name:
        folder = Path(name)
        folder.chmod(0o755)
        with a_server(arguments.server, arguments.workdir, folder) as dsn:
            seconds |= measured(load_makers(dsn, arguments.scale, folder), arguments.repeats)
    told(seconds, rows)
    good = [
        compared(
            f"load against files, {streams}",
            seconds[f"files, {streams} streams"] / seconds[f"load, {streams} streams"],
            LEAST_LOAD_RATIO,
        )
        for streams in sorted({1, CPUS})
    ]
    reference = seconds.get("tpchgen-cli lineitem, 1 thread")
    if reference is None:
        print("tpchgen-cli is not here: cargo install tpchgen-cli --root DIR, then --tpchgen PATH")
    else:
        ratio = reference / seconds["tbl to a pipe, 1 threads"]
        good.append(compared("text against tpchgen-cli", ratio, LEAST_TEXT_RATIO))
    return 0 if all(good) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.ssb")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--server", default="18", help="as in a study")
    parser.add_argument("--tpchgen", type=_program, help="tpchgen-cli, where it is not in PATH")
    parser.add_argument("--workdir", type=Path, default=default_workdir(), help="installations")
    parser.add_argument("--disk", type=Path, help="folder on the disk to measure")
    parser.set_defaults(tpchgen=_program("tpchgen-cli"))
    return parser.parse_args()


def _program(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


if __name__ == "__main__":
    sys.exit(main())
