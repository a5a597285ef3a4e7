"""pgbench's own tables, before anything runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

from teiten.datasets.pgbench.model import PgbenchTables, pgbench_data
from teiten.datasets.plan import DataPlan
from teiten.model.distribution import PartMethod, TablePart
from teiten.model.study import DataSet
from teiten.model.units import Bytes, Seconds
from teiten.study.locate import Place
from teiten.study.tables import DataTable, ScaledTable

ROWS = 100_000
"""Accounts per unit of scale; tellers and branches are small."""
BLOCK = 8192
PAGE_HEADER = 24
ROW = 132
"""Bytes of an account: header 24, aid, bid and abalance 12, filler 85, rounded up to 128, and a
line pointer."""
ROWS_PER_KEY_PAGE = 366
"""Entries of 20 bytes in a page of the primary key, filled to 90 %."""
SMALL_TABLES = 2 * 1024
"""Bytes per unit of scale: pgbench_tellers (10 rows) and pgbench_branches (1 row)."""
SECONDS_PER_SCALE = 0.25
"""pgbench -i with its vacuum and primary key."""

_MANTISSAS = (1, 1.5, 2, 3, 5, 7)


class PgbenchData(DataPlan):
    table = DataTable
    options = PgbenchTables
    spreads = True
    usual = True
    scales: ClassVar[tuple[float, ...]] = tuple(
        int(m * 10**e) for e in (1, 2, 3) for m in _MANTISSAS if m * 10**e <= 2000
    )
    """The reports' 2000 is the largest."""

    def data_set(self, place: Place, workload: ScaledTable, data: DataTable) -> DataSet:
        if isinstance(workload.scale, float):
            raise place.error(
                "scale",
                f"pgbench's scale is a whole number, not {workload.scale}",
                "fractions are for the Star Schema Benchmark",
            )
        return pgbench_data(workload.scale, workload.fillfactor)

    def filled_bytes(self, data: DataSet) -> Bytes:
        """Scale 100 at a fillfactor of 100: 1.5 GB (2021 §4.2, table 4.1)."""
        scale, tables = _scale(data), data.options_as(PgbenchTables)
        kept_free = BLOCK * (100 - tables.fillfactor) // 100
        rows_per_page = max(1, (BLOCK - PAGE_HEADER - kept_free) // ROW)
        pages = math.ceil(ROWS * scale / rows_per_page) + math.ceil(
            ROWS * scale / ROWS_PER_KEY_PAGE
        )
        return Bytes(math.ceil(pages * BLOCK + scale * SMALL_TABLES))

    def fill_seconds(self, data: DataSet) -> Seconds:
        return Seconds(SECONDS_PER_SCALE * _scale(data))

    def part_of(self, data: DataSet, part: TablePart) -> DataSet:
        """An empty database is the same one whatever the scale."""
        if part.method is PartMethod.EMPTY:
            return replace(data, scale=1, options=PgbenchTables(part=part))
        return replace(data, options=replace(data.options_as(PgbenchTables), part=part))

    def made_by(self, data: DataSet) -> str:
        whole = data.options_as(PgbenchTables).part is None
        return "pgbench -i" if whole else "the rows of pgbench -i"

    def identity(self, data: DataSet) -> dict[str, Any]:
        """Identify the tables as before there were other kinds, and tables that are spread."""
        tables = data.options_as(PgbenchTables)
        if tables.part is None:
            return {"fillfactor": tables.fillfactor}
        part = tables.part
        shards = [part.shards, part.key] if part.shards else []
        spread = [part.method.value, part.number, part.nodes, *shards]
        return {"fillfactor": tables.fillfactor, "part": spread}

    def described(self, data: DataSet) -> str:
        return f"{self.made_by(data)}: {data}"

    def name_of(self, data: DataSet) -> str:
        return ""

    tells = ("scale", "fillfactor")


def _scale(data: DataSet) -> float:
    """Compute the scale of the rows alone that a part holds."""
    part, scale = data.options_as(PgbenchTables).part, data.scale or 1
    if part is None:
        return scale
    return scale * (1 / part.nodes) if part.nodes and part.number else 0.0


PLAN = PgbenchData()
