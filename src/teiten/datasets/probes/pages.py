"""How many pages a table has, and how long the text in each row is, so that it has them."""

from __future__ import annotations

import math

from teiten.model.study import DataSet, SizedTable
from teiten.model.units import MIB, Bytes

PAGE = 8192
USABLE = PAGE - 24
"""Bytes of a page after its header."""
POINTER = 4
ROW_HEAD = 24 + 8
"""A row's header, and its number."""
SHORT = 126
"""Texts up to this length have a header of 1 byte, others of 4."""


def memory_of(data: DataSet) -> Bytes:
    """The memory that tables are made for. Raises ValueError where the study was not sized."""
    if data.scale is None:
        raise ValueError("the data set has no scale: the study was not sized")
    return Bytes(int(data.scale) * MIB)


def pages_of(table: SizedTable, memory: Bytes) -> int:
    return max(1, math.floor(memory * table.share / PAGE))


def row_length(table: SizedTable) -> int:
    """The length of the text in each row, with which a page takes exactly the table's rows."""
    kept_free = PAGE * (100 - table.fillfactor) // 100
    each = (USABLE - kept_free) // table.rows - POINTER
    length = each // 8 * 8 - ROW_HEAD - 4  # rows are aligned
    return length if length > SHORT else each // 8 * 8 - ROW_HEAD - 1


def row_text(table: SizedTable) -> str:
    return "x" * row_length(table)
