"""The storage classes of a study: what they are, and what they did before the campaign."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from teiten.model.storage import StorageClass
from teiten.report.numbers import bytes_text, significant
from teiten.report.tables import Column, Row, Table, TableCell, cells
from teiten.report.view.kit import Kit

MEASURED = "storage"
"""The event of storages that were measured."""
RATES = ("sequential_read", "sequential_write")
COUNTS = ("random_reads", "random_writes", "fsyncs")


def emulated(kit: Kit) -> tuple[str, ...]:
    """The names of the storage classes that are no devices of this machine."""
    return tuple(
        storage_class.name
        for storage_class in kit.study.storage
        if storage_class.emulation is not None
    )


def storage_name(kit: Kit, name: str) -> str:
    """``slow``, ``slow (emulated)``"""
    return kit.t("storage.emulated", name=name) if name in emulated(kit) else name


def storage_tables(kit: Kit) -> Iterator[Table]:
    """One table of all storage classes; none where they were not measured."""
    t, found = kit.t, _measured(kit)
    known = [storage_class for storage_class in kit.study.storage if storage_class.name in found]
    if not known:
        return
    columns = (
        Column(t("storage.column.name")),
        Column(t("storage.column.device")),
        *(Column(t(f"storage.column.{key}"), numeric=True) for key in (*RATES, *COUNTS)),
    )
    rows = tuple(_row(kit, one, found[one.name]) for one in known)
    tools = t("list.separator").join(dict.fromkeys(str(one["tool"]) for one in found.values()))
    yield Table(
        "storage-speeds", t("storage.caption"), columns, rows, note=t("storage.note", tools=tools)
    )


def _measured(kit: Kit) -> Mapping[str, Any]:
    """The last time: a campaign that was resumed has measured them again."""
    events = [event for event in kit.analysis.events if event.kind == MEASURED]
    found: Mapping[str, Any] = events[-1].detail.get("storages", {}) if events else {}
    return found


def _row(kit: Kit, storage: StorageClass, found: Mapping[str, Any]) -> Row:
    device = kit.t(
        "storage.device",
        folder=storage.path or found["folder"],
        device=", ".join(found["devices"]) or found["device"],
        file_system=found["file_system"],
        kind=found["kind"],
    )
    return (
        *cells(storage_name(kit, storage.name)),
        TableCell(_limits(kit, storage) or device),
        *(TableCell(f"{bytes_text(found[key])}/s", found[key]) for key in RATES),
        *(TableCell(significant(found[key]), found[key]) for key in COUNTS),
    )


def _limits(kit: Kit, storage: StorageClass) -> str:
    """Tell the size and the limits of an emulated device; empty for any other."""
    emulation = storage.emulation
    if emulation is None:
        return ""
    t = kit.t
    limits = [
        t(f"storage.limit.{name}", value=f"{bytes_text(value)}/s" if "band" in name else
          significant(value))
        for name, value in emulation.limits
    ]  # fmt: skip
    said = t("list.separator").join(limits) or t("storage.limit.none")
    return t("storage.device.emulated", size=bytes_text(emulation.size), limits=said)
