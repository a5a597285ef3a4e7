"""The native generator, where it is built: ``teiten-native``, from crates/ in Rust."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from teiten.errors import MachineError, UsageError
from teiten.host.facts.native_part import MODULE, how_to_get
from teiten.model.ssb import SsbData, SsbFormat, SsbTable

Buffer = bytearray | memoryview


class Rows(Protocol):
    """A stream of a table's rows, written buffer by buffer."""

    @property
    def rows(self) -> int:
        """Rows written since the last seek."""

    @property
    def sums(self) -> list[int]:
        """For each column the sum of its numbers, or of its texts' lengths, since the last seek."""

    @property
    def left(self) -> int:
        """Units that are left."""

    def seek(self, first: int, end: int) -> None:
        """Go on with the units ``first`` up to ``end``."""

    def fill(self, buffer: Buffer) -> int:
        """Write whole rows to the start of a buffer; returns how many bytes, 0 at the end."""


class Native(Protocol):
    """The interface of ``teiten_native`` for the Star Schema Benchmark."""

    VERSION: str

    def ssb_units(self, scale: float, variant: str, table: str) -> int: ...
    def ssb_columns(self, scale: float, variant: str, table: str) -> list[tuple[str, str]]: ...
    def SsbRows(  # noqa: N802, PLR0917 - a class of the module
        self, scale: float, variant: str, table: str, form: str, first: int, end: int
    ) -> Rows: ...


@dataclass(frozen=True)
class SsbColumn:
    """A column with its PostgreSQL type."""

    name: str
    type: str


@cache
def native() -> Native:
    """The native module. Raises MachineError where it is not built."""
    try:
        module: Native = importlib.import_module(MODULE)
    except ImportError as error:
        raise MachineError(
            "the native part of Teiten, which makes Star Schema Benchmark data, is not here"
            f" ({error})",
            how_to_get(),
        ) from error
    return module


def units(data: SsbData, table: SsbTable) -> int:
    """A table's units: rows, and of lineorder orders, which have four rows on average.

    Raises UsageError for a scale factor that is refused.
    """
    try:
        return native().ssb_units(data.scale, data.variant, table)
    except ValueError as error:
        raise UsageError(
            f"--scale {data.scale:g}: {error}",
            "give a whole number from 1 to 10000, or a fraction between 0 and 1",
        ) from error


def columns(data: SsbData, table: SsbTable) -> tuple[SsbColumn, ...]:
    """A table's columns in order."""
    pairs = native().ssb_columns(data.scale, data.variant, table)
    return tuple(SsbColumn(name, kind) for name, kind in pairs)


def rows(data: SsbData, table: SsbTable, form: SsbFormat, part: range) -> Rows:
    """The rows of a part of a table's units."""
    return native().SsbRows(data.scale, data.variant, table, form, part.start, part.stop)


# The bytes around the rows of a binary COPY (PostgreSQL documentation, COPY, file formats).
SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
"""With no flags and no header extension."""
TRAILER = b"\xff\xff"
