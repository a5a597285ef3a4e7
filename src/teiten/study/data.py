"""The tables of a workload: who makes them, and how they may be laid out."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.datasets.plan import plan_of, with_data_kind
from teiten.model.study import AS_FILLED, LAID_OUT, DataSet, Layout, Script
from teiten.study.place import Place
from teiten.study.schema import WorkloadTable
from teiten.study.scripts import read_script
from teiten.study.tables import DataTable, LayoutTable


def data_set(place: Place, table: WorkloadTable) -> DataSet:
    """A workload's tables as they are filled.

    Raises UsageError or StudyError where the keys contradict.
    """
    found = table.data or DataTable.model_validate(with_data_kind({}))
    return plan_of(found.kind).data_set(place, table, found)


def layouts(place: Place, table: WorkloadTable) -> tuple[Layout, ...]:
    """How a workload's tables may be laid out. Raises as ``data_set`` does."""
    if table.data is None:
        return ()
    return tuple(_layout(place, name, one) for name, one in table.data.layouts.items())


def read_sql(place: Place, key: Sequence[str | int], value: str) -> Script:
    """A file with SQL that a key names, or the SQL itself. Raises what ``place.error`` makes."""
    try:
        script = read_script(value, workload="data", folders=place.folders)
        if script.builtin:
            raise ValueError(f"{script.name} is a load of pgbench, and makes no tables")
    except ValueError as error:
        raise place.error(key, str(error), "name a file with SQL") from error
    return script


def _layout(place: Place, name: str, table: LayoutTable) -> Layout:
    key = ("data", "layouts", name)
    scripts = tuple(read_sql(place, key, script) for script in table.scripts)
    usual = LAID_OUT if scripts else AS_FILLED
    told = table.all_visible
    whole = told if isinstance(told, bool) else told >= 1.0
    share = None if isinstance(told, bool) else told
    size = table.size or usual
    return Layout(name, scripts, size, table.needs, whole, share, table.partitions, table.indexes)
