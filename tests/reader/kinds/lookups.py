"""The sentences about lookups by an index: visits to the table, and what readers wrote."""

from __future__ import annotations

from statistics import fmean, median

from tests.reader.campaign import Context
from tests.reader.document import Part, Table
from tests.reader.language import Book, Groups, printed
from tests.reader.noise import size
from tests.reader.reader import Reader

BOOK = Book(__name__)
FETCHES, VISIBLE, WAL = (
    "heap_fetches_per_lookup",
    "visible_pages_share",
    "wal_bytes_per_transaction",
)
CAPTION = {"Visits to the table and WAL", "テーブルの参照とWAL"}
COLUMNS = {
    "visible pages": (VISIBLE, 100.0),
    "all-visibleのページ": (VISIBLE, 100.0),
    "visits per lookup": (FETCHES, 1.0),
    "検索あたりのテーブル参照": (FETCHES, 1.0),
    "TPS": ("tps", 1.0),
}
BYTES = {"WAL per transaction", "トランザクションあたりのWAL"}


Side = tuple[Context, str]


def medians(reader: Reader, workload: str, metric: str) -> dict[Side, float]:
    """By context and side, of those where anything was counted."""
    campaign = reader.campaign
    found = {}
    for context in campaign.contexts(workload):
        for side in campaign.sides(workload):
            values = list(campaign.values(workload, context, side, metric).values())
            if values:
                found[context, side] = median(values)
    return found


def called(reader: Reader, workload: str, text: str) -> Side | None:
    """``PostgreSQL 18, 4 clients``"""
    contexts = reader.campaign.contexts(workload)
    if len(contexts) == 1:
        side = reader.side_of(text)
        return None if side is None else (contexts[0], side)
    parts = text.split(reader.separator)
    for at in range(1, len(parts)):
        side = reader.side_of(reader.separator.join(parts[:at]))
        context = reader.context_of(workload, reader.separator.join(parts[at:]))
        if side is not None and context is not None:
            return context, side
    return None


@BOOK.says()
def wrote(reader: Reader, groups: Groups, part: Part) -> None:
    """The most and the least of all that were counted."""
    workload = reader.workload_of(part.part)
    if workload is None:
        reader.that(False, "of no workload")
        return
    found = {
        side: value
        for side, value in medians(reader, workload, WAL).items()
        if side in medians(reader, workload, FETCHES)
    }
    for word, extreme in (("most", max), ("least", min)):
        side = called(reader, workload, groups[f"{word}_of"])
        if side not in found:
            reader.that(False, f"nobody wrote as {groups[f'{word}_of']}")
            continue
        reader.that(found[side] == extreme(found.values()), f"it is not the {word}")
        reader.equal(groups[word], size(found[side]), f"the {word}")


@BOOK.says()
def readers_wrote(reader: Reader, groups: Groups, part: Part) -> None:
    """In the mean over the pairs of a level; without a level there is one that differs."""
    campaign = reader.campaign
    sides = {name: reader.side_of(groups[name]) or "" for name in ("new", "old")}
    fits = []
    for workload in (each.name for each in campaign.plan.study.workloads):
        for context in campaign.contexts(workload):
            values = {
                name: campaign.values(workload, context, side, WAL) for name, side in sides.items()
            }
            blocks = values["new"].keys() & values["old"].keys()
            if blocks:
                fits.append(
                    all(
                        groups[f"{name}_wal"] == size(fmean(values[name][at] for at in blocks))
                        for name in sides
                    )
                )
    reader.that(any(fits), "no level has such means")


def close(reader: Reader) -> None:
    """The numbers of the tables of lookups."""
    for table in reader.document.tables:
        if table.caption in CAPTION:
            _table(reader, table)


def _table(reader: Reader, table: Table) -> None:
    workload = reader.workload_of(table.part)
    if workload is None:
        reader.that(False, "lookups of no workload")
        return
    first = min(at for at, name in enumerate(table.columns) if name in {*COLUMNS, *BYTES})
    counted = medians(reader, workload, FETCHES)
    reader.about = f"{table.caption}, {workload}"
    reader.that(len(table.rows) == len(counted), "not all that were counted")
    for row in table.rows:
        reader.about = f"{table.caption}: {' | '.join(row)}"
        side = [
            (context, level)
            for context, level in counted
            if reader.side_of(row[first - 1]) == level
            and all(one in dict(context).values() for one in row[: first - 1])
        ]
        if len(side) != 1:
            reader.that(False, f"of {side}")
            continue
        _row(reader, table, row, workload, side[0])


def _row(reader: Reader, table: Table, row: tuple[str, ...], workload: str, side: Side) -> None:
    for name, cell in zip(table.columns, row, strict=True):
        metric, factor = COLUMNS.get(name, (WAL, 1.0))
        if name not in COLUMNS and name not in BYTES:
            continue
        value = medians(reader, workload, metric).get(side)
        if value is None or not cell:
            reader.that(value is None and not cell, f"{name} was counted, or was not")
        elif name in BYTES:
            reader.equal(cell, size(value), name)
        else:
            reader.that(printed(cell).is_of(value * factor), f"{name} is {value * factor}")
