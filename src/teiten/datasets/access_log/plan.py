"""An access log and its products, before anything runs."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Annotated, Any, ClassVar

from pydantic import Field

from teiten.datasets.access_log.model import NAME, AccessLogTables, rows_of_day
from teiten.datasets.plan import DataPlan
from teiten.model.study import DataSet
from teiten.model.units import Bytes, Seconds
from teiten.study.locate import Place
from teiten.study.tables import DataTable, ScaledTable

BLOCK = 8192
ROWS_OF_PAGE = 97
"""A row is 76 bytes, header of 24 included, rounded up to 80, with a line pointer of 4."""
INDEX_ROW = 32
"""Bytes of an entry of 24 with its pointer, in pages filled to 90 %."""
SECONDS_OF_ROW = 2.0e-6
"""Making, storing and indexing one; on the careful side."""
MOST_DAYS = 3650


class AccessLogTable(DataTable):
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = 180
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 2013
    products: Annotated[int, Field(ge=1, le=1_000_000)] = 1000


class AccessLogData(DataPlan):
    table = AccessLogTable
    options = AccessLogTables
    keys_are_for = "access logs"
    scales: ClassVar[tuple[float, ...]] = tuple(
        m * 10**e for e in range(4) for m in (1, 2, 5) if m * 10**e <= 5000
    )

    def data_set(self, place: Place, workload: ScaledTable, data: DataTable) -> DataSet:
        assert isinstance(data, AccessLogTable)
        if isinstance(workload.scale, float):
            raise place.error(
                "scale",
                f"an access log's scale is a whole number, not {workload.scale}",
                "it is the thousands of rows of each day",
            )
        return DataSet(workload.scale, NAME, AccessLogTables(data.days, data.seed, data.products))

    def filled_bytes(self, data: DataSet) -> Bytes:
        rows = _rows(data)
        return Bytes(math.ceil(rows / ROWS_OF_PAGE) * BLOCK + rows * INDEX_ROW)

    def fill_seconds(self, data: DataSet) -> Seconds:
        return Seconds(_rows(data) * SECONDS_OF_ROW)

    def made_by(self, data: DataSet) -> str:
        return "SQL on the server"

    def identity(self, data: DataSet) -> dict[str, Any]:
        return {**super().identity(data), **asdict(data.options_as(AccessLogTables))}

    def rows_of(self, data: DataSet) -> str:
        log = data.options_as(AccessLogTables)
        return f"{data.kind} {log.days} {log.seed} {log.products}"

    def name_of(self, data: DataSet) -> str:
        return f"an access log of {data.options_as(AccessLogTables).days} days"


def _rows(data: DataSet) -> int:
    return data.options_as(AccessLogTables).days * rows_of_day(replace(data, scale=data.scale or 1))


PLAN = AccessLogData()
