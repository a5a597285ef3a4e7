"""Tables as files, and as a stream to stdout. A file is there whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from teiten.datasets.ssb.rows import binary_file
from teiten.datasets.ssb.rows.blocks import Block, Tally, take_blocks
from teiten.datasets.ssb.rows.native import units
from teiten.datasets.ssb.rows.sizes import expected_bytes
from teiten.datasets.ssb.rows.watch import Watch
from teiten.errors import MachineError, UsageError
from teiten.host.system.pipes import widen_pipe
from teiten.model.ssb import SsbData, SsbFormat, SsbTable, Written

PART_SUFFIX = ".teiten-part"
GB = 10**9
PATIENCE = 1.0
"""Seconds, after Ctrl-C, for a reader of a pipe that does not read."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of writing where a disk, a quota or a file is full."""


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
        _require_space(folder, expected_bytes(data, form))
        folder.mkdir(parents=True, exist_ok=True)
        written = [
            _write_file(data, table, form, part, threads=threads, watch=watch)
            for table, part in parts.items()
        ]
        for table, part in parts.items():
            part.rename(targets[table])
    except OSError as error:
        raise MachineError(
            f"writing to {folder} failed: {error.strerror or error}",
            "free disk space, or name another folder with --to"
            if error.errno in FULL
            else "name a folder that can be made and written to with --to",
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
        widen_pipe(descriptor)
        written = _write(
            data, table, form, descriptor, threads=threads, watch=watch, patience=PATIENCE
        )
        return (written,)
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
        from teiten.datasets.ssb.rows.parquet import write_parquet  # noqa: PLC0415 - slow to import

        return write_parquet(data, table, path, threads, watch)
    with path.open("wb", buffering=0) as file:
        written = _write(data, table, form, file.fileno(), threads=threads, watch=watch)
        os.fsync(file.fileno())
    return written


def _write(
    data: SsbData,
    table: SsbTable,
    form: SsbFormat,
    file: int,
    *,
    threads: int,
    watch: Watch,
    patience: float | None = None,
) -> Written:
    part = data.chunk.range_of(units(data, table))
    tally = Tally(table, watch)

    def take(block: Block) -> None:
        _write_all(file, block.data)
        tally.add(block)

    _write_all(file, binary_file.before(form))
    take_blocks(data, table, form, part, take, threads=threads, patience=patience)
    _write_all(file, binary_file.after(form))
    return tally.written


def _write_all(descriptor: int, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _part(target: Path) -> Path:
    return target.with_name(target.name + PART_SUFFIX)


def _require_space(folder: Path, needed: int) -> None:
    there = next(one for one in (folder.absolute(), *folder.absolute().parents) if one.exists())
    free = shutil.disk_usage(there).free
    if needed > free:
        raise MachineError(
            f"the files take about {needed / GB:.1f} GB, and {folder} has {free / GB:.1f} GB free",
            "free disk space, or choose a smaller --scale, a --chunk, or another folder with --to",
        )
