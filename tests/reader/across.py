"""Reports about several campaigns: comparisons of two, histories, collections and sites."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from teiten.model.plan import Context
from tests.reader.arithmetic import Judgement, ratio_of, t_quantile
from tests.reader.campaign import HIGHER_IS_BETTER, JUDGED, Campaign
from tests.reader.collected import SAID
from tests.reader.document import Document, Table
from tests.reader.language import printed
from tests.reader.reader import Reader
from tests.reader.relations import ENDS

COUNTED = re.compile(r"(\d+) / (\d+)")
UNCHANGED = 0.95
"""The probability with which a line without a change has none marked."""


# --- the numbers, from the trials --------------------------------------------------------------


def unpaired(
    old: Sequence[float], new: Sequence[float], alpha: float, delta: float, *, lower: bool
) -> Judgement:
    """Welch's interval of the difference of two means of logarithms."""
    sides = [(math.fsum(values) / len(values) if values else 0.0, values) for values in (old, new)]
    pairs = min(len(old), len(new))
    if pairs < 2:
        return Judgement(pairs, "too-few-pairs", alpha=alpha, delta=delta, lower_is_better=lower)
    errors = [
        math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)
        for mean, values in sides
    ]
    mean = sides[1][0] - sides[0][0]
    below = sum(
        error**2 / (len(values) - 1) for error, (_, values) in zip(errors, sides, strict=True)
    )
    if math.sqrt(sum(errors)) < 1e-9 or not below:
        return Judgement(pairs, "identical-pairs", alpha=alpha, delta=delta, lower_is_better=lower)
    half = t_quantile(1 - alpha / 2, sum(errors) ** 2 / below) * math.sqrt(sum(errors))
    return Judgement(pairs, "", mean, mean - half, mean + half, alpha, delta, 0.0, lower)


def _logs(
    known: Campaign, workload: str, contexts: Sequence[Context], side: str, metric: str
) -> list[float]:
    """Of each block that has all of the levels."""
    values = [known.values(workload, context, side, metric) for context in contexts]
    blocks = set.intersection(*map(set, values)) if values else set()
    return [
        math.fsum(math.log(one[block]) for one in values) / len(values) for block in sorted(blocks)
    ]


@dataclass(frozen=True)
class Welch:
    """A comparison of two campaigns on one workload, side and metric."""

    workload: str
    side: str
    metric: str
    overall: Judgement
    levels: Mapping[Context, Judgement]


def compared(
    a: Campaign, b: Campaign, metrics: Sequence[str] = ("tps", "latency_mean")
) -> Iterator[Welch]:
    measure = a.plan.study.measure
    sides = [(each.name, side) for each in a.workloads() for side in a.sides(each.name)]
    alpha = measure.alpha / len(sides)
    for workload, side in sides:
        contexts = a.contexts(workload)
        for metric in metrics:

            def judged(at: Sequence[Context], share: float) -> Judgement:
                found = unpaired(
                    _logs(a, workload, at, side, metric),  # noqa: B023 - called here
                    _logs(b, workload, at, side, metric),  # noqa: B023
                    share,
                    measure.delta,
                    lower=metric not in HIGHER_IS_BETTER,  # noqa: B023
                )
                return replace(found, worded=metric in JUDGED)  # noqa: B023

            levels = {each: judged([each], alpha / len(contexts)) for each in contexts}
            yield Welch(workload, side, metric, judged(contexts, alpha), levels)


def as_json(found: Sequence[Welch]) -> list[dict[str, Any]]:
    """In the form of JSON's contrasts."""
    return [
        {
            "ratio": ratio_of(judgement.mean),
            "interval": [ratio_of(judgement.low), ratio_of(judgement.high)],
            "confidence": judgement.confidence,
            "levels": [],
            "extremes": [],
        }
        for each in found
        for judgement in (each.overall, *each.levels.values())
        if not judgement.reason
    ]


# --- their tables ---------------------------------------------------------------------------------


def comparison_tables(
    reader: Reader, document: Document, a: Campaign, b: Campaign
) -> dict[int, range]:
    """Objects to numbers of the tables of ``B ÷ A``; which columns of which tables it has read."""
    every = list(compared(a, b))
    read = {}
    for table in document.tables:
        if _ratio_column(table) is None:
            continue
        read[id(table)] = range(len(table.columns))
        found = _of_caption(reader, table, every)
        reader.about = table.caption
        reader.that(found is not None, "no such comparison")
        for row in table.rows if found is not None else ():
            assert found is not None
            _comparison_row(reader, table, row, found, (a, b))
    return read


def _ratio_column(table: Table) -> int | None:
    return table.column("B ÷ A", "B÷A")


def _of_caption(reader: Reader, table: Table, every: Sequence[Welch]) -> Welch | None:
    for each in every:
        title = reader.own(reader.campaign.plan.study.workload(each.workload).title)
        tps = "TPS" in table.caption
        version = reader.versions[each.side]
        if title in table.caption and version in table.caption and tps == (each.metric == "tps"):
            return each
    return None


def _comparison_row(
    reader: Reader, table: Table, row: Sequence[str], found: Welch, both: tuple[Campaign, Campaign]
) -> None:
    reader.about = f"{table.caption}: {' | '.join(row)}"
    at = _ratio_column(table) or 0
    contexts = [
        context
        for context in found.levels
        if all(
            level in row[: at - 2] or len(reader.campaign.levels(factor)) < 2
            for factor, level in context
        )
    ]
    whole = len(contexts) != 1 or row[0] in {"all levels", "全条件"}
    judgement = found.overall if whole else found.levels[contexts[0]]
    for cell, known in zip(row[at - 2 : at], both, strict=True):
        if not whole and cell not in {"", "—"}:
            logs = _logs(known, found.workload, contexts, found.side, found.metric)
            scale = 1.0 if found.metric == "tps" else 1000.0
            reader.same(cell, scale * ratio_of(math.fsum(logs) / len(logs)), "the geometric mean")
    ends = ENDS.fullmatch(row[at + 1])
    reader.that((ends is None) == bool(judgement.reason), f"an interval: {judgement.reason}")
    if ends is not None:
        logs3 = (judgement.mean, judgement.low, judgement.high)
        for text, value in zip((row[at], ends[1], ends[2]), logs3, strict=True):
            reader.same(text, ratio_of(value), "the ratio or an end")
    counts = COUNTED.search(row[at + 2])
    for place, known in enumerate(both):
        at_levels = list(found.levels) if whole else contexts
        blocks = len(_logs(known, found.workload, at_levels, found.side, found.metric))
        reader.that(counts is not None and int(counts[place + 1]) == blocks, f"{blocks} trials")
    word = next(
        (name for name, said in SAID.items() if any(each in row[-1] for each in said)), "alone"
    )
    if not judgement.reason and word != "mixed":
        reader.equal(word, judgement.word, "the verdict")
    said = re.sub(r", detectable from .*|\([^(]*検出可能\)", "", row[-1])
    for percent in re.finditer(r"([\d.]+) ?%", said):
        reader.same(percent[1], judgement.delta * 100, "δ")


def _lines(document: Document) -> list[Table]:
    """The tables of the points of lines, or of those of all lines of one campaign."""
    version = {"version", "バージョン"}
    return [each for each in document.tables if version & {*each.columns} and len(each.columns) > 5]


def history_numbers(document: Document, campaigns: Sequence[Campaign]) -> dict[str, set[float]]:
    """How many lines changed and did not, by the names of places; and by how much they did."""
    marks = [
        [printed(row[at]).value / 100 for row in table.rows if re.search(r"\d", row[at])]
        for table in _lines(document)
        for at in range(len(table.columns))
        if table.columns[at] in {"change before it", "直前の変化"}
    ]
    last = campaigns[-1]
    lines = sum(len(last.sides(each.name)) for each in last.workloads())
    counts = {"steady": lines - len(marks), "others": lines - len(marks), "short": lines}
    counts |= {"too-few": len(campaigns)}
    return {
        **{
            f"history.{name}.{number} count": {float(count)}
            for name, count in counts.items()
            for number in ("one", "many")
        },
        "history.no-change count": {float(len(campaigns))},
        "history.no-change confidence": {UNCHANGED},
        "history.rise percent": {each for line in marks for each in line if each > 0},
        "history.fall percent": {-each for line in marks for each in line if each < 0},
    }


def history_tables(
    reader: Reader, document: Document, campaigns: Sequence[Campaign]
) -> dict[int, range]:
    """Objects to numbers of the points of lines, and to changes that their segments do not have;
    which columns of which tables it has read."""
    by_name = {known.name: known for known in campaigns}
    read = {}
    for table in _lines(document):
        read[id(table)] = range(len(table.columns))
        own = table.columns[-1]
        at = next(place for place, name in enumerate(table.columns) if "TPS" in name)
        points, marks = [], []
        for row in table.rows:
            reader.about = f"{table.part} {table.topic}: {' | '.join(row)}"
            known = by_name.get(row[-1])
            reader.that(known is not None, f"no such campaign: {own}")
            if known is None:
                continue
            judgement = _point(reader, table, row, at, known)
            points.append(judgement)
            marks.append(row[at + 3] if len(row) > at + 4 else "")
        _changes(reader, points, marks)
    return read


def _point(reader: Reader, table: Table, row: Sequence[str], at: int, known: Campaign) -> float:
    about = f"{table.part} {table.topic} {table.above} {row[0]} {' '.join(row)}"
    titles = {each.name: reader.own(each.title) for each in known.workloads()}
    workload = next((name for name, title in titles.items() if title in about), None)
    side = next((level for level, version in reader.versions.items() if version in row), None)
    logs = (
        _logs(known, workload, known.contexts(workload), side, "tps") if workload and side else []
    )
    reader.that(bool(logs), "no such point")
    if not logs:
        return 0.0
    mean = math.fsum(logs) / len(logs)
    reader.same(row[at], ratio_of(mean), "the mean")
    reader.that(row[at + 2] == str(len(logs)), f"{len(logs)} blocks")
    ends = ENDS.fullmatch(row[at + 1])
    reader.that((ends is None) == (len(logs) < 2), "an interval of one block")
    if ends is not None and len(logs) > 1:
        deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in logs) / (len(logs) - 1))
        alpha = known.plan.study.measure.alpha
        half = t_quantile(1 - alpha / 2, len(logs) - 1) * deviation / math.sqrt(len(logs))
        reader.same(ends[1], ratio_of(mean - half), "the low end")
        reader.same(ends[2], ratio_of(mean + half), "the high end")
    return mean


def _changes(reader: Reader, points: Sequence[float], marks: Sequence[str]) -> None:
    """A change is the ratio of the means of the segments on both of its sides."""
    begins = [0, *(at for at, mark in enumerate(marks) if mark.strip("— ")), len(points)]
    for before, at, after in zip(begins, begins[1:], begins[2:], strict=False):
        means = [
            math.fsum(points[begin:end]) / (end - begin)
            for begin, end in ((before, at), (at, after))
            if end > begin
        ]
        if len(means) == 2:
            reader.same(marks[at], (ratio_of(means[1] - means[0]) - 1) * 100, "the change")
