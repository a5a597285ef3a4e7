"""Tables for probes, before anything runs: their sizes are shares of the memory.

The scale is that memory in MiB; ``auto`` is the memory in force.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any

from pydantic import Field

from teiten.datasets.plan import DataPlan
from teiten.datasets.probes.model import (
    NAME,
    PAGE,
    ProbesTables,
    SizedTable,
    memory_of,
    pages_of,
    row_length,
)
from teiten.model.study import DataSet
from teiten.model.units import MIB, Bytes
from teiten.study.locate import Place
from teiten.study.tables import DataTable, Fillfactor, Growth, Name, ScaledTable, TomlTable


class SizedTableForm(TomlTable):
    """A table of a share of the memory."""

    size: Growth
    rows: Annotated[int, Field(ge=1, le=200)] = 1
    fillfactor: Fillfactor = 100


class ProbeTablesForm(DataTable):
    tables: Annotated[dict[Name, SizedTableForm], Field(min_length=1)]


class ProbeTablesPlan(DataPlan):
    table = ProbeTablesForm
    options = ProbesTables
    keys_are_for = "probes"
    rate = 150 * MIB
    """COPY, and the vacuum after it."""

    def data_set(self, place: Place, workload: ScaledTable, data: DataTable) -> DataSet:
        assert isinstance(data, ProbeTablesForm)
        tables = tuple(
            SizedTable(name, table.size or 1.0, table.rows, table.fillfactor)
            for name, table in data.tables.items()
        )
        for table in tables:
            if not row_length(table):
                raise place.error(
                    ("data", "tables", table.name, "rows"),
                    f"{table.rows} rows do not fill a page at a fillfactor of {table.fillfactor}",
                    "write fewer: every page is to hold the same number",
                )
        scale = None if workload.scale is None else int(workload.scale)
        return DataSet(scale, NAME, ProbesTables(tables))

    def for_memory(self, data: DataSet, memory: Bytes) -> DataSet:
        return data if data.scale is not None else replace(data, scale=memory // MIB)

    def shares(self, data: DataSet) -> Mapping[str, float]:
        return {table.name: table.share for table in data.options_as(ProbesTables).tables}

    def of_tables(self, data: DataSet, names: Collection[str]) -> DataSet:
        kept = tuple(table for table in data.options_as(ProbesTables).tables if table.name in names)
        return replace(data, options=ProbesTables(kept))

    def filled_bytes(self, data: DataSet) -> Bytes:
        tables = data.options_as(ProbesTables).tables
        return Bytes(sum(pages_of(table, memory_of(data)) * PAGE for table in tables))

    def made_by(self, data: DataSet) -> str:
        return "COPY"

    def identity(self, data: DataSet) -> dict[str, Any]:
        return {
            **super().identity(data),
            "tables": [asdict(table) for table in data.options_as(ProbesTables).tables],
        }

    def rows_of(self, data: DataSet) -> str:
        tables = (
            f"{table.name} {table.share:g} {table.rows} {table.fillfactor}"
            for table in data.options_as(ProbesTables).tables
        )
        return f"{data.kind} {', '.join(tables)}"

    def name_of(self, data: DataSet) -> str:
        return data.options_as(ProbesTables).names


PLAN = ProbeTablesPlan()
