"""The tables of a workload: who makes them, at which scale, and how they may be laid out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from teiten.model.ssb import LARGEST_SCALE
from teiten.model.study import AS_FILLED, LAID_OUT, DataKind, DataSet, Layout, Script
from teiten.study.draft import Draft
from teiten.study.schema import DataTable, LayoutTable, WorkloadTable
from teiten.study.scripts import read_script


def data_set(draft: Draft, folders: Sequence[Path], index: int, table: WorkloadTable) -> DataSet:
    """A workload's tables as they are filled. ``folders``: where scripts are looked for.

    Raises UsageError or StudyError where the keys contradict.
    """
    found = table.data or DataTable()
    kind = _kind(found)
    _check_keys(draft, index, found, kind)
    if kind is DataKind.SCRIPT:
        script = _script(draft, folders, ("workloads", index, "data", "script"), found.script)
        return DataSet(scale=1, kind=kind, script=script, size=found.size)
    _check_scale(draft, index, table, kind)
    if kind is DataKind.SSB:
        return DataSet(scale=table.scale, kind=kind, variant=found.variant)
    return DataSet(scale=table.scale, fillfactor=table.fillfactor)


def layouts(
    draft: Draft, folders: Sequence[Path], index: int, table: WorkloadTable
) -> tuple[Layout, ...]:
    """How a workload's tables may be laid out. Raises as ``data_set`` does."""
    if table.data is None:
        return ()
    return tuple(
        _layout(draft, folders, index, name, one) for name, one in table.data.layouts.items()
    )


def _kind(table: DataTable) -> DataKind:
    if table.kind is not None:
        return table.kind
    return DataKind.SCRIPT if table.script else DataKind.PGBENCH


def _check_keys(draft: Draft, index: int, table: DataTable, kind: DataKind) -> None:
    """Keys that say nothing of this kind are mistakes."""
    of_scripts = {"script": bool(table.script), "size": table.size is not None}
    if kind is DataKind.SCRIPT and not table.script:
        raise draft.error(
            ("workloads", index, "data"),
            "the kind script needs a script",
            'write script = "tables.sql" below [workloads.data]',
        )
    for key in (key for key, given in of_scripts.items() if given and kind is not DataKind.SCRIPT):
        raise draft.error(
            ("workloads", index, "data", key),
            f"{key} is for tables that a script makes; these are of the kind {kind}",
            "leave it out, or give data.script",
        )


def _check_scale(draft: Draft, index: int, table: WorkloadTable, kind: DataKind) -> None:
    scale = table.scale
    if scale is None or (isinstance(scale, int) and kind is DataKind.PGBENCH):
        return
    place = ("workloads", index, "scale")
    if kind is DataKind.PGBENCH:
        raise draft.error(
            place,
            f"pgbench's scale is a whole number, not {scale}",
            "fractions are for the Star Schema Benchmark",
        )
    if scale > LARGEST_SCALE or (isinstance(scale, float) and scale > 1):
        raise draft.error(
            place,
            f"the Star Schema Benchmark has no scale factor {scale}",
            f'give a whole number from 1 to {LARGEST_SCALE}, or a fraction such as "0.1"',
        )


def _layout(
    draft: Draft, folders: Sequence[Path], index: int, name: str, table: LayoutTable
) -> Layout:
    place = ("workloads", index, "data", "layouts", name)
    scripts = tuple(_script(draft, folders, place, one) for one in table.scripts)
    usual = LAID_OUT if scripts else AS_FILLED
    return Layout(name, scripts, table.size or usual, table.needs, table.all_visible)


def _script(
    draft: Draft, folders: Sequence[Path], place: tuple[str | int, ...], value: str
) -> Script:
    try:
        script = read_script(value, workload="data", folders=folders)
        if script.builtin:
            raise ValueError(f"{script.name} is a load of pgbench, and makes no tables")
    except ValueError as error:
        raise draft.error(place, str(error), "name a file with SQL") from error
    return script
