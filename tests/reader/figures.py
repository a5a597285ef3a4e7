"""Numbers of sentences that no pattern knows: each stands in the same report's tables, in JSON or in
the plan, rounded as there, or follows from two cells of one column.

Sentences of a kind need no function of their own for it. What is read first, what stands below
tables and what a study says of itself has its numbers from there, so that a number that stands
nowhere else is wrong, or is one that nobody can check.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from tests.reader.answers import USUAL
from tests.reader.arithmetic import judge, ratio_of
from tests.reader.document import Document, Part
from tests.reader.evidence import MADE_BY, SLOT, TRIALS, UNIT, UNITS, Evidence, numbers_in
from tests.reader.language import Book, Language, Printed, flat, printed, sentences

CONSTANTS = (0.6, 70, 4.8, 4.9, 16, 17, 18, 1.0, 25, 30, 95, 2.08, 2.29, 5.7, 2013, 13, 7)
"""Numbers of sentences that explain a method, in which nothing varies."""
END = r"(?:[<>] ?)?[+−]?\d[\d,]*(?:\.\d+)?"
INTERVAL = re.compile(
    rf"[(（](?:(?P<confidence>[\d.]+) ?%)?[^\d()+−<>]*(?P<low>{END}) ?(?:%|µs|ms)? ?(?:to|〜) ?(?P<high>{END})"
)


class Figures:
    """What is known of a report's numbers besides its sentences."""

    def __init__(
        self,
        document: Document,
        evidence: Evidence,
        contrasts: Sequence[Mapping[str, Any]],
    ) -> None:
        self.evidence = evidence
        self.reader = evidence.reader
        self.rows = [
            [number for cell in row for number in slots(cell)]
            for table in document.tables
            if table.columns[:2] not in TRIALS
            for row in table.rows
        ]
        self.tables = [table for table in document.tables if table.columns[:2] not in TRIALS]
        left = [
            value for each in self.evidence.campaign.workloads() for value in self._left(each.name)
        ]
        sides = list(_of_contrasts(list(self._of_sides())))
        self.json = sorted({*_of_contrasts(contrasts), *left, *sides})
        self.plan = sorted(set(self._of_plan()))

    def _of_plan(self) -> Iterator[float]:
        plan = self.reader.campaign.plan
        yield from (value for _, value in numbers_in(plan.study))
        yield from (100 * (1 - alpha) for alpha in self.evidence.alphas().values())
        campaign = self.reader.campaign
        sides = sum(len(campaign.sides(each.name)) for each in campaign.workloads())
        for shared in (*range(1, 7), sides):
            yield 100 * (1 - self.reader.measure.alpha / shared)
        yield float(len(plan.trials))
        yield float(self.reader.campaign.comparisons_of_probes)
        for factor in plan.study.factors:
            yield float(len(factor.levels))
            for level in factor.levels:
                yield from (number.value for number in slots(level, inside=True))

    def _of_sides(self) -> Iterator[dict[str, Any]]:
        """Every two sides at every level, at the level that a comparison has."""
        campaign = self.evidence.campaign
        for each in campaign.workloads():
            metric = USUAL[each.kind]
            alpha = campaign.comparison_alpha(each.name)
            for context in campaign.contexts(each.name):
                for old, new in itertools.permutations(campaign.sides(each.name), 2):
                    d, _ = campaign.log_ratios(each.name, context, (old, new), metric)
                    found = judge(
                        list(campaign.by_start(d).values()),
                        delta=self.reader.measure.delta,
                        alpha=alpha,
                        lower_is_better=False,
                        sequential=self.reader.measure.sequential is not None,
                    )
                    mean = math.fsum(d.values()) / len(d) if d else 0.0
                    ends = () if found.reason else (ratio_of(found.low), ratio_of(found.high))
                    yield {
                        "ratio": ratio_of(mean),
                        "interval": ends,
                        "confidence": found.confidence,
                        "levels": (),
                        "extremes": (),
                    }

    def _left(self, workload: str) -> Iterator[float]:
        """What paired sides leave behind for one another, in percent."""
        for found in self.evidence.campaign.left_behind(workload):
            yield from (100 * (ratio_of(end) - 1) for end in found)

    def objections(self, part: Part) -> Iterator[str]:
        """The numbers of a sentence that stand nowhere."""
        text = self.evidence.undated(part.text)
        made = re.search(r"Teiten (\d[\d.]*\d)", text)
        if made is not None and made[1] != MADE_BY:
            yield f"made by {made[1]}"
        if re.sub(r"\d", "#", part.text) in skeletons(self.reader.books, self.reader.language):
            yield "known words with another number"
        taken: list[tuple[int, int]] = []
        yield from self._intervals(text, taken)
        for found in SLOT.finditer(text):
            if any(begin <= found.start() < end for begin, end in taken):
                continue
            word = re.sub(r".*\s", "", text[: found.start()].rstrip()) + " " + found[0]
            is_name = found[0] in self.evidence.texts and not found[0].isdigit()
            if is_name or word in self.evidence.machine:
                continue
            number = printed(found[0])
            after = UNIT.match(text, found.end() + 1) or UNIT.match(text, found.end())
            if not self._stands(number, after[1] if after else ""):
                yield f"{found[0]} stands nowhere"

    def _intervals(self, text: str, taken: list[tuple[int, int]]) -> Iterator[str]:
        """Objects to intervals, and notes where they and their means stand."""
        for found in INTERVAL.finditer(text):
            ends = [printed(found[name]) for name in ("low", "high")]
            if any(end.bound for end in ends):
                continue
            before = list(SLOT.finditer(text, max(0, found.start() - 90), found.start()))
            mean = next(
                (one for one in reversed(before) if self._together([printed(one[0]), *ends])), None
            )
            taken += [found.span(), *([mean.span()] if mean else [])]
            if mean is None and not re.search("every look|逐次判定", found[0]):
                yield f"no row and no comparison has {found[0]}"
            if found["confidence"] and not self._is_level(printed(found["confidence"])):
                yield f"no comparison has {found['confidence']} %"

    def _is_level(self, confidence: Printed) -> bool:
        return any(confidence.is_of(value) for value in self.json) or any(
            confidence.is_of(100 * (1 - value)) for value in self.plan
        )

    def _together(self, ends: Sequence[Printed]) -> bool:
        return any(all(_in(each, row) for each in ends) for row in self.rows) or all(
            any(each.is_of(value) for value in self.json) for each in ends
        )

    def _stands(self, number: Printed, unit: str) -> bool:
        if any(_in(number, row) for row in self.rows):
            return True
        values = itertools.chain(self.json, self.plan, CONSTANTS)
        scale = UNITS.get(unit, 1.0)
        if any(number.is_of(value) or number.is_of(value * scale) for value in values):
            return True
        return any(number.is_of(value) for value in self._of_two_cells())

    def _of_two_cells(self) -> Iterator[float]:
        """Ratios and differences of a column's cells, and how many rows a table has."""
        for table in self.tables:
            yield float(len(table.rows))
            for column in range(len(table.columns)):
                cells = [slots(row[column]) for row in table.rows if column < len(row)]
                values = [found[0].value for found in cells if found]
                for first, second in itertools.permutations(values[:12], 2):
                    if second:
                        yield first / second


@cache
def skeletons(books: tuple[Book, ...], language: Language) -> frozenset[str]:
    """Sentences in which nothing varies, without their digits."""
    return frozenset(
        re.sub(r"\d", "#", text)
        for book in books
        for texts in sentences(language)[book.name].values()
        for _, text in flat(texts)
        if "<" not in text and re.search(r"\d", text)
    )


def slots(cell: str, *, inside: bool = False) -> list[Printed]:
    """The numbers of a cell; ``inside``: of names too."""
    pattern = re.compile(r"\d[\d,]*(?:\.\d+)?") if inside else SLOT
    return [printed(found[0]) for found in pattern.finditer(cell)]


def _in(number: Printed, row: Sequence[Printed]) -> bool:
    return any(
        number.bound == cell.bound
        and abs(abs(number.value) - abs(cell.value)) <= 0.5 * max(number.step, cell.step) + 1e-9
        for cell in row
    )


def _of_contrasts(contrasts: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    for contrast in contrasts:
        for effect in (contrast, *contrast["levels"], *contrast["extremes"]):
            yield from [effect["confidence"] * 100] if effect["confidence"] else []
            for ratio in (effect["ratio"], *(effect["interval"] or ())):
                if ratio:
                    yield from (ratio, 1 / ratio, (ratio - 1) * 100, (1 - ratio) * 100)
