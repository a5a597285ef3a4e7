"""Star Schema Benchmark: which data are meant, and how large its tables are in a server."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from teiten.model.units import Bytes

LARGEST_SCALE = 10_000
"""The largest scale factor that the generator takes."""


class SsbVariant(StrEnum):
    """Which description of the benchmark is followed where they differ."""

    REFERENCE = "reference"
    """Byte-identical to the programs of the O'Neil lineage, each table by its own process."""
    REPORTS = "reports"
    """Data of the PGECons reports: 10,000·SF suppliers, a priority cut to 11 characters."""
    PAPER = "paper"
    """The paper's text instead of the programs' quirks."""


class SsbTable(StrEnum):
    """The tables, the dimensions first."""

    CUSTOMER = "customer"
    PART = "part"
    SUPPLIER = "supplier"
    DATE = "date"
    LINEORDER = "lineorder"


class SsbFormat(StrEnum):
    """How rows are written."""

    TBL = "tbl"
    """The reference programs' text: | after each field."""
    CSV = "csv"
    """Comma-separated, quoted where needed, without a header line."""
    BINARY = "binary"
    """A file for PostgreSQL's COPY … (FORMAT binary)."""
    PARQUET = "parquet"


@dataclass(frozen=True)
class Chunk:
    """One of ``count`` parts of a table, counted from 1."""

    number: int = 1
    count: int = 1

    @property
    def whole(self) -> bool:
        return self.count == 1

    def range_of(self, units: int) -> range:
        """This chunk's part of a table's units; sizes of chunks differ by at most one."""
        return range(
            units * (self.number - 1) // self.count,
            units * self.number // self.count,
        )

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


WHOLE = Chunk()


@dataclass(frozen=True)
class SsbData:
    """The data of one call: tables of one scale factor and variant, or a chunk of each."""

    scale: float
    variant: SsbVariant = SsbVariant.REFERENCE
    tables: tuple[SsbTable, ...] = tuple(SsbTable)
    chunk: Chunk = WHOLE

    def __str__(self) -> str:
        part = "" if self.chunk.whole else f", chunk {self.chunk}"
        return f"Star Schema Benchmark, scale factor {self.scale:g}, {self.variant}{part}"


@dataclass(frozen=True)
class Written:
    """Rows that were written of a table, and the sums of its columns."""

    table: SsbTable
    rows: int
    sums: tuple[int, ...]
    """For each column the sum of its numbers, or of its texts' lengths in bytes."""


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
