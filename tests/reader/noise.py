"""What was known of the machine before the first trial: noise, a pilot, a limit of memory."""

from __future__ import annotations

import math
from typing import Any

from tests.reader.document import Part
from tests.reader.language import Book, Groups
from tests.reader.reader import Reader

BOOK = Book(__name__)
BETWEEN = {"en": "; ", "ja": ";"}


def details(reader: Reader, kind: str) -> list[dict[str, Any]]:
    """What the campaign's events of a kind recorded."""
    return [event.detail for event in reader.campaign.events if event.kind == kind]


@BOOK.says(of="pair")
def floor(reader: Reader, groups: Groups, part: Part) -> None:
    """Each noise floor as a null campaign measured it."""
    reader.that(part.section == 2, "a noise floor out of its place")
    workload = reader.workload_of(groups["workload"]) or groups["workload"]
    found = [
        one
        for one in details(reader, "noise-floor")
        if (one["workload"], str(one["clients"]), one["campaign"])
        == (workload, groups["clients"], groups["campaign"])
    ]
    reader.that(len(found) == 1, "no such null campaign")
    for one in found:
        reader.same(groups["deviation"], one["deviation"] * 100, "the deviation")
        reader.equal(groups["pairs"], one["pairs"], "its pairs")
        reader.lasts(groups["seconds"], one["duration"])


@BOOK.says(of="pair")
def by_pilot(reader: Reader, groups: Groups, part: Part) -> None:
    found = replication(reader, groups, part, "pilot")
    if found is not None:
        reader.equal(groups["starts"], found["starts"], "the starts")
        reader.equal(groups["seen"], found["seen"], "the slices")
        reader.lasts(groups["took"], found["took"])


@BOOK.says(of="pair")
def by_null(reader: Reader, groups: Groups, part: Part) -> None:
    found = replication(reader, groups, part, "null")
    if found is not None:
        reader.equal(groups["campaign"], found["campaign"], "the null campaign")


def replication(reader: Reader, groups: Groups, part: Part, source: str) -> dict[str, Any] | None:
    """The recorded choice of the length; what both of its sources say."""
    reader.that(part.section == 2, "a choice out of its place")
    found = next(iter(details(reader, "replication")), None)
    if found is None or found["source"] != source:
        reader.that(False, f"the length was not chosen by a {source}")
        return None
    for name in ("between", "within"):
        reader.same(groups[name], found[name] * 100, name)
    reader.lasts(groups["fixed"], found["fixed"])
    return found


# --- the limit of memory ---------------------------------------------------------------------

LIMIT = {
    "en": "{limit} for server, load generator and the page cache of their files together",
    "ja": "サーバ、負荷生成プログラム、両者のファイルのページキャッシュの合計で{limit}",
}
CHECKED = {
    "en": "checked before the first trial (cgroup v{version}): of {read} read inside, {stayed}"
    " stayed in memory",
    "ja": "最初の試行の前に確認(cgroup v{version}): 制限の中で{read}を読み込み、メモリに残ったのは{stayed}",
}
PEAK = {"en": "most that a trial used: {peak}", "ja": "試行中の最大使用量: {peak}"}
STEP = (
    "The server and the load generator start in a control group",
    "サーバと負荷生成プログラムを、",
)


def size(value: float) -> str:
    """Three digits and a binary unit."""
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop(0)
    if units[0] == "B" or value >= 100:
        return f"{value:,.0f} {units[0]}"
    text = f"{value:.{2 - math.floor(math.log10(value))}f}"
    return f"{text.rstrip('0').rstrip('.')} {units[0]}"


def limit_texts(reader: Reader) -> list[str]:
    """What must be said of each limit, the smallest first."""
    campaign, language = reader.campaign, reader.language
    by_number = {trial.number: trial.memory_limit for trial in campaign.plan.trials}
    texts = []
    for limit in sorted({one for one in by_number.values() if one is not None}):
        said = [LIMIT[language].format(limit=size(limit))]
        seen = [one for one in details(reader, "memory-limit") if one.get("memory") == limit]
        for one in seen[-1:]:
            sizes = {name: size(one[name]) for name in ("read", "stayed")}
            said.append(CHECKED[language].format(version=one["cgroup"], **sizes))
        peaks = [
            facts["memory"]["peak"]
            for trial in campaign.trials
            if by_number[trial.number] == limit
            and "peak" in (facts := getattr(trial, "facts", {})).get("memory", {})
        ]
        if peaks:
            said.append(PEAK[language].format(peak=size(max(peaks))))
        texts.append(BETWEEN[language].join(said))
    return texts


def close(reader: Reader) -> None:
    """Each floor, the choice of the length and each limit are said, and no other limit."""
    texts = [part.text for part in reader.document.parts]
    for kind, begin in (
        ("noise-floor", ("Noise floor: ", "測定の揺らぎ: ")),
        ("replication", ("Length of a trial: ", "1試行の長さの決め方: ")),
    ):
        reader.about = kind
        said = sum(text.startswith(begin) for text in texts)
        recorded = len(details(reader, kind))
        reader.that(said == recorded, f"{recorded} were recorded, {said} are said")
    rows = [
        row[1]
        for table in reader.document.tables
        if table.caption in {"The machine", "検証マシン"}
        for row in table.rows
        if row[0] in {"Limit of memory", "メモリの制限"}
    ]
    expected = limit_texts(reader)
    reader.about = "the limits of memory"
    reader.that(rows == expected, f"they are {expected}, not {rows}")
    reader.that(
        any(text.startswith(STEP) for text in texts) == bool(expected) or not own_servers(reader),
        "the step of the limit is said without one, or is missing",
    )


def own_servers(reader: Reader) -> bool:
    return any(one.attached is None for _, one in reader.campaign.plan.servers)
