"""Numbers of sentences that no pattern knows: each stands in the same report's tables, in JSON or in
the plan, rounded as there, or follows from two cells of one column.

Sentences of a kind need no function of their own for it. A number is a quantity: it stands for one
of the same dimension, and not for a cell of other levels than the sentence names.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.reader.answers import USUAL
from tests.reader.arithmetic import judge, ratio_of
from tests.reader.campaign import Campaign
from tests.reader.document import Document, Part, Table
from tests.reader.evidence import MADE_BY, TRIALS, Evidence, numbers_in
from tests.reader.language import SLOT, UNIT, UNITS, Printed, printed, unit_behind
from tests.reader.nouns import miscounted
from tests.reader.relations import INTERVALS
from tests.reader.texts import own_spans

END = r"(?:[<>] ?)?[+−]?\d[\d,]*(?:\.\d+)?"
OF_BOTH = re.compile(rf"(?: to |〜){END} ?(µs|ms|s|%)")
"""The unit that a number before it has too."""
INTERVAL = re.compile(
    rf"[(（](?:(?P<confidence>[\d.]+) ?%)?[^\d()+−<>]*(?P<low>{END}) ?(?P<unit>%|µs|ms)? ?(?:to|〜) ?(?P<high>{END})"
)
DIMENSIONS = {
    **dict.fromkeys(("ns", "µs", "ms", "s", "秒", "min", "分"), "time"),
    **dict.fromkeys(("B", "KiB", "MiB", "GiB", "kB", "MB"), "bytes"),
    "KB/s": "rate",
    "%": "share",
}
LINEAR, FLAT = 0.25, 0.1
"""How far throughput may be from growth with the nodes, and from none, to be called so."""
Levels = Mapping[str, frozenset[str]]
"""Levels that are named, by factor."""


@dataclass(frozen=True)
class Amount:
    """A printed number in base units, and of what it is: time, bytes, rate, share, or nothing."""

    number: Printed
    dimension: str

    def is_as(self, cell: Amount) -> bool:
        """Whether two are the same but for rounding."""
        ours, theirs = self.number, cell.number
        room = 0.5 * max(ours.step, theirs.step) + 1e-9 * abs(theirs.value)
        same = self.dimension == cell.dimension and ours.bound == theirs.bound
        return same and abs(abs(ours.value) - abs(theirs.value)) <= room

    def is_of(self, value: float) -> bool:
        return self.number.is_of(value)


def amount(text: str, unit: str = "") -> Amount:
    number, scale = printed(text), UNITS.get(unit, 1.0)
    scaled = Printed(number.value / scale, number.step / scale, number.bound, number.signed)
    return Amount(scaled, DIMENSIONS.get(unit, ""))


@dataclass(frozen=True)
class Cell:
    """The numbers of a cell, and the levels that its row and its heading name."""

    amounts: list[Amount]
    levels: Levels

    def is_about(self, named: Levels) -> bool:
        """Whether it is not of other levels than those."""
        return all(
            not levels or not named.get(factor) or levels & named[factor]
            for factor, levels in self.levels.items()
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
        self.tables = [
            [self._cells(table, row) for row in table.rows]
            for table in document.tables
            if table.columns[:2] not in TRIALS
        ]
        self.effects = [
            effect for each in (*contrasts, *self._of_sides()) for effect in _effects(each)
        ]
        self.plan = {*self._of_plan()}

    def _cells(self, table: Table, row: Sequence[str]) -> list[Cell]:
        own: dict[str, frozenset[str]] = {}
        for factor, names in self.evidence.names.items():
            factor_text = self.reader.factor_text(factor)
            own[factor] = frozenset(
                level
                for level, known in names.items()
                for heading, cell in zip(table.columns, row, strict=False)
                if cell in known and (heading == factor_text or not cell.isdigit())
            )
        cells = []
        above = [""]
        for heading, text in zip(table.columns, row, strict=False):
            if not INTERVALS.fullmatch(heading):  # which has the unit of the column before it
                above = UNIT.findall(heading) or UNIT.findall(table.caption) or [""]
            units = UNIT.findall(text) or above
            amounts = [
                amount(found[0], self._unit(text, found.end()) or units[-1])
                for found in SLOT.finditer(text)
            ]
            levels = {
                factor: known
                or frozenset(
                    level
                    for level, names in self.evidence.names[factor].items()
                    if heading in names and not heading.isdigit()
                )
                for factor, known in own.items()
            }
            cells.append(Cell(amounts, levels))
        return cells

    @cached_property
    def _words(self) -> dict[str, dict[str, re.Pattern[str]]]:
        """How the levels of each factor are named inside of a sentence."""
        return {
            factor: {
                level: re.compile(
                    "|".join(
                        rf"(?<![A-Za-z0-9.,]){re.escape(name)}(?![A-Za-z0-9]|[.,]\d)"
                        for name in sorted(names, key=len, reverse=True)
                        if len(name) > 3
                    )
                    or "(?!)"
                )
                for level, names in levels.items()
            }
            for factor, levels in self.evidence.names.items()
        }

    def _named(self, text: str) -> Levels:
        return {
            factor: frozenset(level for level, known in levels.items() if known.search(text))
            for factor, levels in self._words.items()
        }

    def _of_plan(self) -> Iterator[float]:
        """In base units."""
        plan = self.reader.campaign.plan
        yield from (value for _, value in numbers_in(plan.study))
        yield from (1 - alpha for alpha in self.evidence.alphas().values())
        campaign = self.reader.campaign
        sides = sum(len(campaign.sides(each.name)) for each in campaign.workloads())
        for shared in (*range(1, 7), sides):
            yield 1 - self.reader.measure.alpha / shared
        yield from (LINEAR, FLAT, self.reader.measure.delta / 4)  # what sides may leave behind
        yield float(len(plan.trials))
        yield from (float(known.facts.cpu.logical) for known in self.evidence.every)
        yield float(self.reader.campaign.comparisons_of_probes)
        for factor in plan.study.factors:
            yield float(len(factor.levels))
            for level in factor.levels:
                yield from (
                    printed(found).value for found in re.findall(r"\d[\d,]*(?:\.\d+)?", level)
                )
        for each in campaign.workloads():
            for new in campaign.sides(each.name)[1:]:
                for found in campaign.left_behind(each.name, new):
                    yield from (ratio_of(end) - 1 for end in found)
        yield from self.evidence.of_cells(("probe", "every"), ("probe", "checkpoints"))

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

    def objections(self, part: Part) -> Iterator[str]:
        """The numbers of a sentence that stand nowhere."""
        text = self.evidence.undated(part.text)
        own = own_spans(text, self.evidence.written)
        made = re.search(r"Teiten (\d[\d.]*\d)", text)
        if made is not None and made[1] != self.made_by:
            yield f"made by {made[1]}"
        yield from self.evidence.words_objections(text)
        yield from miscounted(text, self.counted, own)
        named = self._named(text)
        taken: list[tuple[int, int]] = []
        yield from self._intervals(text, named, taken)
        for found in SLOT.finditer(text):
            if found.start() in own or any(begin <= found.start() < end for begin, end in taken):
                continue
            word = re.sub(r".*\s", "", text[: found.start()].rstrip()) + " " + found[0]
            is_name = found[0] in self.evidence.texts and not found[0].isdigit()
            if is_name or word in self.evidence.machine:
                continue
            if not self._stands(amount(found[0], self._unit(text, found.end())), named):
                yield f"{found[0]} stands nowhere"

    def _intervals(self, text: str, named: Levels, taken: list[tuple[int, int]]) -> Iterator[str]:
        """Objects to intervals, and notes where they and their means stand."""
        for found in INTERVAL.finditer(text):
            unit = found["unit"] or self._unit(text, found.end())
            ends = [amount(found[name], unit) for name in ("low", "high")]
            if any(end.number.bound for end in ends):
                continue
            before = list(SLOT.finditer(text, max(0, found.start() - 90), found.start()))
            mean = None
            for slot in reversed(before):
                of_mean = self._unit(text, slot.end())
                three = [
                    (slot[0], of_mean or unit),
                    *((end, unit or of_mean) for end in found.group("low", "high")),
                ]
                if self._together([amount(*each) for each in three], named):
                    mean = slot
                    break
            taken += [found.span(), *([mean.span()] if mean else [])]
            alone = found["confidence"] is None and mean is None
            if alone and all(self._stands(end, named) for end in ends):
                continue
            if mean is None and not re.search("every look|逐次判定", found[0]):
                yield f"no row and no comparison has {found[0]}"
            if found["confidence"] and not self._is_level(amount(found["confidence"], "%")):
                yield f"no comparison has {found['confidence']} %"

    @staticmethod
    def _unit(text: str, end: int) -> str:
        """The unit behind a number, or behind the other end of a range."""
        of_both = OF_BOTH.match(text, end)
        return unit_behind(text, end) or (of_both[1] if of_both else "")

    def _is_level(self, confidence: Amount) -> bool:
        return any(confidence.is_of(value) for value in self.plan) or any(
            confidence.is_of(value) for effect in self.effects for value in effect["share"]
        )

    def _about(self, named: Levels) -> Iterator[list[list[Amount]]]:
        """Of each table, the numbers of each row that are of these levels."""
        for rows in self.tables:
            yield [
                [each for cell in row if cell.is_about(named) for each in cell.amounts]
                for row in rows
            ]

    def _together(self, amounts: Sequence[Amount], named: Levels) -> bool:
        """Whether one row, or one comparison, has them all."""
        in_rows = any(
            all(any(each.is_as(cell) for cell in row) for each in amounts)
            for rows in self._about(named)
            for row in rows
        )
        return in_rows or any(
            all(any(each.is_of(value) for value in effect[each.dimension]) for each in amounts)
            for effect in self.effects
            if all(each.dimension in effect for each in amounts)
        )

    def _stands(self, number: Amount, named: Levels) -> bool:
        if any(number.is_as(cell) for rows in self._about(named) for row in rows for cell in row):
            return True
        if any(number.is_of(value) for value in self.plan):
            return True
        if any(
            number.is_of(value)
            for effect in self.effects
            for value in effect.get(number.dimension, ())
        ):
            return True
        return not number.dimension and any(number.is_of(value) for value in self._of_two_cells())

    def _of_two_cells(self) -> Iterator[float]:
        """Ratios of a column's cells, and how many rows a table has."""
        for rows in self.tables:
            yield float(len(rows))
            for column in zip(*rows, strict=False):
                values = [cell.amounts[0].number.value for cell in column if cell.amounts]
                for first, second in itertools.permutations(values[:12], 2):
                    if second:
                        yield first / second


def _effects(contrast: Mapping[str, Any]) -> Iterator[dict[str, list[float]]]:
    """Each effect of a contrast, as ratios and as shares."""
    for effect in (contrast, *contrast["levels"], *contrast["extremes"]):
        ratios = [ratio for ratio in (effect["ratio"], *(effect["interval"] or ())) if ratio]
        yield {
            "": [each for ratio in ratios for each in (ratio, 1 / ratio)],
            "share": [
                *(each for ratio in ratios for each in (ratio - 1, 1 - ratio)),
                *([effect["confidence"]] if effect["confidence"] else []),
            ],
        }
