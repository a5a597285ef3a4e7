"""Numbers of sentences that no pattern knows: each stands in the same report's tables, in JSON or in
the plan, rounded as there.

Sentences of a kind need no function of their own for it. A number is a quantity: it stands for one
of the same dimension, and not for a cell of other levels than the sentence names.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from teiten.model.relations import RELATIONS
from tests.reader.arithmetic import judge, ratio_of
from tests.reader.campaign import HIGHER_IS_BETTER, USUAL, Campaign
from tests.reader.directions import FASTER, SLOWER, direction_objections
from tests.reader.document import Document, Part, Table
from tests.reader.evidence import MADE_BY, MOMENT, TRIALS, Evidence, moments_of, numbers_in
from tests.reader.findings import counts_of
from tests.reader.functions import function_objections
from tests.reader.language import (
    DIMENSIONS,
    SLOT,
    UNIT,
    Printed,
    in_base,
    printed,
    unit_behind,
    unit_of_caption,
)
from tests.reader.method import Effect, effects_of, made_of
from tests.reader.named import least_of, problem_counts, sweep_ratios
from tests.reader.nouns import agreement_objections, counted
from tests.reader.relations import INTERVALS, is_middle
from tests.reader.texts import labels, own_spans, phrase, stated, told
from tests.reader.within import within_objections

END = r"⅟?(?:[<>] ?)?[+−]?\d[\d,]*(?:\.\d+)?"
OF_BOTH = re.compile(rf"(?: to |〜| against |対){END} ?(µs|ms|s|%|B|[KMG]iB)(?![A-Za-z])")
"""The unit that a number before it has too."""
INTERVAL = re.compile(
    rf"(?:[(（](?:(?P<confidence>[\d.]+) ?%)?[^\d()+−<>⅟]*|interval |(?:信頼)?区間 ?)(?P<low>{END}) ?(?P<unit>%|µs|ms)? ?(?:to|〜) ?(?P<high>{END})"
)
SIDES = re.compile(
    r"[(;。] ?(?:\w+ (?=\d+ ÷))?(?P<new>[^()÷;。]+?) ?÷ ?(?P<old>[^()÷]+?)(?:\)| = )"
)
"""What is compared with what."""
HOURS = re.compile(r"(\d[\d,]*)(?: h |時間)(\d+) ?(min|分)")
"""A time of hours, which is read as minutes."""
OF_LABEL = re.compile(rf"{SLOT.pattern}(?: (?:/|of) {SLOT.pattern})*")
"""What stands behind a label of numbers alone."""
POWER = re.compile(r" × 10⁻⁶")
PART = re.compile(r"(?P<bound>[<>] )?(?<![\d/.])1/(?P<number>(?:[<>] )?\d[\d,]*(?:\.\d+)?)")
"""How Japanese tells a time that became shorter: by the part that is left, which is read as the
factor behind ⅟."""
VERDICTS = {
    "faster": re.compile(r"faster\b|(?:少なくとも[\d.]+ ?%)?速い"),
    "slower": re.compile(r"slower\b|(?:少なくとも[\d.]+ ?%)?遅い"),
    "equivalent": re.compile(r"equivalent\b|同等"),
    "inconclusive": re.compile(r"inconclusive\b|判定できない"),
}
BEFORE = 250
"""Characters before an interval in which its mean is looked for."""
COARSER = 10.001
"""How many times as coarse a cell may be as the number that it is set against."""
PAGE_TABLES = 512.0
"""Of each so many bytes of buffers page tables take one."""
OF_SPEED = {"latency_typical", "server_cpu_per_transaction"}
"""Times that sentences tell as speeds."""
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
        same = same and theirs.step <= COARSER * ours.step  # 0 min are no 4 µs
        return same and abs(abs(ours.value) - abs(theirs.value)) <= room

    def is_of(self, value: float, slack: float = 0.0) -> bool:
        return self.number.is_of(value, slack=slack * abs(value))


def amount(text: str, unit: str = "") -> Amount:
    return Amount(in_base(text, unit), DIMENSIONS.get(unit, ""))


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
        self.contrasts = contrasts
        self.tables = [
            [self._cells(table, row) for row in table.rows]
            for table in document.tables
            if table.columns[:2] not in TRIALS
        ]
        known = evidence.kept(f"figures {len(evidence.every)}")
        if not known:
            known |= {"sides": [*self._of_sides()], "plan": {*self._of_plan()}}
        self.effects = [
            *(effect for each in contrasts for effect in _effects(each)),
            *known["sides"],
            *(effect for each in self.counted for effect in made_of(each).effects),
        ]
        self.plan: set[float] = {*known["plan"]}

    def _cells(self, table: Table, row: Sequence[str]) -> list[Cell]:
        own: dict[str, frozenset[str]] = {}
        for factor, names in self.reader.names.items():
            factor_text = self.reader.factor_text(factor)
            own[factor] = frozenset(
                level
                for level, known in names.items()
                for heading, cell in zip(table.columns, row, strict=False)
                if cell in known and (heading == factor_text or not cell.isdigit())
            )
        cells = []
        above = [""]
        of_row = [cell for cell in row if UNIT.fullmatch(cell)]
        for heading, text in zip(table.columns, row, strict=False):
            if not INTERVALS.fullmatch(heading):  # which has the unit of the column before it
                above = UNIT.findall(heading) or [unit_of_caption(table.caption)]
            units = UNIT.findall(text) or of_row or above
            amounts = [
                amount(found[0], self._unit(text, found.end()) or units[-1])
                for found in SLOT.finditer(text)
            ]
            levels = {
                factor: known
                or frozenset(
                    level
                    for level, names in self.reader.names[factor].items()
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
            for factor, levels in self.reader.names.items()
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
        yield from (PAGE_TABLES, self.reader.measure.delta / 4)  # what sides may leave behind
        yield float(len(plan.trials))
        written = [
            *plan.study.sources,
            *(value for each in campaign.cautions for _, value in each.values),
        ]
        yield from (
            printed(number).value
            for text in written
            for number in re.findall(r"\d+(?:\.\d+)?", text)
        )
        for sizes in (
            each.detail["relations"] for each in campaign.events if each.kind == RELATIONS
        ):
            yield from (8192.0 * each["pages"] for each in sizes)
            yield from map(float, Counter(each["parent"] for each in sizes).values())
        provisional = [each.detail for each in campaign.events if each.kind == "saturation"]
        yield from (value for _, value in numbers_in(provisional))
        yield from map(float, problem_counts(self.reader.campaign).values())
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

    def _of_sides(self) -> Iterator[Effect]:
        """Every two sides at every level, at the level that a comparison has."""
        campaign = self.evidence.campaign
        for each in campaign.workloads():
            metric = USUAL[each.kind]
            alpha = campaign.comparison_alpha(each.name)
            for context in campaign.contexts(each.name):
                for old, new in itertools.permutations(campaign.sides(each.name), 2):
                    d, _ = campaign.log_ratios(each.name, context, (old, new), metric)
                    if not d:
                        continue
                    found = judge(
                        list(campaign.by_start(d).values()),
                        delta=self.reader.measure.delta,
                        alpha=alpha,
                        lower_is_better=metric not in HIGHER_IS_BETTER,
                        sequential=self.reader.measure.sequential is not None,
                    )
                    mean = math.fsum(d.values()) / len(d)
                    logs = (mean,) if found.reason else (mean, found.low, found.high)
                    better = (mean > 0) == (metric in HIGHER_IS_BETTER)
                    yield from effects_of(
                        [*map(ratio_of, logs)], found.confidence, better=better, new=new
                    )

    def objections(self, part: Part) -> list[str]:
        """The numbers of a sentence that stand nowhere, or not at such a place."""
        return self.evidence.once((self, part), lambda: [*self._objections(part)])

    def _objections(self, part: Part) -> Iterator[str]:
        text = POWER.sub("", HOURS.sub(_as_minutes, self.evidence.undated(part.text)))
        own = own_spans(text, self.evidence.written)
        known = stated(text, self.reader.language, self.evidence.named)
        text = PART.sub(_as_factor, text) if self.reader.language == "ja" else text
        made = re.search(r"Teiten (\d[\d.]*\d)", text)
        if made is not None and made[1] != self.made_by:
            yield f"made by {made[1]}"
        yield from self.evidence.words_objections(text)
        yield from self._moments(part.text)
        yield from self._verdicts(part.text)
        if self.counted:  # of one campaign, or of several that it is about
            yield from within_objections(
                part.text, self.reader.language, self.evidence.every, self.evidence.own_texts
            )
        counts = {at: why for at, why in counted(text, self.counted) if at not in own}
        yield from filter(None, counts.values())
        yield from agreement_objections(part.text)
        yield from self._sides(text)
        yield from self._levels(text)
        yield from self._started(part.text)
        yield from self._fastest(text)
        yield from direction_objections(self.reader, part, text, self.contrasts)
        yield from function_objections(self.reader, part)
        labelled = self._labelled(part.kind, text)
        if labelled is not None:
            yield from labelled
            return
        if part in counts_of(self.reader):  # read with the tables of findings
            return
        named = self._named(text)
        taken = [(at, at + 1) for at, whys in known.items() if not all(whys)]
        taken += [(at, at + 1) for at, why in counts.items() if not why]
        yield from self._intervals(text, named, taken)
        for found in SLOT.finditer(text):
            if found.start() in own or any(
                begin < found.end() and found.start() < end for begin, end in taken
            ):
                continue
            word = re.sub(r".*\s", "", text[: found.start()].rstrip()) + " " + found[0]
            is_name = found[0] in self.evidence.texts and not found[0].isdigit()
            if is_name or word in self.evidence.machine:
                continue
            number = amount(found[0], self._unit(text, found.end()))
            if not (self._stands(number, named) or self._is_of_functions(text)):
                yield f"{found[0]} stands nowhere"

    def _is_of_functions(self, text: str) -> bool:
        """Whether a sentence tells shares that ``functions`` reads."""
        keys = ("root.explained-more", "root.explained-less", "root.own")
        return any(True for key in keys for _ in told(text, self.reader.language, key))

    def _started(self, text: str) -> Iterator[str]:
        """Objects to another start, or end, than those of the campaigns."""
        ends = [
            max(moments, default=each.created_at)
            for each in self.evidence.every
            for moments in (
                [trial.finished_at for trial in each.trials],
                [event.at for event in each.events],
            )
        ]
        starts = [each.created_at for each in self.evidence.every]
        for key, seconds in (("meta.started", starts), ("meta.finished", ends)):
            before, behind = map(re.escape, phrase(self.reader.language, key).split("{at}"))
            known = moments_of(seconds)
            for found in re.finditer(f"{before}({MOMENT.pattern})(?: UTC)?{behind}", text):
                if found[1] not in known:
                    yield f"none is {found[0]}"

    def _fastest(self, text: str) -> Iterator[str]:
        """Objects to a level of a sweep that is told as the fastest of a query, and is not."""
        campaign = self.reader.campaign
        for key, place in (("sweep.fastest", "level"), ("sweep.fastest-first", "first")):
            said = next(told(text, self.reader.language, key), None)
            for workload in campaign.workloads() if said is not None else ():
                for context in campaign.contexts(workload.name):
                    ratios = sweep_ratios(campaign, workload.name, context)
                    texts = self.reader.context_texts(workload.name, context)
                    if said is None or said["query"] not in texts or not ratios:
                        continue
                    ratios[campaign.sides(workload.name)[0]] = 0.0
                    if said[place] in {*ratios} - least_of(ratios):
                        yield f"the fastest is {least_of(ratios)}, not {said[place]}"

    def _verdicts(self, text: str) -> Iterator[str]:
        """Objects to a verdict behind a workload's title that none of its comparisons has."""
        for workload in self.reader.campaign.workloads():
            title = f"{self.reader.own(workload.title)}: "
            known = [each for each in self.contrasts if each.get("workload") == workload.name]
            if not text.startswith(title) or not known:
                continue
            verdict = re.split(r"; |。", text.removeprefix(title))[0]
            for word, of_word in VERDICTS.items():
                least = "at least" in verdict or "少なくとも" in verdict
                if of_word.match(verdict) and not any(
                    each["verdict"] == word and (each["at_least_delta"] or not least)
                    for each in known
                ):
                    yield f"no comparison is {verdict}"

    def _moments(self, text: str) -> Iterator[str]:
        """Objects to moments at which nothing of the campaigns was."""
        wrong = {found[0] for found in MOMENT.finditer(text)} - self.evidence.moments
        yield from (f"nothing was at {moment}" for moment in sorted(wrong))

    def _sides(self, text: str) -> Iterator[str]:
        """Objects to two sides that no comparison has."""
        campaign, side_of = self.reader.campaign, self.reader.side_of
        known = {(new, campaign.reference(workload, new)) for workload, new in campaign.answers()}
        for each in campaign.workloads():
            if each.kind == "probes":  # the slowest against the fastest
                known |= {*itertools.permutations(campaign.sides(each.name), 2)}
        for found in SIDES.finditer(text) if len(self.evidence.every) == 1 else ():
            behind = re.split(r"[,、] ?", found["new"], maxsplit=1)[-1]  # the metric's name
            new = side_of(found["new"]) or side_of(re.sub(r"^\w+ (?=\d+$)", "", behind))
            old = side_of(found["old"])
            if {new, old} - {None} and (new, old) not in known:
                yield f"no comparison is {found[0]}"
        for name in itertools.chain(
            *re.findall(r"(?<![\w.%])([A-Za-z\d.%]+) ÷ ([A-Za-z\d.%]+)", text)
        ):
            level = name.rstrip(".")
            if re.search(r"\d", level) and level not in self.evidence.level_names:
                yield f"no side is {level}"

    def _levels(self, text: str) -> Iterator[str]:
        """Objects to sizes of probes that there are not, and to another smallest number of nodes than
        that of the comparison beside it."""
        language = self.reader.language
        for key in ("sentence", "undecided", "without"):
            for said in told(text, language, f"effect-size.{key}"):
                listed = self.reader.separator.join(said.group("winner", "worst", "best"))
                for level in re.findall(r"\d+%", listed):
                    if level not in self.evidence.level_names:
                        yield f"no size is {level}"
        for said in told(text, language, "scale-out.pays.nodes"):
            ends = INTERVAL.search(said["ratio"])
            numbers = [said["ratio"], *(ends.group("low", "high") if ends else ())]
            known = {
                effect.new
                for effect in self.effects
                if effect.new and _holds(effect, [*map(amount, numbers)])
            }
            if known and said["nodes"] not in known:
                yield f"it is {sorted(known)}, not {said['nodes']}"

    def _labelled(self, kind: str, text: str) -> list[str] | None:
        """What is wrong of a number behind a label that says what it is; None of other texts."""
        label, _, number = text.partition(": ")
        factors = {self.reader.factor_text(factor): factor for factor in self.reader.factors}
        factors.pop(self.reader.factor_text("server"), None)  # named by its version
        levels = self.reader.factors.get(factors.get(label, ""), ())
        if kind == "pair" and levels and all(level.isdigit() for level in levels):
            numbers = sorted(re.findall(r"\d+", number))
            right = (sorted(levels), sorted({*levels} - {"0"}))
            return [] if numbers in right else [f"the levels are {levels}"]
        known = labels(self.reader.language, frozenset(self.evidence.named))
        if label not in known or not OF_LABEL.fullmatch(number):
            return None
        expected = self.evidence.named[known[label]]
        return [
            f"{label} is {sorted(expected)}, not {found[0]}"
            for found in SLOT.finditer(number)
            if not any(printed(found[0]).is_of(value) for value in expected)
        ]

    def _intervals(self, text: str, named: Levels, taken: list[tuple[int, int]]) -> Iterator[str]:
        """Objects to intervals, and notes where they and their means stand."""
        for found in INTERVAL.finditer(text):
            unit = found["unit"] or self._unit(text, found.end())
            ends = [amount(found[name], unit) for name in ("low", "high")]
            if any(end.number.bound for end in ends):
                continue
            before = list(SLOT.finditer(text, max(0, found.start() - BEFORE), found.start()))
            mean = None
            for slot in reversed(before):
                of_mean = self._unit(text, slot.end())
                three = [
                    (slot[0], of_mean or unit),
                    *((end, unit or of_mean) for end in found.group("low", "high")),
                ]
                amounts = [amount(*each) for each in three]
                of_parts = found["low"].startswith("⅟") and found["high"].startswith("⅟")
                if of_parts and not text[: slot.start()].endswith("⅟"):
                    continue
                if self._is_middle(*amounts) and self._together(amounts, named):
                    mean = slot
                    level = amount(found["confidence"], "%") if found["confidence"] else None
                    yield from self._compared(text[: found.start()], slot.start(), amounts, level)
                    break
            taken += [found.span(), *([mean.span()] if mean else [])]
            alone = found["confidence"] is None and mean is None
            in_order = ends[0].number.value <= ends[1].number.value
            if alone and in_order and all(self._stands(end, named) for end in ends):
                continue
            whole = all(end.number.step == 1 and not end.dimension for end in ends)
            if whole and all(self._stands(end, named) for end in ends):
                mean = mean or found  # of numbers that were measured, such as clients
            if mean is None and not re.search("every look|逐次判定", found[0]):
                yield f"no row and no comparison has {found[0]}"
            if found["confidence"] and not self._is_level(amount(found["confidence"], "%")):
                yield f"no comparison has {found['confidence']} %"

    def _is_middle(self, *amounts: Amount) -> bool:
        """Whether a number is in the middle of two, as means are in their intervals, where these have
        no end at 0 and no look before."""
        mean, low, high = (each.number for each in amounts)
        if self.reader.measure.sequential is not None or 0.0 in (low.value, high.value):
            return True
        turned = replace(mean, value=-mean.value)
        return any(is_middle(each, low, high) for each in (mean, turned))

    def _compared(
        self, text: str, at: int, amounts: Sequence[Amount], level: Amount | None
    ) -> Iterator[str]:
        """Objects to a word that is opposite to the comparisons which have these numbers, and to
        another level than theirs; counts, as of clients, are no comparisons."""
        counts = all(each.number.step == 1 and not each.dimension for each in amounts)
        known = [
            effect
            for effect in self.effects
            if effect.better is not None and not counts and _holds(effect, amounts)
        ]
        if known and level and not any(_holds(effect, [level]) for effect in known):
            yield "another level than the comparison has"
        near = max(text.rfind(end, 0, at) for end in (". ", "。", "; ", ", and ", "、"))
        of_this = re.split(" and |、", text[at:])[0]  # and not of the other extreme
        clause = text[near + 1 : at] + of_this
        words = {bool(FASTER.search(clause)), not SLOWER.search(clause)}
        if known and len(words) == 1 and not words & {effect.better for effect in known}:
            yield f"the other direction: {clause}"

    @staticmethod
    def _unit(text: str, end: int) -> str:
        """The unit behind a number, or behind the other end of a range."""
        of_both = OF_BOTH.match(text, end)
        return unit_behind(text, end) or (of_both[1] if of_both else "")

    def _is_level(self, confidence: Amount) -> bool:
        return any(confidence.is_of(value) for value in self.plan) or any(
            confidence.is_of(value)
            for effect in self.effects
            for value in effect.values.get("share", ())
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
        return in_rows or any(_holds(effect, amounts) for effect in self.effects)

    def _stands(self, number: Amount, named: Levels) -> bool:
        if any(number.is_as(cell) for rows in self._about(named) for row in rows for cell in row):
            return True
        if any(number.is_of(value) for value in self.plan):
            return True
        if any(
            number.is_of(value, effect.slack)
            for effect in self.effects
            for value in effect.values.get(number.dimension, ())
        ):
            return True
        if number.dimension:
            return False
        rows = {len(rows) - above for rows in self.tables for above in (0, 1)}
        return any(number.is_of(float(count)) for count in rows)


def _as_minutes(found: re.Match[str]) -> str:
    return f"{60 * int(found[1].replace(',', '')) + int(found[2])} {found[3]}"


def _as_factor(found: re.Match[str]) -> str:
    """As long as it was, so that what stands behind it stays where it is."""
    bound = (found["bound"] or "").translate(str.maketrans("<>", "><"))
    return f"⅟{bound}{found['number']} "


def _holds(effect: Effect, amounts: Sequence[Amount]) -> bool:
    """Whether a comparison has all of these numbers."""
    return all(
        any(each.is_of(value, effect.slack) for value in effect.values.get(each.dimension, ()))
        for each in amounts
    )


def _effects(contrast: Mapping[str, Any]) -> Iterator[Effect]:
    """Each effect of a contrast of JSON."""
    metric = contrast.get("metric", "")
    for each in (contrast, *contrast["levels"], *contrast["extremes"]):
        ratios = [ratio for ratio in (each["ratio"], *(each["interval"] or ())) if ratio]
        better = (each["ratio"] > 1) == (metric in HIGHER_IS_BETTER) if ratios and metric else None
        speeds = [1 / ratio for ratio in ratios if metric in OF_SPEED]
        for numbers in filter(None, (ratios, speeds)):
            yield from effects_of(numbers, each["confidence"] or math.nan, better=better)
