"""Root causes and bottlenecks: what limits, what changed per transaction, and where."""

from __future__ import annotations

import math
import re
from typing import Any

from tests.reader.arithmetic import geometric_mean, median
from tests.reader.document import Part, Table
from tests.reader.language import NUMBER, Book, Groups, printed
from tests.reader.reader import Reader

BOOK = Book()

BOOK.only_words(
    ("Click a frame to zoom.", "関数をクリックすると拡大する。"),
    ("programs kernel no name", "プログラム カーネル 関数名なし"),
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


@BOOK.says(
    "Of what was counted per transaction nothing is shown to differ: at no level does an interval exclude 0.",
    "トランザクションあたりに数えた項目に、差が確かめられたものはない。信頼区間が0を除く条件はない。",
)
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
        reader.same(groups["confidence"], (1 - reader.campaign.plan.study.measure.alpha) * 100, "α")
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


SHARE_EN = "its share of all CPU went from <before:p> to <after:p> (<from:n> to <to:n> points)."
SHARE_JA = "CPU時間全体に占める割合は<before:p>から<after:p>に変わった(<from:n>〜<to:n>ポイント)。"


def by_direction(more: bool) -> None:
    en, ja = ("more", "多い") if more else ("less", "少ない")

    def explained(reader: Reader, groups: Groups, part: Part) -> None:
        table = whole_is(reader, groups, part, more=more)
        if table is not None:
            part_is(reader, groups, table, TOTAL)

    BOOK.says(
        f"Of the <amount:n> <unit:w> of CPU that <new:t> takes {en} per transaction than <old:t>"
        " (<confidence:p> interval <low:n> to <high:n> <again:w>), <part:p> are in <function:t> and"
        " what it calls: " + SHARE_EN,
        f"1トランザクションあたりのCPU時間は、<new:t>のほうが<old:t>より<amount:n> <unit:w>{ja}(<confidence:p>信頼区間"
        " <low:n>〜<high:n> <again:w>)。この差の<part:p>が<function:t>とその呼び出し先にあり、"
        + SHARE_JA,
    )(explained)

    def spread(reader: Reader, groups: Groups, part: Part) -> None:
        whole_is(reader, groups, part, more=more)

    BOOK.says(
        f"<new:t> takes <amount:n> <unit:w> {en} CPU per transaction than <old:t> (<confidence:p>"
        " interval <low:n> to <high:n> <again:w>). No single function holds half of it, and"
        " certainly more of it than of the cost.",
        f"1トランザクションあたりのCPU時間は、<new:t>のほうが<old:t>より<amount:n> <unit:w>{ja}(<confidence:p>信頼区間"
        " <low:n>〜<high:n> <again:w>)。差の半分以上を占め、かつ差に占める割合がCPU時間に占める割合より確実に大きい"
        "関数はない。",
    )(spread)


by_direction(more=True)
by_direction(more=False)


@BOOK.says(
    "By its own code, <function:t> changed most: <part:p> of the difference; " + SHARE_EN,
    "関数自身の処理では<function:t>の変化が最も大きく、差の<part:p>を占める。" + SHARE_JA,
)
def own(reader: Reader, groups: Groups, part: Part) -> None:
    table = functions_table(reader, part)
    reader.that(table is not None, "no table")
    if table is not None:
        part_is(reader, groups, table, SELF)


@BOOK.says(
    "No function is named: whether <new:t> and <old:t> differ in CPU per transaction is not decided"
    " by these windows (<signed:n> <unit:w>, <confidence:p> interval <low:n> to <high:n> <again:w>).",
    "原因の関数は特定しない。<new:t>と<old:t>で1トランザクションあたりのCPU時間に差があるかどうかは、この測定では判断できない"
    "(<signed:n> <unit:w>、<confidence:p>信頼区間 <low:n>〜<high:n> <again:w>)。",
)
def undecided_cause(reader: Reader, groups: Groups, part: Part) -> None:
    whole_is(reader, groups, part, more=None)
    low, high = printed(groups["low"]).value, printed(groups["high"]).value
    reader.that(low <= 0 <= high, "it is decided")


@BOOK.says("What changed from <old:t> to <new:t>", "<old:t>から<new:t>への変化", of="caption")
def flames_caption(reader: Reader, groups: Groups, _part: Part) -> None:
    levels = reader.campaign.levels(reader.campaign.contrast)
    sides = reader.side_of(groups["old"]), reader.side_of(groups["new"])
    reader.that(sides[0] == levels[0] and sides[1] in levels[1:], "not from old to new")


@BOOK.says("Flame graph of <side:t>", "<side:t>のFlameGraph", of="caption")
def flame_caption(reader: Reader, groups: Groups, _part: Part) -> None:
    side = reader.side_of(groups["side"])
    reader.that(side is not None, "another side")
    reader.flames = side


@BOOK.says(
    "CPU per transaction by function, <unit:w>",
    "関数別のCPU時間(1トランザクションあたり、<unit:w>)",
    of="caption",
)
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


@BOOK.says(
    "Width: CPU per transaction of both sides together, so that a function of one side only keeps"
    " its place. Vermilion: more in <new:t>; blue: less; the strongest colour is <strongest:n>"
    " <unit:w>. The number on a frame is new − old, in <again:w>. Means of <pairs:i> pairs of"
    " windows: which differences are certain, the table says.",
    "幅は新旧を合わせた1トランザクションあたりのCPU時間。片方にしかない関数もその位置に現れる。朱色は<new:t>で増えた関数、青は"
    "減った関数で、最も濃い色が<strongest:n> <unit:w>にあたる。枠内の数値は新−旧(<again:w>)。<pairs:i>組の採取区間の平均で"
    "あり、確実な差かどうかは表に示す。",
)
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


@BOOK.says(
    "<samples:i> samples in <windows:i> windows; <cost:n> <unit:w> of CPU per transaction;"
    " <unresolved:p> of the samples without a function's name. Orange: programs; green: the kernel;"
    " grey: no name. Each frame stands on its caller.",
    "<windows:i>区間、<samples:i>サンプル。CPU時間は1トランザクションあたり<cost:n> <unit:w>。関数名のないサンプルは"
    "<unresolved:p>。橙色はプログラム、緑色はカーネル、灰色は名前なし。各関数は呼び出し元の上に載る。",
)
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


@BOOK.says(
    "The <shown:i> functions that explain most of the difference, by their own code or with what"
    " they call. Means of <pairs:i> pairs of windows; in parentheses the interval of the difference;"
    " the last column is in points of the share of all CPU, where one function's gain is the others'"
    " loss. <compared:i> differences were looked at, each interval is at α/<again:i>, so that those"
    " of times, and those of shares, hold together with <confidence:p> (Bonferroni); bold where it"
    " excludes 0. <rest:r>",
    "差への寄与が大きい<shown:i>関数(関数自身、または呼び出し先を含めて)。値は<pairs:i>組の採取区間の平均、括弧内は差の"
    "信頼区間。最後の列は全CPU時間に占める割合の差(ポイント)で、ある関数が増えればほかの関数は減る。<compared:i>個の差を調べた"
    "ため、それぞれの区間はα/<again:i>で求めており、時間の差と割合の差のそれぞれについて、全体として<confidence:p>の信頼度をもつ"
    "(Bonferroni)。0を含まないものを太字で示す。<rest:r>",
)
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
    reader.same(groups["confidence"], (1 - reader.campaign.plan.study.measure.alpha) * 100, "α")
    reader.that(not re.search(r"\d", groups["rest"]), "a number in the rest")


# --- bottlenecks -----------------------------------------------------------------------------

SAID = {
    "the load generator had no time left; this says nothing about the server": "負荷生成側に余力がない。サーバの性能については"
    "何も言えない",
    "consistent with a limit by the processors": "CPUが上限であることと矛盾しない",
    "consistent with a limit by the latency of fsync at commit": "コミット時のfsyncの遅延が上限であることと矛盾しない",
    "consistent with a limit by the write bandwidth of the disk": "ディスクの書き込み帯域が上限であることと矛盾しない",
    "consistent with a limit by reads from the disk": "ディスクからの読み込みが上限であることと矛盾しない",
    "consistent with a limit by locks": "ロックが上限であることと矛盾しない",
}
ABSTAINED = {
    "throughput still grew with the greatest number of connections": "最大の接続数でも性能が伸びているため、判断しない",
    "no ceilings were measured": "上限値を測定していないため、判断しない",
    "no waits were seen": "待機イベントの記録がないため、判断しない",
    "no kind of wait takes more than half of the time": "時間の半分を超える種類の待機がないため、判断しない",
    "the resource that is waited for is not near its ceiling": "待機の対象となっている資源が上限値に近くないため、判断しない",
    "the use of the resource that is waited for was not seen": "待機の対象となっている資源の使用量の記録がないため、判断しない",
}


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


def bottleneck_plain(reader: Reader, groups: Groups, part: Part, *, rising: bool) -> None:
    """A statement on the load at which it is judged; ``rising``: that it is the greatest one."""
    place = where(reader, groups, part)
    if place is None:
        return
    means = throughput(reader, place[0], place[1])
    here = int(dict(place[2])["clients"])
    near = [one for one, tps in means.items() if tps >= 0.9 * max(means.values())]
    reader.that(here == max(near), f"judged is at {max(near)}")
    reader.that(not rising or here == max(means), "not the greatest load")


def bottleneck(reader: Reader, groups: Groups, part: Part) -> None:
    """One with its evidence."""
    bottleneck_plain(reader, groups, part, rising=False)
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


def _bottlenecks() -> None:
    rising = next(iter(ABSTAINED))
    said = [*SAID.items()]
    said += [(f"nothing is said, because {en}", ja) for en, ja in ABSTAINED.items()]
    for en, ja in said:

        def plain(reader: Reader, groups: Groups, part: Part, en: str = en) -> None:
            bottleneck_plain(reader, groups, part, rising=en.endswith(rising))

        BOOK.says(f"<side:t>, <level:t>: {en}.", f"<side:t>、<level:t>: {ja}。", of="item")(plain)
        BOOK.says(
            f"<side:t>, <level:t>: {en} (<evidence:t>).",
            f"<side:t>、<level:t>: {ja}(<evidence:t>)。",
            of="item",
        )(bottleneck)


_bottlenecks()


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


@BOOK.says("more in <new:t> less in <again:t>", "<new:t>で増加 <again:t>で減少", of="text")
def legend(reader: Reader, groups: Groups, _part: Part) -> None:
    levels = reader.campaign.levels(reader.campaign.contrast)
    reader.that(reader.side_of(groups["new"]) in levels[1:], "not the new side")
    reader.equal(groups["again"], groups["new"], "the side")
