"""Where files lie: TPS by placement, what each storage did, and which of them limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from teiten.analysis.model.observations import without
from teiten.kinds.pgbench.metrics import TPS
from teiten.kinds.pgbench.placements import (
    PLACEMENT,
    Direction,
    PlacementResult,
    PlacementRow,
    StorageUse,
)
from teiten.kinds.pgbench.results import pgbench_found
from teiten.model.text import joined_sentences
from teiten.report.blocks import Block, Gallery, Heading, Items
from teiten.report.charts.bars import ranked
from teiten.report.charts.base import Chart
from teiten.report.charts.levels import Dot
from teiten.report.effects import percent
from teiten.report.numbers import fixed, significant
from teiten.report.tables import Column, Row, Table, TableCell, cells, number_cell
from teiten.report.view.kit import Kit
from teiten.report.view.variants import emulated, storage_name, storage_tables

KILO = 1024.0


def placements(kit: Kit, prefix: str, workload: str) -> Iterator[Block]:
    """Nothing without the factor placement."""
    every = pgbench_found(kit.analysis).placements
    mine = [placed for placed in every if placed.workload == workload]
    for at, result in enumerate(mine, start=1):
        name = f"{prefix}-placement-{at}"
        varied = kit.names.varied_levels(result.context)
        yield Heading(4, kit.t.aside(kit.t("placement.title"), varied))
        if result is every[0]:
            yield from storage_tables(kit)
        yield Gallery((_chart(kit, name, result),))
        yield Items(tuple(_sentences(kit, result)))
        yield _transfers(kit, name, result)
        yield _devices(kit, name, result)


def _chart(kit: Kit, name: str, result: PlacementResult) -> Chart:
    t = kit.t
    dots = [
        Dot("", _called(kit, dict(trial.levels)[PLACEMENT]), "", trial.metrics[TPS.name],
            trial.block, trial.number)
        for group in kit.of_workload(result.workload)
        for trial in group.trials
        if without(trial.levels, PLACEMENT) == result.context
        and TPS.name in trial.metrics
    ]  # fmt: skip
    labels = {_called(kit, row.level): _tps(kit, row) for row in result.rows}
    return ranked(
        t,
        f"{name}-ranked",
        dots,
        labels,
        title=t("placement.chart.title"),
        note=joined_sentences((t("placement.chart.note"), _emulated_note(kit))),
        x="TPS",
        called=kit.names.factor(PLACEMENT),
    )


def _sentences(kit: Kit, result: PlacementResult) -> Iterator[str]:
    t = kit.t
    best = max(result.rows, key=lambda row: row.tps)
    first = result.rows[0]
    if best is not first and best.relative is not None:
        yield t(
            "placement.best",
            best=_called(kit, best.level),
            first=_called(kit, first.level),
            times=fixed(best.relative, 1),
        )
    for row in result.rows:
        yield _limited(kit, row)
    yield _followed(kit, result)
    note = _emulated_note(kit)
    if note:
        yield note


def _limited(kit: Kit, row: PlacementRow) -> str:
    """The storage that limits a placement, and what that rests on."""
    t, level = kit.t, _called(kit, row.level)
    if not row.storages:
        return t("placement.unseen", placement=level)
    used = sorted(row.storages, key=lambda use: use.load, reverse=True)
    seen = t("list.strong").join(_loaded(kit, use) for use in used)
    if row.bottleneck is None:
        return t("placement.unlimited", placement=level, seen=seen)
    storage = storage_name(kit, row.bottleneck)
    return t("placement.limited", placement=level, storage=storage, seen=seen)


def _loaded(kit: Kit, use: StorageUse) -> str:
    key = "placement.busy" if use.of_limit is None else "placement.of-limit"
    return kit.t(key, storage=use.storage, share=percent(kit.t, use.load, 0))


def _followed(kit: Kit, result: PlacementResult) -> str:
    t, correlations = kit.t, result.correlations
    if not correlations:
        return t("placement.no-correlation")
    listed = t("list.separator").join(
        t(f"placement.correlation.{direction}", value=fixed(correlations[direction], 2))
        for direction in Direction
        if direction in correlations
    )
    key = "unclear" if result.followed is None else str(result.followed)
    return t(f"placement.followed.{key}", count=len(result.rows), told=listed)


def _transfers(kit: Kit, name: str, result: PlacementResult) -> Table:
    """KB/s and TPS with their ratios to the first placement's, as tables 4.8 and 4.9 of 2013."""
    t, reference = kit.t, kit.study.levels(PLACEMENT)[0]
    first = next((row for row in result.rows if row.level == reference), None)
    counted = {use.storage for row in result.rows for use in row.storages}
    storages = [storage.name for storage in kit.study.storage if storage.name in counted]
    columns = [Column(kit.names.factor(PLACEMENT)), Column("TPS", numeric=True)]
    for storage in storages:
        for way in Direction:
            title = t(f"placement.column.{way}", storage=storage_name(kit, storage))
            columns.append(Column(title, numeric=True))
    columns += [Column(t(f"placement.column.all-{way}"), numeric=True) for way in Direction]
    rows = tuple(_transfer_row(kit, row, first, storages) for row in result.rows)
    note = joined_sentences((t("placement.transfers.note"), _emulated_note(kit)))
    caption = t("placement.transfers.caption", workload=kit.names.workload(result.workload))
    return Table(f"{name}-transfers", caption, tuple(columns), rows, note=note)


def _transfer_row(
    kit: Kit, row: PlacementRow, first: PlacementRow | None, storages: Sequence[str]
) -> Row:
    uses = {use.storage: use for use in row.storages}
    rates = (
        getattr(uses[storage], way) if storage in uses else None
        for storage in storages
        for way in Direction
    )
    together = [(_total(row, way, storages), _total(first, way, storages)) for way in Direction]
    return (
        *cells(_called(kit, row.level)),
        TableCell(_tps(kit, row), row.tps),
        *(number_cell(rate, _kilobytes) for rate in rates),
        *(number_cell(total, partial(_kilobytes, of=base)) for total, base in together),
    )


def _total(row: PlacementRow | None, way: Direction, storages: Sequence[str]) -> float | None:
    """B/s of all storages; None where that of one is not known."""
    if row is None or not storages or len(row.storages) < len(storages):
        return None
    return row.total(way)


def _devices(kit: Kit, name: str, result: PlacementResult) -> Table:
    t = kit.t
    keys = ("storage", "reads", "writes", "busy", "queue", "of-limit")
    columns = (
        Column(kit.names.factor(PLACEMENT)),
        *(Column(t(f"placement.column.{key}"), numeric=key != "storage") for key in keys),
    )
    rows = tuple(
        (
            *cells(_called(kit, row.level), storage_name(kit, storage.storage)),
            TableCell(significant(storage.reads), storage.reads),
            TableCell(significant(storage.writes), storage.writes),
            TableCell(percent(t, storage.busy, 0), storage.busy),
            TableCell(fixed(storage.queue, 1), storage.queue),
            TableCell(
                "" if storage.of_limit is None else percent(t, storage.of_limit, 0),
                storage.of_limit,
            ),
        )
        for row in result.rows
        for storage in row.storages
    )
    return Table(
        f"{name}-devices",
        t("placement.devices.caption", workload=kit.names.workload(result.workload)),
        columns,
        rows,
        note=t("placement.devices.note"),
    )


def _called(kit: Kit, level: str) -> str:
    return kit.names.level(PLACEMENT, level)


def _tps(kit: Kit, row: PlacementRow) -> str:
    tps = significant(row.tps)
    if row.relative is None:
        return tps
    return kit.t("placement.times", value=tps, times=fixed(row.relative, 2))


def _kilobytes(value: float, of: float | None = None) -> str:
    shown = fixed(value / KILO, 0)
    return shown if not of else f"{shown} ({fixed(value / of, 2)})"


def _emulated_note(kit: Kit) -> str:
    names = kit.t("list.separator").join(emulated(kit))
    return kit.t("storage.emulated-note", storages=names) if names else ""
