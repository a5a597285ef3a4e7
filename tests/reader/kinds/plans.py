"""The sentences about execution plans, against the tables beside them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.reader.campaign import Context
from tests.reader.document import Part, Table
from tests.reader.kinds.queries import plans_of
from tests.reader.language import Book, Groups, count
from tests.reader.reader import Reader

BOOK = Book()

SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
TIME = r"[+−]?(?:\d[\d,]*(?:\.\d+)? (?:µs|ms|s|min|h))(?: \d+(?:\.\d+)? (?:s|min))?|—"
MOST_ROWS = 20

BOOK.only_words(
    ("The statement", "SQL文"),
    ("Node statistics", "計画ノード統計"),
    ("Show the plans", "実行計画を表示"),
    (
        "The viewer is pev2 by Dalibo, included in this file; it asks the network for nothing. Its"
        " times per node treat parallel plans in its own way.",
        "表示にはDalibo社のpev2を使う。このファイルに組み込まれており、ネットワークには接続しない。計画ノードごとの時間について、"
        "pev2はパラレルクエリを独自の方法で扱う。",
    ),
    ("The plans in numbers", "実行計画の数値"),
    ("Node by node", "計画ノードごとの比較"),
    (
        "Every counted trial of a query is followed by EXPLAIN (ANALYZE, VERBOSE, BUFFERS), which"
        " is not timed: its own times are longer than those above by the cost of the"
        " instrumentation. Of the repetitions the one nearest to the median is shown.",
        "クエリの各試行では、測定とは別にEXPLAIN (ANALYZE, VERBOSE, BUFFERS)を実行した。計測の負荷が加わるため、"
        "その時間は上の結果より長い。繰り返しのうち、中央値に最も近い実行計画を示す。",
    ),
    (
        "Exclusive times: each node's own, without the nodes that it waited for; the workers'"
        " beside the leader's. The share is of the time of all processes.",
        "時間は排他時間(待っていた計画ノードの時間を除いたもの)で、ワーカーの時間はリーダーと分けて示す。割合は"
        "全プロセスの時間に対するもの。",
    ),
)


@BOOK.says("By node type: <side:t>", "計画ノード統計: <side:t>", of="caption")
def kinds_caption(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.that(reader.side_of(groups["side"]) is not None, "another side")


@BOOK.says(
    "Scans of a parallel plan by number of workers: <side:t>",
    "ワーカー数ごとのスキャン数: <side:t>",
    of="caption",
)
def scans_caption(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.that(reader.side_of(groups["side"]) is not None, "another side")


@BOOK.says("<side:t>", "<side:t>", of="caption")
def plan_caption(reader: Reader, groups: Groups, part: Part) -> None:
    """Which side's plan opens here."""
    reader.that(reader.side_of(groups["side"]) is not None, "unread sentence")


@BOOK.says("<query:t>", "<query:t>", of="heading")
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


@BOOK.says("The plan has the same structure on both sides.", "両者の実行計画の構造は同じである。")
def same(reader: Reader, _groups: Groups, part: Part) -> None:
    found = shapes(reader, part)
    reader.that(len(found) < 2 or found[0] == found[1], "other nodes")
    said = [one for one in reader.document.parts if one.part == part.part and one.kind == "item"]
    reader.that(
        not any(one.text.startswith(("new: ", "gone: ", "追加: ", "削除: ")) for one in said),
        "nodes came or went",
    )


@BOOK.says("The plans of the sides differ in their structure.", "両者の実行計画は構造が異なる。")
def different(reader: Reader, _groups: Groups, part: Part) -> None:
    said = [
        one.text
        for one in reader.document.parts
        if one.part == part.part and one.section == part.section and one.kind == "item"
    ]
    none = {"No node differs in what it does.", "処理内容が異なる計画ノードはない。"}
    reader.that(bool(said) and not none & set(said), "nothing differs")


@BOOK.says("No node differs in what it does.", "処理内容が異なる計画ノードはない。")
def no_changes(reader: Reader, _groups: Groups, part: Part) -> None:
    said = [
        one
        for one in reader.document.parts
        if one.part == part.part and one.section == part.section and one.kind == "item"
    ]
    over = ("On ", "では")
    others = [one for one in said if over[0] not in one.text and over[1] not in one.text]
    reader.that(len(others) == 1, "and yet some do")


@BOOK.says(
    "On <side:t> every execution exceeded the time limit: its plan is an estimate, without times.",
    "<side:t>ではすべての実行が制限時間を超えた。実行計画は見積もりのみで、時間の情報はない。",
)
def over(reader: Reader, groups: Groups, part: Part) -> None:
    side = reader.side_of(groups["side"])
    campaign = reader.campaign
    for one in campaign.workloads():
        for context in campaign.contexts(one.name):
            if part.part in reader.context_texts(one.name, context):
                within = campaign.values(one.name, context, side or "", "query_seconds")
                limits = campaign.over(one.name, context, [side or ""])
                reader.that(not within and bool(limits), "not every execution did")


@BOOK.says(
    "Exclusive time of all processes: what a node used itself, without the nodes that it waited"
    " for. Of <count:i> nodes those are shown whose time differs most.",
    "全プロセスの排他時間(待っていた計画ノードの時間を除いた、その計画ノード自身の時間)。<count:i>個の計画ノード"
    "のうち、時間の差が大きいものを示す。",
)
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


def change(en: str, ja: str) -> Callable[[Callable[[Reader, Groups, Part], None]], None]:
    """A difference of two plans, with what it costs behind it."""

    def register(check: Callable[[Reader, Groups, Part], None]) -> None:
        def checked(reader: Reader, groups: Groups, part: Part) -> None:
            costs(reader, groups, part)
            check(reader, groups, part)

        checked.__name__ = check.__name__
        BOOK.says(en, ja, of="item")(checked)
        pattern = BOOK.patterns[-1]
        for language in ("en", "ja"):
            text = pattern.matches[language].pattern + COST
            pattern.matches[language] = re.compile(text, re.DOTALL)

    return register


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


@change("<old:t> became <new:t>", "<old:t> が <new:t> に変化")
def became(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["old"], part, 0)
    node_is_there(reader, groups["new"], part, 1)


@change(
    "<old:t> is done partition by partition: <new:t>",
    "<old:t> がパーティションごとの処理(<new:t>)に変化",
)
def partitioned(reader: Reader, groups: Groups, part: Part) -> None:
    became_group(reader, groups, part)


@change(
    "<old:t>, partition by partition, became <new:t>",
    "パーティションごとの処理(<old:t>)が <new:t> に変化",
)
def unpartitioned(reader: Reader, groups: Groups, part: Part) -> None:
    became_group(reader, groups, part)


def became_group(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["old"], part, 0)
    node_is_there(reader, groups["new"], part, 1)


@change("new: <new:t>", "追加: <new:t>")
def added(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["new"], part, 1)


@change("gone: <old:t>", "削除: <old:t>")
def removed(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["old"], part, 0)


@change("<new:t>: now shared by several processes", "<new:t>: 複数のプロセスで分担するようになった")
def shared(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["new"], part, 1)
    reader.that("Parallel" in groups["new"] or "分担" in part.text, "not a parallel node")


@change(
    "<new:t>: no longer shared by several processes", "<new:t>: 複数のプロセスで分担しなくなった"
)
def alone(reader: Reader, groups: Groups, part: Part) -> None:
    node_is_there(reader, groups["new"], part, 1)
    reader.that("Parallel" not in groups["new"], "a parallel node")


@change(
    "<new:t>: <old_launched:i> of <old_planned:i> workers launched became <new_launched:i> of"
    " <new_planned:i>",
    "<new:t>: ワーカー数(起動/計画)が <old_launched:i>/<old_planned:i> から <new_launched:i>/"
    "<new_planned:i> に変化",
)
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


@change(
    "<count:i> nodes: <old:t> became <new:t>", "<count:i>個の計画ノード: <old:t> が <new:t> に変化"
)
def many_became(reader: Reader, groups: Groups, part: Part) -> None:
    alike(reader, groups, part, ("old", "new"))


@change("new: <count:i> nodes of type <new:t>", "追加: <new:t> <count:i>個")
def many_added(reader: Reader, groups: Groups, part: Part) -> None:
    alike(reader, groups, part, ("new",))


@change("gone: <count:i> nodes of type <old:t>", "削除: <old:t> <count:i>個")
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


@change(
    "<new:t>: <old_planned:i> workers planned became <new_planned:i>",
    "<new:t>: ワーカーの計画数が <old_planned:i> から <new_planned:i> に変化",
)
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


@BOOK.says("and <count:i> more differences", "ほかに<count:i>件の違いがある", of="item")
def more(reader: Reader, groups: Groups, part: Part) -> None:
    said = [
        one
        for one in reader.document.parts
        if (one.part, one.section, one.kind) == (part.part, part.section, "item")
    ]
    reader.that(len(said) == 21 and count(groups["count"]) > 0, "not after twenty")
