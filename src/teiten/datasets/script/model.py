"""Options of tables that a script makes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from teiten.model.study import DataOptions, DataSet, Script
from teiten.model.units import Bytes

NAME = "script"


@dataclass(frozen=True)
class ScriptTables(DataOptions):
    script: Script
    """The SQL that makes them."""
    size: Bytes | None = None
    """The expected size of the tables; for the forecast."""
    rows: int = 1
    """How many times over each row is there, with the integers of keys shifted."""

    @property
    def told(self) -> Mapping[str, Any]:
        return {"script": self.name}

    def described(self, scale: float | None) -> str:
        del scale
        return f"the tables of {self.name}"

    @property
    def name(self) -> str:
        """``shop.sql``, or ``shop.sql × 10`` where its rows are repeated."""
        return f"{self.script.name} × {self.rows}" if self.rows > 1 else self.script.name


def script_data(script: Script, size: Bytes | None = None, rows: int = 1) -> DataSet:
    return DataSet(1, NAME, ScriptTables(script, size, rows))
