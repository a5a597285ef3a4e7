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
from typing import Any

from tests.reader.answers import USUAL
from tests.reader.arithmetic import judge, ratio_of
from tests.reader.campaign import Campaign
from tests.reader.document import Document, Part
from tests.reader.evidence import MADE_BY, TRIALS, Evidence, numbers_in
from tests.reader.language import (
    SLOT,
    UNIT,
    UNITS,
    Printed,
    printed,
)
from tests.reader.nouns import miscounted
from tests.reader.texts import own_objections, own_spans

END = r"(?:[<>] ?)?[+−]?\d[\d,]*(?:\.\d+)?"
OF_BOTH = re.compile(rf"(?: to |〜){END} ?(µs|ms|s|%)")
"""The unit that a number before it has too."""
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
        self.made_by = MADE_BY
        self.counted: Sequence[Campaign] = evidence.every
        """The campaigns whose blocks, pairs and trials the report counts."""
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
        self.plan = sorted(
            {*self._of_plan(), *evidence.of_cells(("probe", "every"), ("probe", "checkpoints"))}
        )

    def _of_plan(self) -> Iterator[float]:
        plan = self.reader.campaign.plan
        yield from (value for _, value in numbers_in(plan.study))
        yield from (100 * (1 - alpha) for alpha in self.evidence.alphas().values())
        campaign = self.reader.campaign
        sides = sum(len(campaign.sides(each.name)) for each in campaign.workloads())
        for shared in (*range(1, 7), sides):
            yield 100 * (1 - self.reader.measure.alpha / shared)
        yield float(len(plan.trials))
        yield from (float(known.facts.cpu.logical) for known in self.evidence.every)
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
        for new in self.evidence.campaign.sides(workload)[1:]:
            for found in self.evidence.campaign.left_behind(workload, new):
                yield from (100 * (ratio_of(end) - 1) for end in found)

    def objections(self, part: Part) -> Iterator[str]:
        """The numbers of a sentence that stand nowhere."""
        text = self.evidence.undated(part.text)
        own = own_spans(text, self.reader.language)
        made = re.search(r"Teiten (\d[\d.]*\d)", text)
        if made is not None and made[1] != self.made_by:
            yield f"made by {made[1]}"
        yield from own_objections(text, self.reader.language)
        yield from miscounted(text, self.counted, own)
        taken: list[tuple[int, int]] = []
        yield from self._intervals(text, taken)
        for found in SLOT.finditer(text):
            if found.start() in own or any(begin <= found.start() < end for begin, end in taken):
                continue
            word = re.sub(r".*\s", "", text[: found.start()].rstrip()) + " " + found[0]
            is_name = found[0] in self.evidence.texts and not found[0].isdigit()
            if is_name or word in self.evidence.machine:
                continue
            number = printed(found[0])
            if not self._stands(number, self._unit(text, found.end())):
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
            alone = found["confidence"] is None and mean is None
            if alone and all(self._stands(end, self._unit(text, found.end())) for end in ends):
                continue
            if mean is None and not re.search("every look|逐次判定", found[0]):
                yield f"no row and no comparison has {found[0]}"
            if found["confidence"] and not self._is_level(printed(found["confidence"])):
                yield f"no comparison has {found['confidence']} %"

    @staticmethod
    def _unit(text: str, end: int) -> str:
        """The unit behind a number, or behind the other end of a range."""
        after = UNIT.match(text, end + 1) or UNIT.match(text, end) or OF_BOTH.match(text, end)
        return after[1] if after else ""

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
        values = itertools.chain(self.json, self.plan)
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
