"""Tables as files (Parquet: the CSV of the generator through pyarrow), and as a stream to stdout. A
file is there whole or not at all."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from teiten.datasets.ssb.rows.blocks import Block, Taker, Watch, take_blocks
from teiten.datasets.ssb.rows.native import SIGNATURE, TRAILER, columns, units
from teiten.datasets.ssb.rows.sizes import expected_bytes, require_free
from teiten.errors import MachineError, UsageError
from teiten.host.facts.disks import nearest_existing
from teiten.host.system.files import widen_pipe, write_all
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.target_folder import new_file, target_folder
from teiten.model.ssb import SsbData, SsbFormat, SsbTable, Written

PART_SUFFIX = ".teiten-part"
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
    names = {table: file_name(data, table, form) for table in data.tables}
    for name in names.values():
        if os.path.lexists(folder / name):
            raise UsageError(
                f"{folder / name} exists", "remove it, or name another folder with --to"
            )
    try:
        require_free(
            expected_bytes(data, form),
            "the files take",
            folder,
            "free disk space, or choose a smaller --scale, a --chunk, or another folder with --to",
            nearest_existing(folder),
        )
        with target_folder(folder) as target:
            written = _write_tables(TableWriting(data, form, threads, watch), target, names)
    except OSError as error:
        raise MachineError(
            f"writing to {folder} failed: {error.strerror or error}",
            "free disk space, or name another folder with --to"
            if error.errno in FULL
            else "name a folder that can be made and written to with --to",
        ) from error
    targets = [folder / name for name in names.values()]
    return tuple(zip(targets, written, strict=True))


def _write_tables(
    writing: TableWriting, target: HeldFolder, names: Mapping[SsbTable, str]
) -> list[Written]:
    """Write the tables to files that get their names when all are whole; those that a killed call
    has left are replaced."""
    parts = {table: name + PART_SUFFIX for table, name in names.items()}
    try:
        written = []
        for table, part in parts.items():
            target.unlink(part)
            with new_file(target, part) as file:
                written.append(writing.to_file(table, file))
        for table, part in parts.items():
            target.rename(part, names[table])
    finally:
        for part in parts.values():
            with suppress(OSError):
                target.unlink(part)
    return written


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
        writing = TableWriting(data, form, threads, watch, PATIENCE)
        return (writing.to_descriptor(table, descriptor),)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise MachineError(
            f"writing to stdout failed: {error.strerror or error}", "see where the output goes"
        ) from error


ROW_GROUP = 500_000
"""Rows of a row group, about; they are held in memory."""
TYPES = {"integer": pa.int32(), "bigint": pa.int64(), "text": pa.string()}


@dataclass(frozen=True)
class TableWriting:
    """Writes tables, or their chunks, in one format."""

    data: SsbData
    form: SsbFormat
    threads: int
    watch: Watch
    patience: float | None = None
    """Seconds for whoever does not read what was written, after a failure; None for a file."""

    def to_file(self, table: SsbTable, file: IO[bytes]) -> Written:
        self.watch.step(f"writing {table}")
        if self.form is SsbFormat.PARQUET:
            return self._as_parquet(table, file)
        written = self.to_descriptor(table, file.fileno())
        os.fsync(file.fileno())
        return written

    def to_descriptor(self, table: SsbTable, descriptor: int) -> Written:
        def give(block: Block) -> None:
            write_all(descriptor, block.data)

        before, after = (SIGNATURE, TRAILER) if self.form is SsbFormat.BINARY else (b"", b"")
        write_all(descriptor, before)
        written = self._made(table, self.form, give)
        write_all(descriptor, after)
        return written

    def _as_parquet(self, table: SsbTable, file: IO[bytes]) -> Written:
        """Write with row groups of ``ROW_GROUP`` rows."""
        fields = columns(self.data, table)
        schema = pa.schema(
            [pa.field(column.name, TYPES[column.type], nullable=False) for column in fields]
        )
        with pyarrow.parquet.ParquetWriter(file, schema) as writer:
            groups = _Groups(writer, schema)
            written = self._made(table, SsbFormat.CSV, groups.add)
            groups.write()
        return written

    def _made(self, table: SsbTable, form: SsbFormat, give: Taker) -> Written:
        """Make a table, give it block by block, and add up what was given."""
        written = Written(table, 0, ())

        def take(block: Block) -> None:
            nonlocal written
            give(block)
            sums = map(sum, zip(written.sums or [0] * len(block.sums), block.sums, strict=True))
            written = Written(table, written.rows + block.rows, tuple(sums))
            self.watch.progress(table, block.units, block.rows)

        part = self.data.chunk.range_of(units(self.data, table))
        take_blocks(
            self.data, table, form, part, take, threads=self.threads, patience=self.patience
        )
        return written


class _Groups:
    """The text of so many blocks that a row group is full, then that of the next."""

    def __init__(self, writer: pyarrow.parquet.ParquetWriter, schema: pa.Schema) -> None:
        self._writer = writer
        self._schema = schema
        self._text = io.BytesIO()
        self._rows = 0

    def add(self, block: Block) -> None:
        self._text.write(block.data)
        self._rows += block.rows
        if self._rows >= ROW_GROUP:
            self.write()

    def write(self) -> None:
        """Write what there is."""
        if self._rows:
            self._writer.write_table(_parse(self._text.getvalue(), self._schema))
        self._text, self._rows = io.BytesIO(), 0


def _parse(text: bytes, schema: pa.Schema) -> pa.Table:
    return pyarrow.csv.read_csv(
        io.BytesIO(text),
        read_options=pyarrow.csv.ReadOptions(column_names=schema.names),
        convert_options=pyarrow.csv.ConvertOptions(column_types=schema, strings_can_be_null=False),
    ).cast(schema)
