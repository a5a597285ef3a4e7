"""The sentences about execution plans, against the tables beside them."""

from __future__ import annotations

import re
from typing import Any

from tests.reader.campaign import Context
from tests.reader.document import Part, Table
from tests.reader.kinds.queries import plans_of
from tests.reader.language import Book, Check, Groups, count
from tests.reader.reader import Reader

BOOK = Book(__name__)

SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
TIME = r"[+−]?(?:\d[\d,]*(?:\.\d+)? (?:µs|ms|s|min|h))(?: \d+(?:\.\d+)? (?:s|min))?|—"
MOST_ROWS = 20


@BOOK.says(of="caption")
def kinds_caption(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.that(reader.side_of(groups["side"]) is not None, "another side")


@BOOK.says(of="caption")
def scans_caption(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.that(reader.side_of(groups["side"]) is not None, "another side")


@BOOK.says(of="caption")
def plan_caption(reader: Reader, groups: Groups, part: Part) -> None:
    """Which side's plan opens here."""
    reader.that(reader.side_of(groups["side"]) is not None, "unread sentence")


@BOOK.says(of="heading")
def query_heading(reader: Reader, groups: Groups, part: Part) -> None:
    """The heading of a query's plans."""
    known = any(
        groups["query"] in reader.context_texts(one.name, context)
        for one in reader.campaign.workloads()
        for context in reader.campaign.contexts(one.name)
    )
    reader.that(known and part.level == 3, "unread sentence")


def shapes(reader: Reader, part: Part) -> list[list[str]]:
    """The node types of the plans of the query above, of the first side and the last."""
    tables = [
        table
        for table in reader.document.tables
        if table.part == part.part
        and table.section == part.section
        and table.caption.startswith(("By node type", "計画ノード統計"))
    ]
    return [sorted(f"{row[0]} {row[1]}" for row in table.rows) for table in tables]


@BOOK.says()
def same(reader: Reader, _groups: Groups, part: Part) -> None:
    found = shapes(reader, part)
    reader.that(len(found) < 2 or found[0] == found[1], "other nodes")
    said = [one for one in reader.document.parts if one.part == part.part and one.kind == "item"]
    reader.that(
        not any(one.text.startswith(("new: ", "gone: ", "追加: ", "削除: ")) for one in said),
        "nodes came or went",
    )


@BOOK.says()
def different(reader: Reader, _groups: Groups, part: Part) -> None:
    said = [
        one.text
        for one in reader.document.parts
        if one.part == part.part and one.section == part.section and one.kind == "item"
    ]
    none = {"No node differs in what it does.", "処理内容が異なる計画ノードはない。"}
    reader.that(bool(said) and not none & set(said), "nothing differs")


@BOOK.says()
def no_changes(reader: Reader, _groups: Groups, part: Part) -> None:
    said = [
        one
        for one in reader.document.parts
        if one.part == part.part and one.section == part.section and one.kind == "item"
    ]
    over = ("On ", "では")
    others = [one for one in said if over[0] not in one.text and over[1] not in one.text]
    reader.that(len(others) == 1, "and yet some do")


@BOOK.says()
def over(reader: Reader, groups: Groups, part: Part) -> None:
    side = reader.side_of(groups["side"])
    campaign = reader.campaign
    for one in campaign.workloads():
        for context in campaign.contexts(one.name):
            if part.part in reader.context_texts(one.name, context):
                within = campaign.values(one.name, context, side or "", "query_seconds")
                limits = campaign.over(one.name, context, [side or ""])
                reader.that(not within and bool(limits), "not every execution did")


@BOOK.says()
def nodes_note(reader: Reader, groups: Groups, part: Part) -> None:
    table = nodes_table(reader, part)
    if table is None:
        reader.that(False, "no table")
        return
    rows, said = len(table.rows), count(groups["count"])
    reader.that(said == rows if rows < MOST_ROWS else said >= rows, f"{rows} are shown")


def nodes_table(reader: Reader, part: Part) -> Table | None:
    return next(
        (
            table
            for table in reader.document.tables
            if (table.part, table.section) == (part.part, part.section)
            and table.caption in {"Node by node", "計画ノードごとの比較"}
        ),
        None,
    )


# --- changes ---------------------------------------------------------------------------------

COST = rf"(?: ?\((?P<before>{TIME}) → (?P<after>{TIME})(?:, |、)(?P<cost>{TIME})\))?"


def change(check: Check) -> Check:
    """A difference of two plans, with what it costs behind it."""

    def checked(reader: Reader, groups: Groups, part: Part) -> None:
        costs(reader, groups, part)
        check(reader, groups, part)

    return BOOK.says(check.__name__, of="item", then=COST)(checked)


def seconds(text: str) -> tuple[float, float]:
    """A time and how far it may be rounded; 0 of nothing."""
    if text == "—":
        return 0.0, 0.0
    found = re.findall(r"(\d[\d,]*)(?:\.(\d+))? (µs|ms|s|min|h)", text)
    value = step = 0.0
    for whole, decimals, unit in found:
        value += float(f"{whole.replace(',', '')}.{decimals or 0}") * SECONDS[unit]
        step = 10.0 ** -len(decimals) * SECONDS[unit]
    return (-value if text[0] == "−" else value), step


def costs(reader: Reader, groups: Groups, part: Part) -> None:
    """That the cost is the difference of the times, and that a node has these times."""
    if groups.get("before") is None:
        return
    table = nodes_table(reader, part)
    if table is not None and len(table.rows) < MOST_ROWS and "count" not in groups:
        said = (groups["before"], groups["after"], groups["cost"])
        reader.that(any(row[2:5] == said for row in table.rows), "no node has these times")
    (before, one), (after, other), (cost, last) = (
        seconds(groups[name]) for name in ("before", "after", "cost")
    )
    room = (one + other + last) * 0.51 + 1e-9
    reader.that(abs(after - before - cost) <= room, "the cost is not the difference")
    reader.that((cost >= 0) == (groups["cost"][0] in "+0"), "the sign of the cost")


def node_is_there(reader: Reader, text: str, part: Part, column: int) -> None:
    """That a node of this name stands in the table of the nodes, or its kind in the side's."""
    table = nodes_table(reader, part)
    if table is None or len(table.rows) >= MOST_ROWS:
        return
    names = {row[column] for row in table.rows}
    reader.that(text in names, f"no node {text} in {names}")


@change
def became(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["old"], part, 0)
    node_is_there(reader, groups["new"], part, 1)


@change
def partitioned(reader: Reader, groups: Groups, part: Part) -> None:
    became_group(reader, groups, part)


@change
def unpartitioned(reader: Reader, groups: Groups, part: Part) -> None:
    became_group(reader, groups, part)


def became_group(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["old"], part, 0)
    node_is_there(reader, groups["new"], part, 1)


@change
def added(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["new"], part, 1)


@change
def removed(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["old"], part, 0)


@change
def shared(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["new"], part, 1)
    reader.that("Parallel" in groups["new"] or "分担" in part.text, "not a parallel node")


@change
def alone(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["new"], part, 1)
    reader.that("Parallel" not in groups["new"], "a parallel node")


@change
def workers(reader: Reader, groups: Groups, part: Part) -> None:
    """As the table of the plans in numbers has them."""
    table = next(
        (
            table
            for table in reader.document.tables
            if (table.part, table.section) == (part.part, part.section)
            and table.caption in {"The plans in numbers", "実行計画の数値"}
        ),
        None,
    )
    if table is None:
        reader.that(False, "no table of the plans")
        return
    said = [
        f"{groups[f'{side}_launched']} / {groups[f'{side}_planned']}" for side in ("old", "new")
    ]
    for row in table.rows:
        if row[0].startswith(("Workers launched", "ワーカー数")):
            reader.that(list(row[1:3]) == said, f"the workers are {row[1:3]}")
            return
    known = {
        f"{one.get('Workers Launched', 0)} / {one['Workers Planned']}"
        for shown in plans_of(reader).values()
        for plan in shown
        for one in [plan["Plan"]]
        if "Workers Planned" in one
    }
    reader.that(set(said) <= known, f"the workers are {known}")


@change
def many_became(reader: Reader, groups: Groups, part: Part) -> None:
    alike(reader, groups, part, ("old", "new"))


@change
def many_added(reader: Reader, groups: Groups, part: Part) -> None:
    alike(reader, groups, part, ("new",))


@change
def many_removed(reader: Reader, groups: Groups, part: Part) -> None:
    alike(reader, groups, part, ("old",))


def alike(reader: Reader, groups: Groups, part: Part, sides: tuple[str, ...]) -> None:
    """Not more nodes of a type than the table of the types has."""
    at = {"old": 0, "new": -1}
    tables = [
        table
        for table in reader.document.tables
        if (table.part, table.section) == (part.part, part.section)
        and table.caption.startswith(("By node type", "計画ノード統計"))
    ]
    for side in sides:
        kind = groups[side].removeprefix("Parallel ").removeprefix("Partial ")
        rows = [row for row in tables[at[side]].rows if row[0] == kind] if tables else []
        reader.that(
            bool(rows) and 3 < count(groups["count"]) <= int(rows[0][1]), f"not so many {kind}"
        )


@change
def workers_planned(reader: Reader, groups: Groups, _part: Part) -> None:
    """Where not both plans were executed."""
    pairs = {
        tuple(plan["Plan"].get("Workers Planned") for plan in (old, new))
        for old, new in estimated_pairs(reader)
    }
    said = int(groups["old_planned"]), int(groups["new_planned"])
    reader.that(said in pairs, f"the workers are {pairs}")


def estimated_pairs(reader: Reader) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Plans of the first side and the last, of which not both were executed."""
    found: dict[tuple[str, Context], dict[str, list[dict[str, Any]]]] = {}
    for (workload, context, side), plans in plans_of(reader).items():
        found.setdefault((workload, context), {})[side] = plans
    pairs = []
    for (workload, _), sides in found.items():
        known = [sides[one] for one in reader.campaign.sides(workload) if one in sides]
        pairs += [
            (old, new)
            for old in known[0]
            for new in known[-1]
            if not ("Execution Time" in old and "Execution Time" in new)
        ]
    return pairs


@BOOK.says(of="item")
def more(reader: Reader, groups: Groups, part: Part) -> None:
    said = [
        one
        for one in reader.document.parts
        if (one.part, one.section, one.kind) == (part.part, part.section, "item")
    ]
    reader.that(len(said) == 21 and count(groups["count"]) > 0, "not after twenty")
