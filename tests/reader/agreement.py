"""Whether a report agrees with itself: its answer, its tables and its JSON, of whatever kind.

Nothing here knows the sentences of a kind. An estimate is a mean with its interval, wherever one is
printed: in a row of a table that has a column of intervals, or in a sentence. Ratios of one
workload with the same mean are one comparison, and have one interval.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.reader.document import Document, Table
from tests.reader.language import Printed, printed
from tests.reader.relations import GROUPS
from tests.reader.tables import INTERVAL, OVERALL

RATIO = r"[≥≤<>]? ?[−-]?\d[\d,]*(?:\.\d+)?"
BETWEEN = re.compile(rf"({RATIO}) ?(?:to|〜) ?({RATIO})")
IN_SENTENCE = re.compile(
    rf"(?<![\d.,])(?P<mean>{RATIO})(?: times| ?倍)[^()]*?"
    rf"\((?:(?P<confidence>[\d.]+) ?%(?: interval |信頼区間 ))?(?P<low>{RATIO}) ?(?:to|〜) ?(?P<high>{RATIO})"
)
SHARE = r"[+−-]?\d[\d,]*(?:\.\d+)?"
OF_RATE = re.compile(
    r"(?:^|[^\d.,±+−-])(?<!at least )(?<!beyond the )(?<!少なくとも)(?<!基準とした)"  # nor the δ that it exceeds
    rf"(?P<mean>{SHARE}) ?%(?!:|未満)"  # it is not the δ that it is below
    r"(?: (?P<word>faster|slower)|(?P<ja>速[いく]|遅[いく]))?[^()]*?"
    rf"\([\d.]+ ?%(?: interval |信頼区間 )(?P<low>{SHARE}) ?% ?(?:to|〜) ?(?P<high>{SHARE}) ?%"
)
"""A difference of throughput with its interval, in the answer."""
RATIOS = ("÷", "times", "倍", "ratio", "比")
"""Of a column's heading: its numbers are ratios."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval, as it is printed."""

    mean: str
    low: str
    high: str
    where: str
    title: str = ""
    """Of the workload; empty where nothing names one."""
    ratio: bool = True
    whole: bool = False
    """Over all levels: of the answer, or of a table's row over all of them."""
    confidence: str = ""
    """Where it is printed."""

    def values(self) -> tuple[Printed, Printed, Printed]:
        return printed(self.mean), printed(self.low), printed(self.high)


def _row_estimates(table: Table, titles: Sequence[str]) -> Iterator[Estimate]:
    at = table.column(*INTERVAL)
    if at is None or at == 0:
        return
    about = f"{table.caption} {table.part} {table.topic} {table.above}"
    named = [title for title in titles if title and title in about]
    heading = table.columns[at - 1]
    for row in table.rows:
        bounds = BETWEEN.fullmatch(row[at].strip()) if at < len(row) else None
        if bounds is None or not re.fullmatch(RATIO, row[at - 1].strip()):
            continue
        yield Estimate(
            row[at - 1],
            bounds[1],
            bounds[2],
            f"{table.caption}: {' | '.join(row)}",
            max(named, key=len, default=""),
            any(word in heading for word in RATIOS),
            table.section == 1 or (row[0] in OVERALL and not table.caption.startswith(GROUPS)),
        )


def _sentence_estimates(document: Document, titles: Sequence[str]) -> Iterator[Estimate]:
    for part in document.parts:
        if part.kind not in {"text", "item", "pair"}:
            continue
        about = f"{part.text} {part.part} {part.topic}".lower()
        named = [title for title in titles if title and title.lower() in about]
        for found in IN_SENTENCE.finditer(part.text):
            yield Estimate(
                found["mean"],
                found["low"],
                found["high"],
                part.text,
                max(named, key=len, default=""),
                whole=part.section == 1,
                confidence=found["confidence"] or "",
            )


def estimates(document: Document, titles: Sequence[str]) -> list[Estimate]:
    """All estimates of a report. ``titles``: of its workloads, in its language."""
    rows = (one for table in document.tables for one in _row_estimates(table, titles))
    return [*rows, *_sentence_estimates(document, titles)]


def disagreements(
    document: Document, titles: Mapping[str, str], contrasts: Sequence[Mapping[str, Any]]
) -> list[str]:
    """What of a report contradicts the rest of it.

    ``titles``: of the workloads, by their names; ``contrasts``: as JSON has them.
    """
    printed_ones = estimates(document, list(titles.values()))
    return [
        *(text for printed_one in printed_ones for text in _within(printed_one)),
        *_one_interval_each(printed_ones, titles, contrasts),
        *_answers_of_json(document, titles, contrasts),
    ]


def _within(one: Estimate) -> Iterator[str]:
    mean, low, high = one.values()
    if mean.bound or low.bound or high.bound:
        return
    if not low.value - low.step <= mean.value <= high.value + high.step:
        yield f"{one.mean} is not within {one.low} to {one.high}: {one.where}"


def _one_interval_each(
    printed_ones: Sequence[Estimate],
    titles: Mapping[str, str],
    contrasts: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    known = [
        (titles.get(one["workload"], ""), one["confidence"], one["ratio"], *one["interval"])
        for one in contrasts
        if one["interval"] is not None
    ]
    for one in printed_ones:
        if not one.ratio or not one.title or not one.whole:
            continue
        alike = [
            (low, high)
            for title, confidence, ratio, low, high in known
            if title == one.title
            and _is(one.mean, ratio)
            and (not one.confidence or _is(one.confidence, confidence * 100))
        ]
        if alike and not any(_is(one.low, low) and _is(one.high, high) for low, high in alike):
            yield f"another interval than JSON has of {one.mean}: {one.where}"


def _answers_of_json(
    document: Document, titles: Mapping[str, str], contrasts: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Each percentage of throughput in the answer is that of JSON, in mean, interval and word."""
    for part in document.parts:
        text = _without_parentheses(part.text, titles.values())
        stated = OF_RATE.search(text) if part.kind == "text" and part.section == 1 else None
        if stated is None:
            continue
        known = [
            effect
            for contrast in contrasts
            if contrast["metric"] == "tps"
            and _names(text, re.sub("[()]", "", titles[contrast["workload"]]))
            for effect in (contrast, *contrast["extremes"])
            if effect["interval"] is not None
        ]
        word = {"速": "faster", "遅": "slower"}.get((stated["ja"] or " ")[0], stated["word"])
        if known and not any(_states(stated, word, effect) for effect in known):
            yield f"JSON has no such difference: {part.text}"


def _without_parentheses(text: str, titles: Iterable[str]) -> str:
    """A sentence whose parentheses are its own, and not those of a workload's title."""
    for title in titles:
        plain = re.sub("[()]", "", title)
        text = text.replace(title, plain).replace(title[:1].lower() + title[1:], plain.lower())
    return text


def _names(text: str, title: str) -> bool:
    return title.lower() in text.lower()


def _states(stated: re.Match[str], word: str | None, effect: Mapping[str, Any]) -> bool:
    mean, (low, high) = effect["ratio"], effect["interval"]
    shares = [(value - 1) * 100 for value in (mean, low, high)]
    if word is not None:
        turned = -1 if word == "slower" else 1
        shares = [turned * shares[0], *sorted(turned * value for value in shares[1:])]
        words = {word, "different-but-small"}
        if effect["verdict"] not in words or not stated["mean"][0].isdigit():
            return False
    return all(
        _is(stated[key], value) for key, value in zip(("mean", "low", "high"), shares, strict=True)
    )


def _is(text: str, value: float) -> bool:
    number = printed(text)
    return number.is_of(value)
