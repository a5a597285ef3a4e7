"""Tables as files, and as a stream to stdout. A file is there whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from teiten.errors import MachineError, UsageError
from teiten.execute.ssb import binary_file
from teiten.execute.ssb.blocks import Block, add, blocks
from teiten.execute.ssb.native import units
from teiten.execute.ssb.parquet import write_parquet
from teiten.execute.ssb.sizes import expected_bytes
from teiten.execute.ssb.watch import Watch
from teiten.model.ssb import SsbData, SsbFormat, SsbTable, Written

PART_SUFFIX = ".teiten-part"
GB = 10**9


def write_files(
    data: SsbData, form: SsbFormat, folder: Path, threads: int, watch: Watch
) -> tuple[tuple[Path, Written], ...]:
    """Write a file for each table into a folder, which is made where it is missing.

    All files appear at the end, together; where something fails, none does. Raises UsageError where
    a file exists, MachineError where the disk does not suffice or cannot be written.
    """
    targets = {table: folder / file_name(data, table, form) for table in data.tables}
    for target in targets.values():
        if target.exists():
            raise UsageError(f"{target} exists", "remove it, or name another folder with --to")
    parts = {table: _part(target) for table, target in targets.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _require_space(folder, expected_bytes(data, form))
        written = [
            _write_file(data, table, form, part, threads=threads, watch=watch)
            for table, part in parts.items()
        ]
        for table, part in parts.items():
            part.rename(targets[table])
    except OSError as error:
        raise MachineError(
            f"writing to {folder} failed: {error.strerror or error}",
            "free disk space, or name another folder with --to",
        ) from error
    finally:
        for part in parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)
    return tuple(zip(targets.values(), written, strict=True))


def file_name(data: SsbData, table: SsbTable, form: SsbFormat) -> str:
    """``lineorder.tbl``, or ``lineorder.3-of-8.tbl`` for a chunk."""
    chunk = "" if data.chunk.whole else f".{data.chunk.number}-of-{data.chunk.count}"
    return f"{table}{chunk}.{form}"


def write_stream(
    data: SsbData, form: SsbFormat, descriptor: int, threads: int, watch: Watch
) -> tuple[Written, ...]:
    """Write the only table of ``data`` to an open file, such as stdout.

    Raises BrokenPipeError where the reader has gone, MachineError where writing fails otherwise.
    """
    (table,) = data.tables
    try:
        return (_write(data, table, form, descriptor, threads=threads, watch=watch),)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise MachineError(
            f"writing to stdout failed: {error.strerror or error}", "see where the output goes"
        ) from error


def _write_file(
    data: SsbData, table: SsbTable, form: SsbFormat, path: Path, *, threads: int, watch: Watch
) -> Written:
    watch.step(f"writing {table}")
    if form is SsbFormat.PARQUET:
        return write_parquet(data, table, path, threads, watch)
    with path.open("wb", buffering=0) as file:
        written = _write(data, table, form, file.fileno(), threads=threads, watch=watch)
        os.fsync(file.fileno())
    return written


def _write(
    data: SsbData, table: SsbTable, form: SsbFormat, file: int, *, threads: int, watch: Watch
) -> Written:
    part = data.chunk.range_of(units(data, table))
    _write_all(file, binary_file.before(form))

    def through(made: Iterable[Block]) -> Iterable[Block]:
        for block in made:
            _write_all(file, block.data)
            yield block

    written = counted(table, through(blocks(data, table, form, part, threads)), watch)
    _write_all(file, binary_file.after(form))
    return written


def counted(table: SsbTable, made: Iterable[Block], watch: Watch) -> Written:
    """Take all blocks, tell about them and add them up."""
    rows, sums = 0, list[int]()
    for block in made:
        rows += block.rows
        sums = add(sums, block.sums)
        watch.progress(table, block.units, block.rows)
    return Written(table, rows, tuple(sums))


def _write_all(descriptor: int, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _part(target: Path) -> Path:
    return target.with_name(target.name + PART_SUFFIX)


def _require_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise MachineError(
            f"the files take about {needed / GB:.1f} GB, and {folder} has {free / GB:.1f} GB free",
            "free disk space, or choose a smaller --scale, a --chunk, or another folder with --to",
        )
