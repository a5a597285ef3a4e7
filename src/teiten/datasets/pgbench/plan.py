"""pgbench's own tables, before anything runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from teiten.datasets.pgbench.model import PgbenchTables, fillfactor_of, pgbench_data
from teiten.datasets.plan import DataPlan
from teiten.model.study import DataSet
from teiten.model.units import Bytes, Seconds
from teiten.study.schema import DataTable, WorkloadTable

if TYPE_CHECKING:
    from teiten.study.place import Place

ROWS = 100_000
"""Accounts per unit of scale."""
ROWS_PER_PAGE = 61
"""Accounts of 128 bytes with their item pointers in a full page of 8 KiB (8168 / 132)."""
KEY_BYTES = 22
"""Bytes of the primary key per account, at its fillfactor of 90."""
SECONDS_PER_SCALE = 0.25
"""pgbench -i with its vacuum and primary key."""

_MANTISSAS = (1, 1.5, 2, 3, 5, 7)


class Pgbench(DataPlan):
    table = DataTable
    options = PgbenchTables
    usual = True
    scales: ClassVar[tuple[float, ...]] = tuple(
        int(m * 10**e) for e in (1, 2, 3) for m in _MANTISSAS if m * 10**e <= 2000
    )
    """The reports' 2000 is the largest."""

    def data_set(self, place: Place, workload: WorkloadTable, data: DataTable) -> DataSet:
        if isinstance(workload.scale, float):
            raise place.error(
                "scale",
                f"pgbench's scale is a whole number, not {workload.scale}",
                "fractions are for the Star Schema Benchmark",
            )
        return pgbench_data(workload.scale, workload.fillfactor)

    def filled_bytes(self, data: DataSet) -> Bytes:
        """Scale 100 at a fillfactor of 100: 1.5 GB (2021 §4.2, table 4.1)."""
        scale = data.scale or 1
        rows_per_page = max(1, math.floor(ROWS_PER_PAGE * fillfactor_of(data) / 100))
        pages = math.ceil(ROWS * scale / rows_per_page)
        return Bytes(math.ceil(pages * 8192 + ROWS * scale * KEY_BYTES))

    def fill_seconds(self, data: DataSet) -> Seconds:
        return Seconds(SECONDS_PER_SCALE * (data.scale or 1))

    def made_by(self, data: DataSet) -> str:
        return "pgbench -i"

    def described(self, data: DataSet) -> str:
        return f"{self.made_by(data)}: {data}"


PLAN = Pgbench()
