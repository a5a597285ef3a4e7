"""What the tables of ``pgbench -i`` have of their own. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from teiten.model.study import DataOptions, DataSet, Layout

NAME = "pgbench"


@dataclass(frozen=True)
class PgbenchTables(DataOptions):
    fillfactor: int = 100

    @property
    def told(self) -> Mapping[str, Any]:
        return {"fillfactor": self.fillfactor}

    def described(self, scale: float | None) -> str:
        return f"scale {scale}, fillfactor {self.fillfactor}"


def pgbench_data(scale: int | None, fillfactor: int = 100, layout: Layout | None = None) -> DataSet:
    return DataSet(scale, NAME, PgbenchTables(fillfactor), layout)


def fillfactor_of(data: DataSet) -> int:
    """Raises TypeError for another kind's data."""
    if not isinstance(data.options, PgbenchTables):
        raise TypeError(f"{data} is of the kind {data.kind}")
    return data.options.fillfactor
