"""Lookups by an index: how many visited the table, and what they wrote, by what was varied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from teiten.analysis.model.discussion import WAL_ROW
from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult
from teiten.kinds.pgbench.metrics import HEAP_FETCHES, TPS
from teiten.kinds.pgbench.present.latency import head_cells, head_columns
from teiten.model.metrics import VISIBLE_PAGES, WAL_PER_TRANSACTION
from teiten.report.blocks import Block, Heading, Text, gallery
from teiten.report.effects import percent
from teiten.report.names import Names
from teiten.report.numbers import bytes_text, fixed, significant
from teiten.report.tables import Column, Row, Table, TableCell
from teiten.report.texts import Texts
from teiten.report.view.kit import Kit, TrialGroup
from teiten.report.view.levels import metric_chart


@dataclass(frozen=True)
class _Column:
    """A column: its text's key, how a number is written, and by what it is divided."""

    metric: str
    key: str
    written: Callable[[Kit, float], str]
    by_transaction: bool = False


NUMBERS = (
    _Column(VISIBLE_PAGES.name, "visible", lambda kit, value: percent(kit.t, value, 1)),
    _Column(HEAP_FETCHES.name, "fetches", lambda _, value: fixed(value, 3)),
    _Column(TPS.name, "tps", lambda _, value: significant(value)),
    _Column(WAL_PER_TRANSACTION.name, "wal", lambda _, value: bytes_text(value)),
    _Column("wal_records", "records", lambda _, value: fixed(value, 3), by_transaction=True),
    _Column(
        "wal_full_page_images", "images", lambda _, value: fixed(value, 3), by_transaction=True
    ),
)


def lookups(kit: Kit, prefix: str, workload: str) -> Iterator[Block]:
    """Nothing where they were not counted."""
    groups = [group for group in kit.of_workload(workload) if group.values(HEAP_FETCHES.name)]
    if not groups:
        return
    yield Heading(4, kit.t("lookups.title"))
    sentence = _sentence(kit, groups)
    if sentence:
        yield Text(sentence)
    yield from gallery([metric_chart(kit, f"{prefix}-heap-fetches", groups, HEAP_FETCHES)])
    yield _table(kit, f"{prefix}-lookups", groups)


def readers_wrote(
    t: Texts, names: Names, analysis: CampaignAnalysis, contrast: ContrastResult
) -> str:
    """Whether lookups write WAL on one side and not on the other, behind the answer's sentence;
    empty where they were not counted, and where no difference is shown."""
    if not any(
        trial.workload == contrast.workload and HEAP_FETCHES.name in trial.metrics
        for trial in analysis.trials
    ):
        return ""
    key = (contrast.workload, contrast.old, contrast.new)
    rows = [
        (table.context, row)
        for table in analysis.per_transaction
        if (table.workload, table.old, table.new) == key
        for row in table.rows
        if row.name == WAL_ROW and row.change.certain and bytes_text(row.new) != bytes_text(row.old)
    ]
    if not rows:
        return ""
    context, row = max(rows, key=lambda at_level: abs(at_level[1].change.difference))
    return t(
        "lookups.readers-wrote-at" if len(contrast.levels) > 1 else "lookups.readers-wrote",
        new=names.side(contrast.new).long,
        old=names.side(contrast.old).long,
        new_wal=bytes_text(row.new),
        old_wal=bytes_text(row.old),
        level=names.context(context),
    )


def _sentence(kit: Kit, groups: Sequence[TrialGroup]) -> str:
    """Say how much WAL the readers wrote per transaction, at most and at least."""
    wal = {at: _middle(group, WAL_PER_TRANSACTION.name) for at, group in enumerate(groups)}
    known = {at: value for at, value in wal.items() if value is not None}
    if len(known) < 2:
        return ""
    most, least = max(known, key=lambda at: known[at]), min(known, key=lambda at: known[at])
    return kit.t(
        "lookups.wrote",
        most=bytes_text(known[most]),
        most_of=_called(kit, groups[most]),
        least=bytes_text(known[least]),
        least_of=_called(kit, groups[least]),
    )


def _called(kit: Kit, group: TrialGroup) -> str:
    parts = (kit.names.side(group.side).long, kit.names.varied_levels(group.context))
    return kit.t("list.separator").join(filter(None, parts))


def _middle(group: TrialGroup, metric: str) -> float | None:
    values = group.values(metric)
    return median(values) if values else None


def _each(group: TrialGroup, number: _Column) -> float | None:
    if not number.by_transaction:
        return _middle(group, number.metric)
    per_transaction = [
        trial.metrics[number.metric] / trial.metrics["transactions"]
        for trial in group.trials
        if number.metric in trial.metrics and trial.metrics.get("transactions", 0.0) > 0
    ]
    return median(per_transaction) if per_transaction else None


def _table(kit: Kit, name: str, groups: Sequence[TrialGroup]) -> Table:
    t = kit.t
    shown = [
        number for number in NUMBERS if any(_each(group, number) is not None for group in groups)
    ]
    factors = kit.names.varied([group.context for group in groups])
    columns = (
        *head_columns(kit, factors),
        *(Column(t(f"lookups.column.{number.key}"), numeric=True) for number in shown),
    )
    rows = tuple(_row(kit, group, factors, shown) for group in groups)
    return Table(name, t("lookups.caption"), columns, rows, note=t("lookups.note"))


def _row(kit: Kit, group: TrialGroup, factors: Sequence[str], shown: Sequence[_Column]) -> Row:
    medians = [_each(group, number) for number in shown]
    numbers = (
        TableCell("" if value is None else number.written(kit, value), value)
        for number, value in zip(shown, medians, strict=True)
    )
    return (*head_cells(kit, group, factors), *numbers)
