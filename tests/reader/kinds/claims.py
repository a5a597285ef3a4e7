"""Published findings: their count, their outcomes, and why some do not apply."""

from __future__ import annotations

import re
from collections import Counter

from tests.reader.document import Part, Table
from tests.reader.kinds.recorded import outcome_by_plans, reason_by_plans
from tests.reader.language import Book, Groups, printed
from tests.reader.reader import Reader

BOOK = Book(__name__)

OUTCOMES = {
    "reproduced": "再現された",
    "contradicted": "異なる結果となった",
    "inconclusive": "判定できない",
    "not applicable here": "本検証では対象外",
}
APPLIED = {"Findings that apply to this campaign", "本検証と比較できるもの"}
ELSEWHERE = {"Findings that do not apply here", "本検証では対象外のもの"}


@BOOK.says(of="caption")
def compared_caption(reader: Reader, _groups: Groups, part: Part) -> None:
    reader.that(part.section > 2, "a caption out of its place")


@BOOK.says()
def compared_note(reader: Reader, _groups: Groups, part: Part) -> None:
    reader.that(part.section > 2, "a note out of its place")


def tables(reader: Reader, names: set[str]) -> list[Table]:
    return [table for table in reader.document.tables if table.caption in names]


@BOOK.says()
def summary(reader: Reader, groups: Groups, _part: Part) -> None:
    """As many as the rows of the tables below have each outcome; and each row by itself."""
    ja = reader.language == "ja"
    rows = [row for one in tables(reader, APPLIED) for row in one.rows]
    elsewhere = [row for one in tables(reader, ELSEWHERE) for row in one.rows]
    reader.equal(groups["count"], len(rows) + len(elsewhere), "the findings")
    words = list(OUTCOMES.values() if ja else OUTCOMES)
    found = Counter(next((word for word in words if row[-1].startswith(word)), "?") for row in rows)
    if elsewhere:
        found[words[-1]] += len(elsewhere)
    if ja:
        said = {
            name: int(number)
            for name, number in re.findall(r"(.+?)(\d+)件(?:、|$)", groups["counts"])
        }
    else:
        pairs = re.findall(r"(\d+) ([^,]+)(?:, |$)", groups["counts"])
        said = {name: int(number) for number, name in pairs}
    reader.that(said == dict(found), f"it is {dict(found)}")
    for row in rows:
        reader.about = " | ".join(row)[:300]
        outcome(reader, row)
    for row in elsewhere:
        reader.about = " | ".join(row)[:300]
        if not reason_by_plans(reader, row):
            reason(reader, row[-1])


def outcome(reader: Reader, row: tuple[str, ...]) -> None:
    """A check's interval against the bounds that it must lie between."""
    word = next(
        (
            en
            for en, ja in OUTCOMES.items()
            if row[-1].startswith(ja if reader.language == "ja" else en)
        ),
        None,
    )
    if word is None:
        reader.that(False, "no such outcome")
        return
    why = re.fullmatch(r"[^:(]+(?:: (.+)|\((.+)\))", row[-1])
    if why:
        reason(reader, why[1] or why[2])
    outcome_by_plans(reader, row, word)
    check = re.search(
        r": (\S+?) ?\([\d.]+ ?%(?: interval |信頼区間 )([<>]? ?[\d.,]+)(?: to |〜)([<>]? ?[\d.,]+)\)",
        row[2],
    )
    bounds = bounds_of(row[3])
    kept = re.search(r"(\d+) of (\d+) checks kept|(\d+)項目中(\d+)項目", row[2])
    if kept:
        left, of = (kept[1], kept[2]) if kept[1] else (kept[4], kept[3])
        reader.that(int(left) <= int(of), "more kept than checks")
        whole = word == "reproduced"
        reader.that(whole == (left == of) or word == "inconclusive", f"{word} with {left} of {of}")
    if check is None or bounds is None:
        return
    ratio, low, high = (printed(one) for one in check.groups())
    room = 0.5 * max(low.step, high.step) + 1e-9
    inside = low.value >= bounds[0] - room and high.value <= bounds[1] + room
    outside = low.value >= bounds[1] - room or high.value <= bounds[0] + room
    reader.that(low.value - room <= ratio.value <= high.value + room, "not within its interval")
    if word == "reproduced":
        reader.that(inside, "not within the bounds")
    if word == "contradicted":
        reader.that(outside, "not outside of the bounds")
    if word == "inconclusive":
        certainly = low.value > bounds[0] + room and high.value < bounds[1] - room
        reader.that(not certainly or bool(why), "it lies within the bounds")


def bounds_of(text: str) -> tuple[float, float] | None:
    """``≥ 1.2``, ``0.9 to 1.1``, ``1.2以上``"""
    both = re.fullmatch(r"([\d.,]+)(?: to |〜)([\d.,]+)", text)
    if both:
        return printed(both[1]).value, printed(both[2]).value
    if re.fullmatch(r"≥ [\d.,]+|[\d.,]+以上", text):
        return printed(re.sub("[≥ 以上]", "", text)).value, float("inf")
    if re.fullmatch(r"≤ [\d.,]+|[\d.,]+以下", text):
        return 0.0, printed(re.sub("[≤ 以下]", "", text)).value
    return None


def reason(reader: Reader, text: str) -> None:
    """What is said to stand in the way of a finding, as far as the campaign tells."""
    campaign = reader.campaign
    study = campaign.plan.study
    if text in {
        "a query exceeded its time limit, and has no ratio",
        "クエリが制限時間を超え、比が求められない",
    }:
        over = any("over_timeout" in one.metrics for one in campaign.counted.values())
        reader.that(over, "no query exceeded its limit")
    elif text in {"this profile supports no conclusion", "このプロファイルからは結論を導けない"}:
        reader.that(not study.conclusive, "the profile is conclusive")
    elif text in {
        "this profile has too little data to judge published findings",
        "このプロファイルはデータが少なく、公開された検証結果の当否は判断しない",
    }:
        reader.that(study.conclusive and not study.replicates, "the profile is another")
    elif found := re.fullmatch(
        r"asked of versions before PostgreSQL (\d+) alone; here (.+)"
        r"|PostgreSQL (\d+)より前のバージョンについての検証結果。本検証は(.+)",
        text,
    ):
        bound, here = (found[1], found[2]) if found[1] else (found[3], found[4])
        newer = {str(one.version) for _, one in campaign.plan.servers}
        reader.that(set(here.split(", ")) <= newer, f"here are {newer}")
        reader.that(all(int(one.split(".")[0]) >= int(bound) for one in here.split(", ")), "older")
    elif found := re.fullmatch(
        r"needs PostgreSQL (.+); here (.+)|PostgreSQL (.+)が必要。本検証は(.+)", text
    ):
        needed, here = (found[1], found[2]) if found[1] else (found[3], found[4])
        versions = {f"{one.version.major}" for _, one in campaign.plan.servers}
        levels = set(re.split(", |、", here))
        known = {str(one.version) for _, one in campaign.plan.servers} | versions
        reader.that(levels <= known | set(campaign.levels("server")), f"here are {known}")
        reader.that(not set(re.split(", |、", needed)) <= versions, "they are here")
    elif found := re.fullmatch(
        r"needs (\d+) cores; here (\d+)|(\d+)コアが必要。本検証は(\d+)コア", text
    ):
        needed, here = (found[1], found[2]) if found[1] else (found[3], found[4])
        reader.equal(here, campaign.facts.cpu.logical, "the cores")
        reader.that(int(needed) > int(here), "so many are here")
    elif found := re.fullmatch(r"needs the workload (.+)|負荷(.+)が必要", text):
        names = {workload.name for workload in study.workloads}
        reader.that((found[1] or found[2]) not in names, "the workload is here")
