"""lineorder into a server, against COPY of the same rows from prepared files.

The files hold binary COPY, which a server takes in faster than text, and are in the page cache. A
client as fast as ours sends them, over as many connections; both copy with FREEZE where one
connection does all, and both begin after a CHECKPOINT, into a table that does not exist.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.copy import LibpqWriter

from benchmarks.ssb.rounds import Ratio, Seconds, ratio
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.installations import find_installations, resolve
from teiten.execute.ssb.binary_file import SIGNATURE, TRAILER
from teiten.execute.ssb.files import write_files
from teiten.execute.ssb.load import LoadOptions, create_statement, load
from teiten.execute.ssb.native import columns
from teiten.execute.ssb.streaming import BUFFER
from teiten.execute.ssb.watch import Unwatched
from teiten.host.paths import Workdir
from teiten.host.users import server_user
from teiten.model.ssb import Chunk, SsbData, SsbFormat, SsbTable

LEAST_LOAD_RATIO = 0.9
FACT = (SsbTable.LINEORDER,)


def prepare(scale: int, parts: int, folder: Path) -> list[Path]:
    """Files with a part of lineorder each; those that are there are taken as they are."""
    files = []
    for number in range(1, parts + 1):
        data = SsbData(scale, tables=FACT, chunk=Chunk(number, parts))
        wanted = folder / f"lineorder.{number}-of-{parts}.binary"
        if parts == 1:
            wanted = folder / "lineorder.binary"
        if not wanted.exists():
            write_files(data, SsbFormat.BINARY, folder, parts, Unwatched())
        files.append(wanted)
    return files


def seconds_of_load(dsn: str, data: SsbData, streams: int) -> float:
    """Load as ``teiten data ssb --no-verify`` does."""
    begin = time.perf_counter()
    load(dsn, data, LoadOptions(streams, verify=False), Unwatched())
    elapsed = time.perf_counter() - begin
    _clear(dsn)
    return elapsed


def seconds_of_files(dsn: str, data: SsbData, files: Sequence[Path], streams: int) -> float:
    """COPY the files by one connection after the other, or each by its own."""
    _read(files)
    create = create_statement("lineorder", columns(data, SsbTable.LINEORDER))
    begin = time.perf_counter()
    with psycopg.connect(dsn) as connection:
        connection.execute(create)
        if streams == 1:
            _copy(connection, files, freeze=True)
    if streams > 1:
        with ThreadPoolExecutor(streams) as pool:
            list(pool.map(partial(_copy_alone, dsn), files))
    elapsed = time.perf_counter() - begin
    _clear(dsn)
    return elapsed


def _copy_alone(dsn: str, file: Path) -> None:
    with psycopg.connect(dsn) as connection:
        _copy(connection, [file], freeze=False)


def _copy(connection: psycopg.Connection, files: Sequence[Path], *, freeze: bool) -> None:
    options = sql.SQL("FORMAT binary, FREEZE" if freeze else "FORMAT binary")
    statement = sql.SQL("COPY lineorder FROM STDIN ({})").format(options)
    buffer = memoryview(bytearray(BUFFER))
    with connection.cursor() as cursor:
        writer = LibpqWriter(cursor, flush_threshold=0)
        with cursor.copy(statement, writer=writer) as copy:
            copy.write(SIGNATURE)
            for path in files:
                rest = path.stat().st_size - len(SIGNATURE) - len(TRAILER)
                with path.open("rb", buffering=0) as file:
                    file.seek(len(SIGNATURE))
                    while rest and (size := file.readinto(buffer[: min(rest, BUFFER)])):
                        copy.write(buffer[:size])
                        rest -= size
            copy.write(TRAILER)


def _read(files: Sequence[Path]) -> None:
    """Bring the files into the page cache."""
    buffer = bytearray(BUFFER)
    for path in files:
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def _clear(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE lineorder")
        connection.execute("CHECKPOINT")


@contextmanager
def a_server(server: str, workdir: Path, folder: Path) -> Iterator[str]:
    """A connection string of a new server with the settings of initdb."""
    cluster = Cluster.create(
        resolve(server, find_installations(Workdir(workdir))),
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


def label(what: str, streams: int) -> str:
    """A subject's name."""
    return f"{what}, {streams} stream{'s' if streams > 1 else ''}"


def makers(
    dsn: str, scale: int, files: Sequence[Path], streams: Sequence[int]
) -> dict[str, Callable[[], float]]:
    """What is measured, by name."""
    data = SsbData(scale, tables=FACT)
    found: dict[str, Callable[[], float]] = {}
    for number in streams:
        found[label("COPY of files", number)] = partial(seconds_of_files, dsn, data, files, number)
        found[label("load", number)] = partial(seconds_of_load, dsn, data, number)
    return found


def ratios(seconds: Seconds, streams: Sequence[int]) -> list[Ratio]:
    """What is told of them."""
    return [
        ratio(
            label("load against COPY of files", number),
            seconds[label("COPY of files", number)],
            seconds[label("load", number)],
            LEAST_LOAD_RATIO,
        )
        for number in streams
    ]
