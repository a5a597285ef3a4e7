"""A table as a Parquet file: the CSV of the generator through pyarrow."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from teiten.execute.ssb.blocks import Block, add, blocks
from teiten.execute.ssb.native import columns, units
from teiten.execute.ssb.watch import Watch
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
    rows, sums = 0, list[int]()
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for group in _groups(blocks(data, table, SsbFormat.CSV, part, threads), watch, table):
            text, group_rows, group_sums = group
            writer.write_table(_parse(text, schema))
            rows += group_rows
            sums = add(sums, group_sums)
    return Written(table, rows, tuple(sums))


def _groups(
    made: Iterator[Block], watch: Watch, table: SsbTable
) -> Iterator[tuple[bytes, int, list[int]]]:
    """The text of so many blocks that a row group is full, their rows and sums."""
    text, rows, sums = io.BytesIO(), 0, list[int]()
    for block in made:
        text.write(block.data)
        rows += block.rows
        sums = add(sums, block.sums)
        watch.progress(table, block.units, block.rows)
        if rows >= ROW_GROUP:
            yield text.getvalue(), rows, sums
            text, rows, sums = io.BytesIO(), 0, []
    if rows:
        yield text.getvalue(), rows, sums


def _parse(text: bytes, schema: pa.Schema) -> pa.Table:
    return pyarrow.csv.read_csv(
        io.BytesIO(text),
        read_options=pyarrow.csv.ReadOptions(column_names=schema.names),
        convert_options=pyarrow.csv.ConvertOptions(column_types=schema, strings_can_be_null=False),
    ).cast(schema)
