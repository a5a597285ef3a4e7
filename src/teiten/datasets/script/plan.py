"""The tables of the user's own SQL, before anything runs."""

from __future__ import annotations

import hashlib
from typing import Any

from teiten.datasets.plan import DataPlan
from teiten.datasets.script.model import ScriptTables, script_data
from teiten.model.sql import commands
from teiten.model.study import DataSet
from teiten.model.units import GIB, Bytes
from teiten.study.locate import Place
from teiten.study.scripts import assumed_size, read_sql
from teiten.study.tables import DataTable, Rows, ScaledTable, Size

UNKNOWN_SIZE = Bytes(1 * GIB)
"""Assumed size of tables whose study does not say (``data.size``), and whose script is no dump."""


class ScriptTable(DataTable):
    script: str = ""
    size: Size = None
    rows: Rows = 1
    """How many times over each of its rows is to be there: ``10x``."""


class ScriptData(DataPlan):
    table = ScriptTable
    options = ScriptTables
    told_by = "script"
    keys_are_for = "tables that a script makes"

    def data_set(self, place: Place, workload: ScaledTable, data: DataTable) -> DataSet:
        assert isinstance(data, ScriptTable)
        if not data.script:
            raise place.error(
                "data",
                "the kind script needs a script",
                'write script = "tables.sql" below [workloads.data]',
            )
        script = read_sql(place, ("data", "script"), data.script)
        is_dump = "\n\\.\n" in script.text
        assumed = Bytes(assumed_size(len(script.text)) * data.rows) if is_dump else None
        return script_data(script, data.size or assumed, data.rows)

    def at_scale(self, data: DataSet, scale: float) -> DataSet:
        return data

    def filled_bytes(self, data: DataSet) -> Bytes:
        return data.options_as(ScriptTables).size or UNKNOWN_SIZE

    def made_by(self, data: DataSet) -> str:
        return f"the script {data.options_as(ScriptTables).name}"

    def identity(self, data: DataSet) -> dict[str, Any]:
        """With what every kind of data had when it was new."""
        tables = data.options_as(ScriptTables)
        own = {"script": tables.script.text, "fillfactor": 100}
        repeated = {"rows": tables.rows} if tables.rows > 1 else {}
        return {**super().identity(data), **own, **repeated}

    def rows_of(self, data: DataSet) -> str:
        """Comments and spacing aside."""
        text = " ".join(commands(data.options_as(ScriptTables).script.text))
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        times = data.options_as(ScriptTables).rows
        return f"{data.kind} {digest}" + (f" {times}x" if times > 1 else "")

    def name_of(self, data: DataSet) -> str:
        return data.options_as(ScriptTables).name

    tells = ()


PLAN = ScriptData()
