"""The Star Schema Benchmark by one stream, which leaves every row frozen, and verified."""

from __future__ import annotations

from teiten.datasets.contract import Fillable, Say
from teiten.datasets.ssb.model import StarSchemaTables
from teiten.datasets.ssb.rows.blocks import Watch
from teiten.datasets.ssb.rows.load import LoadOptions, load
from teiten.model.ssb import SsbData, SsbTable, expected_rows
from teiten.model.study import DataSet

TOLD_SHARE = 0.02
"""The share of lineorder's rows after which the load says again how far it is."""


def fill(server: Fillable, data: DataSet, say: Say) -> None:
    """Raises MachineError where the native part of Teiten is missing or the disk is too small."""
    wanted = SsbData(float(data.scale or 1), data.options_as(StarSchemaTables).variant)
    load(server.conninfo(), wanted, LoadOptions(), _Telling(data, say))


class _Telling(Watch):
    """Says what is loaded, and of lineorder how far."""

    def __init__(self, data: DataSet, say: Say) -> None:
        self._say = say
        self._rows = 0
        self._all = expected_rows(data.scale or 1, data.options_as(StarSchemaTables).variant)[
            SsbTable.LINEORDER
        ]
        self._told = TOLD_SHARE

    def progress(self, table: SsbTable, units: int, rows: int) -> None:
        del units
        if table is not SsbTable.LINEORDER:
            return
        self._rows += rows
        if self._rows >= self._told * self._all:
            self._say(f"loading {table}: {self._rows / self._all:.0%}")
            self._told += TOLD_SHARE

    def step(self, text: str) -> None:
        self._say(text)
