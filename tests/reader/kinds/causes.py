"""Root causes and bottlenecks: what limits, what changed per transaction, and where."""

from __future__ import annotations

import re

from tests.reader.answers import lasts  # noqa: F401 - times of windows are told alike
from tests.reader.document import Part, Table
from tests.reader.language import NUMBER, Book, Groups, count, printed
from tests.reader.reader import Reader

BOOK = Book()

BOOK.only_words(
    ("Root cause", "原因の分析"),
    ("What changed per transaction", "1トランザクションあたりの変化"),
    ("What limits the greatest throughput", "最大スループットを制限しているもの"),
    (
        "A statement needs a plateau, a ceiling that was measured on this machine before the study,"
        " and waits for that resource in more than half of the active backends' time. It is judged"
        " at the greatest load that still reached 90 % of the greatest throughput. “Consistent with”"
        " is not “is”: that takes an intervention.",
        "判断には、性能の頭打ち、検証前にこのマシンで測定した上限値、実行中のバックエンドの時間の半分を超える待機の3つが"
        "揃う必要がある。最大性能の90%以上に達した条件のうち、接続数が最も多いもので判断する。「矛盾しない」は断定ではない。"
        "断定には、その資源を増減させて性能の変化を確かめる実験が必要である。",
    ),
    (
        "Rows marked perf are from the extra window after the measured one.",
        "「perf」と記した行は、測定後の追加区間で採取した。",
    ),
)


@BOOK.says("<level:t>: <new:t> against <old:t>", "<level:t>: <new:t>と<old:t>の比較", of="caption")
def cause_caption(reader: Reader, groups: Groups, part: Part) -> None:
    sides = reader.side_of(groups["old"]), reader.side_of(groups["new"])
    levels = reader.campaign.levels(reader.campaign.contrast)
    reader.that(sides[0] == levels[0] and sides[1] in levels[1:], "not new against old")
    workload = reader.workload_of(part.part)
    known = workload is not None and reader.context_of(workload, groups["level"]) is not None
    reader.that(known, "no such level")


NOTE_EN = (
    "Means over the pairs; in parentheses the interval of new − old. There are <rows:i> rows, each"
    " interval is at α/<again:i>, so that all of them hold together with <confidence:p>"
    " (Bonferroni); bold where it excludes 0. Context switches, disk and waits are those of the"
    " whole machine or server during the measured seconds; a wait is the time that all backends"
    " together spent in it."
)
NOTE_JA = (
    "値は各組の平均、括弧内は新−旧の信頼区間。<rows:i>行あるため、それぞれの区間はα/<again:i>で求めており、全体として"
    "<confidence:p>の信頼度をもつ(Bonferroni)。0を含まないものを太字で示す。コンテキストスイッチ、ディスク、待機は、"
    "測定時間中のマシンまたはサーバ全体の値である。待機は<rest:t>。"
)


@BOOK.says(NOTE_EN, NOTE_JA)
def taken_note(reader: Reader, groups: Groups, part: Part) -> None:
    """There are several such tables below one heading: one of them is meant by each note."""
    captions = {"What changed per transaction", "1トランザクションあたりの変化"}
    found = [
        one
        for one in reader.document.tables
        if one.caption in captions and (one.part, one.topic) == (part.part, part.topic)
    ]
    table = before(reader, part, found)
    if table is None:
        reader.that(False, "no table")
        return
    reader.equal(groups["rows"], len(table.rows), "the rows")
    reader.equal(groups["again"], len(table.rows), "the rows")
    reader.same(groups["confidence"], (1 - reader.campaign.plan.study.measure.alpha) * 100, "α")
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
