"""Options of the tables of ``pgbench -i``. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from teiten.model.distribution import TablePart
from teiten.model.study import DataOptions, DataSet, Layout

NAME = "pgbench"


@dataclass(frozen=True)
class PgbenchTables(DataOptions):
    fillfactor: int = 100
    part: TablePart | None = None
    """The part that a server holds, where they are spread over several; None for all of them."""

    @property
    def told(self) -> Mapping[str, Any]:
        spread = {} if self.part is None else {"part": str(self.part)}
        return {"fillfactor": self.fillfactor, **spread}

    def described(self, scale: float | None) -> str:
        whole = f"scale {scale}, fillfactor {self.fillfactor}"
        return whole if self.part is None else f"{whole}, {self.part}"


def pgbench_data(scale: int | None, fillfactor: int = 100, layout: Layout | None = None) -> DataSet:
    return DataSet(scale, NAME, PgbenchTables(fillfactor), layout)
