"""lineorder into a server, against COPY of the same rows from prepared files.

The files hold binary COPY, which a server takes in faster than text, and are in the page cache.
They are sent as ``psql`` does, by a client that reads them (as fast as ours), and they are read by
the server itself, which saves the way through a socket. Each goes over as many connections as the
load; all copy with FREEZE where one connection does all, and all begin after a CHECKPOINT, into a
table that does not exist.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.copy import LibpqWriter

from benchmarks.rounds import Ratio, Seconds, ratio
from teiten.connections import to_address
from teiten.datasets.ssb.rows.blocks import Watch
from teiten.datasets.ssb.rows.files import write_files
from teiten.datasets.ssb.rows.load import LoadOptions, create_statement, load
from teiten.datasets.ssb.rows.native import columns
from teiten.datasets.ssb.rows.streaming import BUFFER
from teiten.model.ssb import Chunk, SsbData, SsbFormat, SsbTable

LEAST_LOAD_RATIO = 0.9
FACT = (SsbTable.LINEORDER,)
FROZEN = sql.SQL("FORMAT binary, FREEZE")
NOT_FROZEN = sql.SQL("FORMAT binary")
Copier = Callable[[psycopg.Connection, Path, sql.SQL], None]


def prepare(scale: int, parts: int, folder: Path) -> list[Path]:
    """Files with a part of lineorder each; those that are there are taken as they are."""
    files = []
    for number in range(1, parts + 1):
        data = SsbData(scale, tables=FACT, chunk=Chunk(number, parts))
        wanted = folder / f"lineorder.{number}-of-{parts}.binary"
        if parts == 1:
            wanted = folder / "lineorder.binary"
        if not wanted.exists():
            write_files(data, SsbFormat.BINARY, folder, parts, Watch())
        files.append(wanted)
    return files


def seconds_of_load(dsn: str, data: SsbData, streams: int) -> float:
    """Load as ``teiten data ssb --no-verify`` does."""
    begin = time.perf_counter()
    load(to_address(dsn, {}), data, LoadOptions(streams, verify=False), Watch())
    elapsed = time.perf_counter() - begin
    _clear(dsn)
    return elapsed


def seconds_of_files(
    dsn: str, data: SsbData, files: Sequence[Path], streams: int, copy: Copier
) -> float:
    """COPY the files by one connection after the other, or each by its own."""
    _read(files)
    create = create_statement("lineorder", columns(data, SsbTable.LINEORDER))
    begin = time.perf_counter()
    with psycopg.connect(dsn) as connection:
        connection.execute(create)
        if streams == 1:
            for file in files:
                copy(connection, file, FROZEN)
    if streams > 1:
        with ThreadPoolExecutor(streams) as pool:
            list(pool.map(partial(_copy_alone, dsn, copy), files))
    elapsed = time.perf_counter() - begin
    _clear(dsn)
    return elapsed


def _copy_alone(dsn: str, copy: Copier, file: Path) -> None:
    with psycopg.connect(dsn) as connection:
        copy(connection, file, NOT_FROZEN)


def copy_by_client(connection: psycopg.Connection, path: Path, options: sql.SQL) -> None:
    """As \\copy of psql: the client reads the file and sends it."""
    buffer = memoryview(bytearray(BUFFER))
    statement = sql.SQL("COPY lineorder FROM STDIN ({})").format(options)
    with connection.cursor() as cursor, path.open("rb", buffering=0) as file:
        writer = LibpqWriter(cursor, flush_threshold=0)
        with cursor.copy(statement, writer=writer) as copy:
            while size := file.readinto(buffer):
                copy.write(buffer[:size])


def copy_by_server(connection: psycopg.Connection, path: Path, options: sql.SQL) -> None:
    """The server reads the file."""
    statement = sql.SQL("COPY lineorder FROM {} ({})")
    connection.execute(statement.format(sql.Literal(str(path.absolute())), options))


COPIERS = {"files sent by a client": copy_by_client, "files read by the server": copy_by_server}


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


def label(what: str, streams: int) -> str:
    """A subject's name."""
    return f"{what}, {streams} stream{'s' if streams > 1 else ''}"


def makers(
    dsn: str, scale: int, files: Sequence[Path], streams: Sequence[int]
) -> dict[str, Callable[[], float]]:
    """What is measured, by name."""
    data = SsbData(scale, tables=FACT)
    by_name: dict[str, Callable[[], float]] = {}
    for number in streams:
        for what, copy in COPIERS.items():
            by_name[label(what, number)] = partial(seconds_of_files, dsn, data, files, number, copy)
        by_name[label("load", number)] = partial(seconds_of_load, dsn, data, number)
    return by_name


def ratios(seconds: Seconds, streams: Sequence[int]) -> list[Ratio]:
    """What is told of them."""
    return [
        ratio(
            label(f"load against {what}", number),
            seconds[label(what, number)],
            seconds[label("load", number)],
            LEAST_LOAD_RATIO,
        )
        for number in streams
        for what in COPIERS
    ]
