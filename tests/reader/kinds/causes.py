"""Root causes and bottlenecks: what limits, what changed per transaction, and where."""

from __future__ import annotations

import math
import re
from typing import Any

from tests.reader.arithmetic import geometric_mean, median
from tests.reader.document import Part, Table
from tests.reader.language import NUMBER, Book, Groups, printed
from tests.reader.reader import Reader

BOOK = Book(__name__)


@BOOK.says(of="caption")
def cause_caption(reader: Reader, groups: Groups, part: Part) -> None:
    sides = reader.side_of(groups["old"]), reader.side_of(groups["new"])
    levels = reader.campaign.levels(reader.campaign.contrast)
    reader.that(sides[0] == levels[0] and sides[1] in levels[1:], "not new against old")
    workload = reader.workload_of(part.part)
    known = workload is not None and reader.context_of(workload, groups["level"]) is not None
    reader.that(known, "no such level")


@BOOK.says()
def nothing_differs(reader: Reader, groups: Groups, part: Part) -> None:
    """No table below the workload's heading has a difference whose interval excludes 0."""
    captions = {"What changed per transaction", "1トランザクションあたりの変化"}
    for table in reader.document.tables:
        if table.caption in captions and table.part == part.part:
            for row in table.rows:
                ends = re.search(r"\(([−+]?[\d,.]+)(?: to |〜)([−+]?[\d,.]+)\)", row[4])
                if ends:
                    low, high = (printed(end).value for end in ends.groups())
                    reader.that(low <= 0 <= high, f"{row[0]} differs")


@BOOK.says()
def taken_note(reader: Reader, groups: Groups, part: Part) -> None:
    """There are several such tables below one heading: one of them is meant by each note."""
    captions = {"What changed per transaction", "1トランザクションあたりの変化"}
    found = [
        table
        for table in reader.document.tables
        if table.caption in captions and (table.part, table.topic) == (part.part, part.topic)
    ]
    table = before(reader, part, found)
    if table is None:
        reader.that(False, "no table")
        return
    reader.equal(groups["rows"], len(table.rows), "the rows")
    reader.equal(groups["again"], len(table.rows), "the rows")
    reader.same(groups["confidence"], (1 - reader.measure.alpha) * 100, "α")
    if "rest" in groups:
        reader.that(not re.search(r"\d", groups["rest"]), "a number in it")


def before(reader: Reader, part: Part, tables: list[Table]) -> Table | None:
    """The last of the tables before a part."""
    last = None
    for one in reader.document.parts:
        if one is part:
            return last
        if one.table is not None and one.table in tables:
            last = one.table
    return None


# --- functions -------------------------------------------------------------------------------

TABLES = ("CPU per transaction by function", "関数別のCPU時間")
WHOLE = {"all functions", "全関数"}
SELF, TOTAL, SHARE = 3, 6, 7
"""The columns of the differences: of a function itself, with what it calls, of the shares."""


def functions_table(reader: Reader, part: Part) -> Table | None:
    """The table of the functions of the level that a part is about: the next one after it, or, of
    its own note, the one before."""
    found = [table for table in reader.document.tables if table.caption.startswith(TABLES)]
    parts = reader.document.parts
    at = next(place for place, one in enumerate(parts) if one is part)
    for one in parts[at:]:
        if one.table is not None and one.table in found:
            return one.table
    return None


def row_of(table: Table, function: str) -> tuple[str, ...] | None:
    return next(
        (row for row in table.rows if row[0].split(" (")[0].split("(")[0] == function), None
    )


def change_in(cell: str) -> tuple[str, str, str]:
    """``+87 (+75 to +99)``"""
    found = re.fullmatch(rf"({NUMBER}) ?\(({NUMBER})(?: to |〜)({NUMBER})\)", cell)
    return (found[1], found[2], found[3]) if found else (cell, "", "")


def whole_is(reader: Reader, groups: Groups, part: Part, *, more: bool | None) -> Table | None:
    """That the difference of a sentence is that of all functions, in the table below."""
    table = functions_table(reader, part)
    whole = next((row for row in table.rows if row[0] in WHOLE), None) if table else None
    if table is None or whole is None:
        reader.that(False, "no table of the functions")
        return None
    value, low, high = change_in(whole[TOTAL])
    if "amount" in groups:
        reader.same(groups["amount"], abs(printed(value).value), "the difference")
        reader.that((printed(value).value > 0) == more, "more, or less")
    if "signed" in groups:
        reader.equal(groups["signed"], value, "the difference")
    if "low" in groups:
        reader.that((groups["low"], groups["high"]) == (low, high), f"it is {low} to {high}")
        reader.same(groups["confidence"], (1 - reader.measure.alpha) * 100, "α")
    sides = [reader.side_of(groups[one]) for one in ("old", "new") if one in groups]
    levels = reader.campaign.levels(reader.campaign.contrast)
    if sides:
        reader.that(sides[0] == levels[0] and sides[1] in levels[1:], "not new against old")
    return table


def part_is(reader: Reader, groups: Groups, table: Table, column: int) -> None:
    """What a function has of the difference, and what its share was and became."""
    row = row_of(table, groups["function"])
    whole = next(row for row in table.rows if row[0] in WHOLE)
    if row is None:
        reader.that(False, "no such function in the table")
        return
    value, all_of = (printed(change_in(one[at])[0]) for one, at in ((row, column), (whole, TOTAL)))
    share = value.value / all_of.value
    room = abs(share) * (value.step / abs(value.value) + all_of.step / abs(all_of.value)) * 0.6
    reader.same(groups["part"], share * 100, "its part", slack=room * 100)
    for name, at in (("before", 4), ("after", 5)):
        of, cost = printed(row[at]), printed(whole[at])
        part = of.value / cost.value
        room = part * (of.step / max(of.value, of.step) + cost.step / cost.value) * 0.6
        reader.same(groups[name], part * 100, name, slack=room * 100)
    _, low, high = change_in(row[SHARE])
    reader.that((groups["from"], groups["to"]) == (low, high), f"points are {low} to {high}")


@BOOK.says()
def explained(reader: Reader, groups: Groups, part: Part) -> None:
    table = whole_is(reader, groups, part, more=groups["form"] == "more")
    if table is not None:
        part_is(reader, groups, table, TOTAL)


@BOOK.says()
def spread(reader: Reader, groups: Groups, part: Part) -> None:
    whole_is(reader, groups, part, more=groups["form"] == "more")


@BOOK.says()
def own(reader: Reader, groups: Groups, part: Part) -> None:
    table = functions_table(reader, part)
    reader.that(table is not None, "no table")
    if table is not None:
        part_is(reader, groups, table, SELF)


@BOOK.says()
def undecided_cause(reader: Reader, groups: Groups, part: Part) -> None:
    whole_is(reader, groups, part, more=None)
    low, high = printed(groups["low"]).value, printed(groups["high"]).value
    reader.that(low <= 0 <= high, "it is decided")


@BOOK.says(of="caption")
def flames_caption(reader: Reader, groups: Groups, _part: Part) -> None:
    levels = reader.campaign.levels(reader.campaign.contrast)
    sides = reader.side_of(groups["old"]), reader.side_of(groups["new"])
    reader.that(sides[0] == levels[0] and sides[1] in levels[1:], "not from old to new")


@BOOK.says(of="caption")
def flame_caption(reader: Reader, groups: Groups, _part: Part) -> None:
    side = reader.side_of(groups["side"])
    reader.that(side is not None, "another side")
    reader.flames = side


@BOOK.says(of="caption")
def functions_caption(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.that(groups["unit"] in {"µs", "ms"}, "another unit")


def windows_of(reader: Reader, part: Part) -> dict[str, list[Any]]:
    """The samples of every window of the level that a part is about, by side."""
    campaign = reader.campaign
    level = None
    for one in reader.document.parts:
        if one is part:
            break
        named = re.fullmatch(r"(.+?): .+?(?: against .+|と.+の比較)", one.text)
        if one.kind == "caption" and named:
            level = named[1]
    workload = reader.workload_of(part.part)
    found: dict[str, list[Any]] = {}
    if workload is None or level is None:
        return found
    context = reader.context_of(workload, level)
    for planned in campaign.planned(workload):
        trial = campaign.counted.get(planned.number)
        samples = getattr(trial, "stack_samples", None)
        if samples is not None and planned.cell.context(campaign.contrast) == context:
            side = planned.cell.level(campaign.contrast) or ""
            found.setdefault(side, []).append(samples)
    return found


@BOOK.says()
def difference_note(reader: Reader, groups: Groups, part: Part) -> None:
    table = functions_table(reader, part)
    if table is None:
        reader.that(False, "no table")
        return
    changes = [printed(change_in(row[TOTAL])[0]) for row in table.rows if row[TOTAL] != "0"]
    greatest = max(changes, key=lambda one: abs(one.value))
    room = greatest.step + 0.03 * abs(greatest.value)
    reader.same(groups["strongest"], abs(greatest.value), "the strongest colour", slack=room)
    windows = windows_of(reader, part)
    pairs = min((len(window) for window in windows.values()), default=0)
    reader.equal(groups["pairs"], pairs, "the pairs of windows")
    reader.that(reader.side_of(groups["new"]) in reader.campaign.levels("server")[1:], "new")


@BOOK.says()
def flame_note(reader: Reader, groups: Groups, part: Part) -> None:
    windows = windows_of(reader, part).get(reader.flames or "", [])
    total = sum(sum(window.stacks.values()) for window in windows)
    reader.equal(groups["windows"], len(windows), "the windows")
    reader.same(groups["samples"], total, "the samples")
    nameless = sum(
        number
        for window in windows
        for stack, number in window.stacks.items()
        if is_nameless(stack)
    )
    reader.same(groups["unresolved"], 100 * nameless / max(1, total), "those without a name")
    table = functions_table(reader, part)
    whole = next((row for row in table.rows if row[0] in WHOLE), None) if table else None
    if whole is None:
        reader.that(False, "no table")
        return
    old = reader.flames == reader.campaign.levels(reader.campaign.contrast)[0]
    cost = printed(whole[4 if old else 5])
    reader.same(groups["cost"], cost.value, "the cost", slack=cost.step)


def is_nameless(stack: Any) -> bool:
    """The function that was running has no name."""
    last = str(stack).split(";")[-1]
    return last.startswith("[") and not last.endswith("_[k]") and last != "[vdso]"


@BOOK.says()
def functions_note(reader: Reader, groups: Groups, part: Part) -> None:
    found = [table for table in reader.document.tables if table.caption.startswith(TABLES)]
    table = before(reader, part, found)
    if table is None:
        reader.that(False, "no table")
        return
    rows = [row for row in table.rows if row[0] not in WHOLE]
    reader.equal(groups["shown"], len(rows), "the rows")
    reader.equal(groups["again"], groups["compared"], "the differences")
    windows = windows_of(reader, part)
    pairs = min((len(window) for window in windows.values()), default=0)
    reader.equal(groups["pairs"], pairs, "the pairs of windows")
    reader.same(groups["confidence"], (1 - reader.measure.alpha) * 100, "α")
    reader.that(not re.search(r"\d", groups["rest"]), "a number in the rest")


# --- bottlenecks -----------------------------------------------------------------------------


def where(reader: Reader, groups: Groups, part: Part) -> tuple[str, str, Any] | None:
    """Workload, side and context of a statement, and that the load reaches 90 % of the most."""
    workload = reader.workload_of(part.part)
    side, level = reader.side_of(groups["side"]), groups["level"]
    context = reader.context_of(workload, level) if workload else None
    reader.that(side is not None and context is not None, "no such side or level")
    if workload is None or side is None or context is None:
        return None
    return workload, side, context


def throughput(reader: Reader, workload: str, side: str) -> dict[int, float]:
    """The geometric mean of TPS by clients."""
    campaign = reader.campaign
    found = {}
    for context in campaign.contexts(workload):
        values = [
            one for one in campaign.values(workload, context, side, "tps").values() if one > 0
        ]
        if values:
            found[int(dict(context)["clients"])] = geometric_mean(values)
    return found


@BOOK.says(of="item")
def bottleneck_plain(reader: Reader, groups: Groups, part: Part) -> None:
    """A statement on the load at which it is judged; where it still rises that is the greatest."""
    place = where(reader, groups, part)
    if place is None:
        return
    means = throughput(reader, place[0], place[1])
    here = int(dict(place[2])["clients"])
    near = [one for one, tps in means.items() if tps >= 0.9 * max(means.values())]
    reader.that(here == max(near), f"judged is at {max(near)}")
    reader.that(groups.get("form") != "rising" or here == max(means), "not the greatest load")


@BOOK.says(of="item")
def bottleneck(reader: Reader, groups: Groups, part: Part) -> None:
    """One with its evidence."""
    bottleneck_plain(reader, groups, part)
    place = where(reader, groups, part)
    if place is None:
        return
    workload, side, context = place
    trials = [
        reader.campaign.counted[one.number]
        for one in reader.campaign.planned(workload)
        if one.number in reader.campaign.counted
        and one.cell.context(reader.campaign.contrast) == context
        and one.cell.level(reader.campaign.contrast) == side
    ]
    for one in re.split(", |、", groups["evidence"]):
        evidence(reader, one, trials)


def evidence(reader: Reader, text: str, trials: list[Any]) -> None:
    """A number of the evidence: a median over the trials, or a ceiling of the machine."""
    ceilings = reader.campaign.facts.ceilings
    cores = ceilings.cores if ceilings is not None else math.nan
    if re.search(r"processors idle|CPUアイドル", text):  # of what programs can get
        busy = [
            trial.metrics["cpu_user_share"] + trial.metrics["cpu_system_share"] for trial in trials
        ]
        idle = 1 - median(busy) * reader.campaign.facts.cpu.logical / cores
        reader.same(text, max(0.0, idle) * 100, "idle")
        return
    if re.search(r"programs can get|使用できるCPU", text):
        reader.same(text, cores, "the cores")
        return
    if re.search(r"backends running|実行中の割合", text):
        waits: dict[str, float] = {}
        for trial in trials:
            for each in trial.series:
                if each.source == "waits":
                    for event, column in each.columns.items():
                        waits[event] = waits.get(event, 0.0) + float(column.sum())
        active = {event: one for event, one in waits.items() if not event.startswith("Client:")}
        share = active.get("CPU", 0.0) / max(sum(active.values()), 1e-9)
        reader.same(text, share * 100, "backends running", slack=1.0)
        return
    reader.that(False, f"unread evidence: {text}")


@BOOK.says(of="text")
def legend(reader: Reader, groups: Groups, _part: Part) -> None:
    levels = reader.campaign.levels(reader.campaign.contrast)
    reader.that(reader.side_of(groups["new"]) in levels[1:], "not the new side")
    reader.equal(groups["again"], groups["new"], "the side")
