"""How large the Star Schema Benchmark's tables are in a server, from the rules of its rows."""

from __future__ import annotations

import math

from teiten.model.ssb import SsbTable, SsbVariant
from teiten.model.units import Bytes

BYTES = {
    SsbTable.CUSTOMER: 130,
    SsbTable.PART: 125,
    SsbTable.SUPPLIER: 120,
    SsbTable.DATE: 130,
    SsbTable.LINEORDER: 107,
}
"""Bytes of a row in a table without indexes, on average: measured at scale factor 1, rounded up."""


def expected_rows(scale: float, variant: SsbVariant) -> dict[SsbTable, int]:
    """Rows of each table; of lineorder the expectation. ``scale``: above 0 (SSB paper, §2)."""
    doublings = 1 + math.floor(math.log2(scale)) if scale >= 1 else scale
    suppliers = 10_000 if variant is SsbVariant.REPORTS else 2_000
    return {
        SsbTable.CUSTOMER: round(30_000 * scale),
        SsbTable.PART: round(200_000 * doublings),
        SsbTable.SUPPLIER: round(suppliers * scale),
        SsbTable.DATE: 2_556,
        SsbTable.LINEORDER: round(6_000_000 * scale),
    }


def table_bytes(scale: float, variant: SsbVariant) -> Bytes:
    """Estimate the size of all tables in a server, without indexes."""
    rows = expected_rows(scale, variant)
    return Bytes(sum(rows[table] * BYTES[table] for table in SsbTable))
