"""A table as a Parquet file: the CSV of the generator through pyarrow."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from teiten.datasets.ssb.rows.blocks import Block, Tally, take_blocks
from teiten.datasets.ssb.rows.native import columns, units
from teiten.datasets.ssb.rows.watch import Watch
from teiten.model.ssb import SsbData, SsbFormat, SsbTable, Written

ROW_GROUP = 500_000
"""Rows of a row group, about; they are held in memory."""
TYPES = {"integer": pa.int32(), "bigint": pa.int64(), "text": pa.string()}


def write_parquet(
    data: SsbData, table: SsbTable, path: Path, threads: int, watch: Watch
) -> Written:
    """Write a table, or its chunk, to a Parquet file with row groups of ``ROW_GROUP`` rows."""
    found = columns(data, table)
    schema = pa.schema([pa.field(one.name, TYPES[one.type], nullable=False) for one in found])
    part = data.chunk.range_of(units(data, table))
    tally = Tally(table, watch)
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        groups = _Groups(writer, schema)

        def take(block: Block) -> None:
            groups.add(block)
            tally.add(block)

        take_blocks(data, table, SsbFormat.CSV, part, take, threads=threads)
        groups.write()
    return tally.written


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
