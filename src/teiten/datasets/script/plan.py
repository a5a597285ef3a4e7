"""The tables of the user's own SQL, before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.datasets.plan import LOAD_RATE, DataPlan
from teiten.datasets.script.model import ScriptTables, script_data, script_of
from teiten.model.study import DataSet
from teiten.model.units import Bytes, Seconds
from teiten.study.data import read_sql
from teiten.study.schema import DataTable, Size, WorkloadTable

if TYPE_CHECKING:
    from teiten.study.place import Place


class ScriptTable(DataTable):
    script: str = ""
    size: Size = None


class Script(DataPlan):
    table = ScriptTable
    options = ScriptTables
    told_by = "script"
    keys_are_for = "tables that a script makes"

    def data_set(self, place: Place, workload: WorkloadTable, data: DataTable) -> DataSet:
        assert isinstance(data, ScriptTable)
        if not data.script:
            raise place.error(
                "data",
                "the kind script needs a script",
                'write script = "tables.sql" below [workloads.data]',
            )
        script = read_sql(place, ("data", "script"), data.script)
        return script_data(script, data.size)

    def at_scale(self, data: DataSet, scale: float) -> DataSet:
        return data

    def filled_bytes(self, data: DataSet) -> Bytes:
        return Bytes(data.options.template_bytes(data.scale))

    def fill_seconds(self, data: DataSet) -> Seconds:
        return Seconds(self.filled_bytes(data) / LOAD_RATE)

    def made_by(self, data: DataSet) -> str:
        return f"the script {script_of(data).name}"


PLAN = Script()
