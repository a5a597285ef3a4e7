"""What the tables of ``pgbench -i`` have of their own. Pure, and sent to hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from teiten.model.study import DataOptions, DataSet, Layout

NAME = "pgbench"
ROWS_PER_SCALE = 100_000
"""Of pgbench_accounts; tellers and branches are small."""
BLOCK = 8192
PAGE_HEADER = 24
ACCOUNT_ROW = 132
"""Bytes: header 24, aid, bid and abalance 12, filler 85, rounded up to 128, and a line pointer."""
ROWS_PER_KEY_PAGE = 366
"""Entries of 20 bytes in a page of the primary key, filled to 90 %."""
SMALL_TABLES_PER_SCALE = 2 * 1024
"""Bytes of pgbench_tellers (10 rows) and pgbench_branches (1 row) with their indexes."""


@dataclass(frozen=True)
class PgbenchTables(DataOptions):
    fillfactor: int = 100

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"fillfactor": self.fillfactor}

    @property
    def told(self) -> Mapping[str, Any]:
        return {"fillfactor": self.fillfactor}

    def described(self, scale: float | None) -> str:
        return f"scale {scale}, fillfactor {self.fillfactor}"

    def template_bytes(self, scale: float | None) -> int:
        whole = int(_known(scale))
        kept_free = BLOCK * (100 - self.fillfactor) // 100
        rows_per_page = max(1, (BLOCK - PAGE_HEADER - kept_free) // ACCOUNT_ROW)
        rows = whole * ROWS_PER_SCALE
        pages = -(-rows // rows_per_page) + -(-rows // ROWS_PER_KEY_PAGE)
        return pages * BLOCK + whole * SMALL_TABLES_PER_SCALE


def _known(scale: float | None) -> float:
    if scale is None:
        raise ValueError("the data set has no scale: the study was not sized")
    return scale


def pgbench_data(scale: int | None, fillfactor: int = 100, layout: Layout | None = None) -> DataSet:
    return DataSet(scale, NAME, PgbenchTables(fillfactor), layout)


def fillfactor_of(data: DataSet) -> int:
    """Raises TypeError for another kind's data."""
    if not isinstance(data.options, PgbenchTables):
        raise TypeError(f"{data} is of the kind {data.kind}")
    return data.options.fillfactor
