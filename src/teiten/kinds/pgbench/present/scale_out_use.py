"""The resources that each server of a trial used, by the number of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from teiten.kinds.pgbench.scale_out.results import NodesPoint, ScaleOutResult
from teiten.kinds.pgbench.scale_out.use import RoleUse
from teiten.report.effects import percent
from teiten.report.numbers import NOTHING, bytes_text, significant
from teiten.report.sites import have_own_hosts
from teiten.report.tables import Column, Table, TableCell
from teiten.report.view.kit import Kit

SHARES = ("cpu_share", "buffer_hits", "cache_hits")
SIZES = ("memory", "disk_read", "disk_written", "received", "sent")
COUNTS = ("syncs", "commits", "prepared")
ORDER = (
    *("cpu_share", "memory", "buffer_hits", "cache_hits", "disk_read", "disk_written", "syncs"),
    *("received", "sent", "commits", "prepared"),
)
FSYNCS = "fsync-intervals"
"""The event of storage that was measured by the interval of fsync."""
PRINTED: Mapping[int, float] = {8192: 3.6, 128 * 1024: 40.2, 0: 197}
"""Bytes between two calls of fsync, 0 for never: MB/s of table 5.6."""


def use_table(kit: Kit, found: list[ScaleOutResult]) -> Table | None:
    """None where nothing was counted of any server. Columns of which nothing is known are left
    out."""
    t, workload = kit.t, found[0].workload
    lines = [(one, point, use) for one in found for point in one.points for use in point.uses]
    names = [name for name in ORDER if any(getattr(use, name) is not None for *_, use in lines)]
    if not names:
        return None
    columns = (
        Column(t("scale-out.column.scenario")),
        Column(t("factor.nodes"), numeric=True),
        Column(t("scale-out.use.server")),
        *(Column(t(f"scale-out.use.{name}"), numeric=True) for name in names),
    )
    rows = tuple(tuple(_cells(kit, one, point, use, names)) for one, point, use in lines)
    caption = t("scale-out.use.caption", workload=kit.names.workload_in_sentence(workload))
    emulated = any(use.cache_hits is not None for *_, use in lines)
    spread = (trial.distribution for trial in kit.analysis.plan.trials)
    elsewhere = any(one is not None and one.ran_already for one in spread)
    own = "note-attached" if elsewhere else "note-shared"
    own = "note-hosts" if have_own_hosts(kit) else own
    note = t("scale-out.use.note" if emulated else f"scale-out.use.{own}")
    return Table(f"use-{workload}", caption, columns, rows, note=note)


def fsync_table(kit: Kit) -> Table | None:
    """Table 5.6 of the report, measured before the first trial; None where it was not."""
    t = kit.t
    events = [event.detail for event in kit.analysis.events if event.kind == FSYNCS]
    if not events or "rates" not in events[-1]:
        return None
    found = events[-1]
    rows = tuple(
        (
            TableCell(bytes_text(float(interval)) if interval else t("scale-out.fsync.never")),
            TableCell(f"{bytes_text(found['rates'][str(interval)])}/s"),
            TableCell(f"{printed} MB/s", printed * 1e6),
        )
        for interval, printed in PRINTED.items()
        if str(interval) in found["rates"]
    )
    columns = (
        Column(t("scale-out.fsync.interval")),
        Column(t("scale-out.fsync.bandwidth"), numeric=True),
        Column(t("scale-out.fsync.printed"), numeric=True),
    )
    note = t("scale-out.fsync.note", folder=found["folder"], device=found["device"])
    return Table("fsync-intervals", t("scale-out.fsync.caption"), columns, rows, note=note)


def _cells(
    kit: Kit, one: ScaleOutResult, point: NodesPoint, use: RoleUse, names: list[str]
) -> Iterator[TableCell]:
    t = kit.t
    varied = tuple(pair for pair in one.context if pair[0] not in kit.names.single)
    yield TableCell(kit.names.context(varied) if varied else NOTHING)
    yield TableCell(str(point.nodes) if point.nodes else t("scale-out.plain"), float(point.nodes))
    yield TableCell(t(f"scale-out.role.{use.role.value}"))
    for name in names:
        value: float | None = getattr(use, name)
        yield TableCell(NOTHING if value is None else _written(kit, name)(value), value)


def _written(kit: Kit, name: str) -> Callable[[float], str]:
    if name in SHARES:
        return lambda value: percent(kit.t, value, 2)
    if name in SIZES:
        return bytes_text
    return lambda value: significant(value, 3)
