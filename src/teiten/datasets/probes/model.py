"""Tables of whole pages: how many pages each has, and how long the text in each row is, so that it
has them. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from teiten.model.study import DataOptions, DataSet
from teiten.model.units import MIB, Bytes

NAME = "probes"

PAGE = 8192
USABLE = PAGE - 24
"""Bytes of a page after its header."""
POINTER = 4
ROW_HEAD = 24 + 8
"""A row's header, and its number."""
SHORT = 126
"""Texts up to this length have a header of 1 byte, others of 4."""


@dataclass(frozen=True)
class SizedTable:
    """One of the tables."""

    name: str
    share: float
    """The table's size as a share of the memory."""
    rows: int = 1
    """The number of rows in each page."""
    fillfactor: int = 100


@dataclass(frozen=True)
class ProbesTables(DataOptions):
    """The scale is the memory in MiB of which they are shares."""

    tables: tuple[SizedTable, ...]

    @property
    def told(self) -> Mapping[str, Any]:
        return {"tables": self.names}

    @property
    def names(self) -> str:
        return ", ".join(f"{table.name} {table.share:.0%}" for table in self.tables)

    def described(self, scale: float | None) -> str:
        return f"tables by {scale} MiB of memory: {self.names}"


def memory_of(data: DataSet) -> Bytes:
    """The memory that tables are made for. Raises ValueError where the study was not sized."""
    if data.scale is None:
        raise ValueError("the data set has no scale: the study was not sized")
    return Bytes(int(data.scale) * MIB)


def pages_of(table: SizedTable, memory: Bytes) -> int:
    return max(1, math.floor(memory * table.share / PAGE))


def row_length(table: SizedTable) -> int:
    """The length of the text in each row, with which a page takes exactly the table's rows; 0
    where there is none: so many do not fit, or, as rows are aligned, one more would."""
    room = USABLE - PAGE * (100 - table.fillfactor) // 100
    row = (room // table.rows - POINTER) // 8 * 8
    length = row - ROW_HEAD - 4
    length = length if length > SHORT else row - ROW_HEAD - 1
    exact = (table.rows + 1) * (row + POINTER) > room
    return length if exact and length > 0 else 0
