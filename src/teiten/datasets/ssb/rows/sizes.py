"""How much the data take, before they are made."""

from __future__ import annotations

from collections.abc import Mapping

from teiten.datasets.ssb.rows.native import units
from teiten.model import ssb_size
from teiten.model.ssb import SsbData, SsbFormat, SsbTable
from teiten.model.units import Bytes

LINES = 4
"""Lines of an order, on average."""
POSTGRES = "postgres"
"""A table in a server, next to the formats of files."""

BYTES: dict[str, Mapping[SsbTable, float]] = {
    SsbFormat.TBL: {
        SsbTable.CUSTOMER: 96,
        SsbTable.PART: 87,
        SsbTable.SUPPLIER: 85,
        SsbTable.DATE: 91,
        SsbTable.LINEORDER: 102,
    },
    SsbFormat.BINARY: {
        SsbTable.CUSTOMER: 124,
        SsbTable.PART: 122,
        SsbTable.SUPPLIER: 111,
        SsbTable.DATE: 162,
        SsbTable.LINEORDER: 141,
    },
    SsbFormat.PARQUET: {
        SsbTable.CUSTOMER: 60,
        SsbTable.PART: 35,
        SsbTable.SUPPLIER: 60,
        SsbTable.DATE: 30,
        SsbTable.LINEORDER: 45,
    },
    POSTGRES: ssb_size.BYTES,
}
"""Bytes for each row, on average, measured at scale factor 1 (text grows by a few for larger
keys) and rounded up."""
BYTES[SsbFormat.CSV] = BYTES[SsbFormat.TBL]


def expected_rows(data: SsbData, table: SsbTable) -> int:
    """Rows of a table, or of its chunk; of lineorder the expectation."""
    chosen = len(data.chunk.range_of(units(data, table)))
    return chosen * (LINES if table is SsbTable.LINEORDER else 1)


def expected_bytes(data: SsbData, form: str) -> Bytes:
    """Estimate the bytes of all tables of ``data`` in a format or in a server, on average."""
    return Bytes(
        round(sum(expected_rows(data, table) * BYTES[form][table] for table in data.tables))
    )
