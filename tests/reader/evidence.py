"""Numbers of any table, from the trials: a column is one quantity, by one rule in all of its rows.

Nothing here knows what a table is about. Its caption and headings, and the cells of a row, name a
workload, levels of factors and parts of a trial (a step, a probe, an origin of pages): those are
the trials and the quantities that the row can be about. A rule is a quantity that trials hold, how
it is made one number in a trial and over trials, and what that is set against. A column of which
no rule explains every row has a wrong number, or says what trials do not hold.
"""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cached_property

from teiten.kinds.probes.measurement import MEASUREMENT, measurement_of
from teiten.model.plan import PlannedTrial
from teiten.model.trial import Attempt
from tests.reader.arithmetic import geometric_mean, judge, median, ratio_of
from tests.reader.campaign import Campaign
from tests.reader.document import Table
from tests.reader.language import NUMBER, Printed, printed
from tests.reader.planted import NUMBER as PLANTED
from tests.reader.reader import Reader

Path = tuple[str, ...]
Rule = tuple[object, ...]
Selection = frozenset[tuple[int, int]]
"""Trials with their attempts."""

UNITS = {
    "ns": 1e9, "µs": 1e6, "ms": 1e3, "s": 1.0, "秒": 1.0, "min": 1 / 60, "分": 1 / 60,
    "%": 100.0, "B": 1.0, "KiB": 2.0**-10, "MiB": 2.0**-20, "GiB": 2.0**-30, "KB/s": 1e-3,
    "kB": 1e-3, "MB": 1e-6,
}  # fmt: skip
UNIT = re.compile(r"(?<![A-Za-z])(ns|µs|ms|s|秒|min|分|%|KiB|MiB|GiB|KB/s|kB|MB|B)(?![A-Za-z])")
SLOT = re.compile(rf"(?<![A-Za-z0-9_.,/-])(?:{NUMBER})(?![A-Za-z0-9_/-]|[.,]\d|\.[A-Za-z])")
TRIALS = {("trial", "attempt"), ("試行", "回")}
MADE_BY = "0.1.0"
"""The version of Teiten that reports of the reader's tests name."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?")
UNRULED = (
    "What each further partition costs", "パーティション1つあたりのコスト",
    "What changed per transaction", "1トランザクションあたりの変化",
    "Nodes that take part in a transaction", "1トランザクションに参加するノード数",
    "The plans in numbers", "実行計画の数値", "By node type", "計画ノード統計",
    "Node by node", "計画ノードごとの比較", "Node statistics of", "Scans of", "ワーカー数ごとのスキャン",
    "Workers of parallel plans", "パラレルクエリのワーカー数", "Blocks of", "アクセスブロック数",
    "Efficiency", "効率", "Printed and measured", "Parallel workers, printed", "PGECons報告書と本検証の比較", "パラレルワーカー数", "クエリの分類ごとの性能向上比", "報告書",
    "Groups of queries", "クエリグループ",
)  # fmt: skip
"""Tables whose numbers follow from trials, or from plans, by more than one rule can say."""
UNRULED_COLUMNS = frozenset({"share", "割合", "not planned", "プラン作成時に除外"})
NAMES = ("name", "step", "part", "origin", "moment", "workload", "kind", "Node Type")
"""Keys whose value tells one entry of a list from another."""


def numbers_in(value: object, path: Path = ()) -> Iterator[tuple[Path, float]]:
    """Every number inside of a value, by its keys."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        yield path, float(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from numbers_in(inner, (*path, str(key)))
    elif is_dataclass(value):
        held = {each.name: getattr(value, each.name) for each in fields(value)}
        yield from numbers_in(held, path)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for inner in value:
            yield from numbers_in(inner, (*path, *_names(inner)))


def _names(entry: object) -> Iterator[str]:
    for key in NAMES:
        name = entry.get(key) if isinstance(entry, Mapping) else getattr(entry, key, None)
        if name not in {None, ""}:
            yield str(name.value if isinstance(name, Enum) else name)


INNER: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum,
    "mean": lambda values: math.fsum(values) / len(values),
    "median": median,
    "least": min,
    "most": max,
    "count": len,
}
OUTER: dict[str, Callable[[Sequence[float]], float]] = {
    "median": median,
    "mean": lambda values: math.fsum(values) / len(values),
    "geometric": lambda values: geometric_mean(values) if min(values) > 0 else math.nan,
    "least": min,
    "most": max,
    "sum": math.fsum,
}


@dataclass(frozen=True)
class Cell:
    """A number of a column, with the row that it stands in."""

    text: str
    number: Printed
    scales: tuple[float, ...]
    row: int


class Evidence:
    """What the trials of a campaign hold."""

    def __init__(
        self, reader: Reader, beside: Sequence[Campaign] = (), told: object = None
    ) -> None:
        """``beside``: further campaigns of the same report; ``told``: what servers say of themselves."""
        self.told = repr(told)
        self.reader = reader
        self.every = (reader.campaign, *beside)
        self.campaign = reader.campaign
        self._pools: dict[Selection, dict[Rule, float]] = {}
        self._comparisons: dict[Rule, dict[Rule, float]] = {}
        self.free = ""
        """A factor of which no level is chosen."""

    @cached_property
    def planned(self) -> dict[int, PlannedTrial]:
        return {trial.number: trial for trial in self.campaign.plan.trials}

    @cached_property
    def attempts(self) -> dict[tuple[int, int], Attempt]:
        return {(trial.number, trial.attempt): trial for trial in self.campaign.trials}

    @cached_property
    def counted(self) -> Selection:
        return frozenset((trial.number, trial.attempt) for trial in self.campaign.counted.values())

    @cached_property
    def factors(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for trial in self.campaign.plan.trials:
            for factor, level in trial.cell.levels:
                found[factor][level] = None
        return {factor: tuple(levels) for factor, levels in found.items()}

    @cached_property
    def names(self) -> dict[str, dict[str, set[str]]]:
        """How each level of each factor is called."""
        return {
            factor: {level: self._level_names(factor, level) for level in levels}
            for factor, levels in self.factors.items()
        }

    def _level_names(self, factor: str, level: str) -> set[str]:
        reader = self.reader
        found = {level, reader.level_text(factor, level)}
        found |= {
            f"{reader.factor_text(factor)} = {level}",
            f"{reader.factor_text(factor)} “{level}”",
        }
        if factor == "server":
            version = reader.versions.get(level, level)
            found |= {version, f"PostgreSQL {version}", f"PostgreSQL {version} ({level})"}
        else:
            found |= reader.level_names(factor, level)
        digits = re.search(r"\d+$", level)
        if digits and not level.isdigit():
            found |= {digits[0], f"{int(digits[0]):,}"}
        return found

    # --- which trials a cell is about ----------------------------------------------------------

    def selection(self, table: Table, row: Sequence[str], heading: str) -> Selection:
        about = f"{table.caption} · {table.part} · {table.topic} · {table.above}"
        chosen = self.counted
        if table.columns[:2] in TRIALS:
            key = int(row[0]), int(row[1])
            return frozenset({key} & self.attempts.keys())
        titles = {
            workload.name: self.reader.own(workload.title) for workload in self.campaign.workloads()
        }
        named = [name for name, title in titles.items() if title in row or title in heading]
        named = named or sorted(
            (name for name, title in titles.items() if title.lower() in about.lower()),
            key=lambda name: -len(titles[name]),
        )
        if named:
            chosen = self._where(chosen, lambda trial: trial.cell.workload == named[0])
        for factor, levels in self.names.items():
            level = self._level_of(factor, levels, table, row, heading, about)
            if level is not None and factor != self.free:
                chosen = self._where(
                    chosen,
                    lambda trial, factor=factor, level=level: (
                        trial.cell.level(factor)  # type: ignore[misc]
                        in {None, level}
                    ),
                )
        return chosen

    def _where(self, chosen: Selection, holds: Callable[[PlannedTrial], bool]) -> Selection:
        return frozenset(key for key in chosen if holds(self.planned[key[0]]))

    def _level_of(
        self,
        factor: str,
        levels: Mapping[str, set[str]],
        table: Table,
        row: Sequence[str],
        heading: str,
        about: str,
    ) -> str | None:
        own = self.reader.factor_text(factor)
        others = {self.reader.factor_text(name) for name in self.factors} - {own}
        for name, cell in zip(table.columns, row, strict=False):
            if name in others:
                continue
            for part in cell.split(self.reader.separator):
                for level, known in levels.items():
                    is_number = part.replace(",", "").isdigit()
                    exact = part in known and (name == own or not is_number)
                    if exact and name != heading:
                        return level
        at_end = re.split(", |、", heading)[-1]
        for level, known in levels.items():
            if heading in known or at_end in known:
                return level
        within = [
            (max(map(len, found)), level)
            for level, known in levels.items()
            if (found := [name for name in known if len(name) > 3 and name in about])
        ]
        return max(within)[1] if within else None

    # --- what a cell can be --------------------------------------------------------------------

    def pool(self, chosen: Selection) -> dict[Rule, float]:
        """Every number that trials hold, by what it is."""
        if chosen not in self._pools:
            self._pools[chosen] = dict(self._pool(chosen))
        return self._pools[chosen]

    def _pool(self, chosen: Selection) -> Iterator[tuple[Rule, float]]:
        by_path: dict[Path, list[list[float]]] = defaultdict(list)
        for key in sorted(chosen):
            for path, values in self.held(key).items():
                by_path[path].append(values)
        for path, trials in by_path.items():
            single = all(len(values) == 1 for values in trials)
            for inner, within in INNER.items():
                if single and inner not in {"sum"}:
                    continue
                values = [within(each) for each in trials]
                for outer, over in OUTER.items():
                    if len(values) > 1 or outer == "median":
                        yield (path, inner, outer), over(values)
        if len(chosen) == 1:
            number, attempt = next(iter(chosen))
            yield ("trial",), float(number)
            yield ("attempt",), float(attempt)
            yield ("block",), float(self.planned[number].block)
        for template in {each for number, _ in chosen for each in self.planned[number].templates}:
            yield ("template", template.fingerprint), float(template.expected_bytes)
        yield ("delta",), self.reader.measure.delta
        yield ("trials",), float(len(chosen))
        yield ("blocks",), float(len({self.planned[number].block for number, _ in chosen}))

    def held(self, key: tuple[int, int]) -> dict[Path, list[float]]:
        """The numbers of a trial, by their paths."""
        cache = self.campaign.further.setdefault("held", {})
        assert isinstance(cache, dict)
        if key not in cache:
            trial = self.attempts[key]
            found: dict[Path, list[float]] = defaultdict(list)
            facts = dict(getattr(trial, "facts", {}) or {})
            measured = facts.pop(MEASUREMENT, None)
            plan = facts.pop("plan", None)
            for path, value in numbers_in(trial.metrics, ("metric",)):
                found[path].append(value)
            for path, value in numbers_in(facts, ("fact",)):
                found[path].append(value)
            if measured is not None and getattr(trial, "facts", None):
                for path, value in numbers_in(
                    measurement_of(getattr(trial, "facts", {})), ("probe",)
                ):
                    found[path].append(value)
            if plan is not None:
                for path, value in numbers_in(
                    json.loads(zlib.decompress(base64.b64decode(plan))), ("plan",)
                ):
                    found[path].append(value)
            cache[key] = dict(found)
        return cache[key]  # type: ignore[no-any-return]

    # --- columns --------------------------------------------------------------------------------

    def objections(self, table: Table) -> Iterator[str]:
        """The columns of which no rule explains every row."""
        if table.caption.startswith(UNRULED):
            return
        for column, heading in enumerate(table.columns):
            if heading not in UNRULED_COLUMNS:
                yield from self._of_column(table, column, heading)

    def _of_column(self, table: Table, column: int, heading: str) -> Iterator[str]:
        by_slot: dict[int, list[Cell]] = defaultdict(list)
        about = f"{table.caption} · {heading}"
        for at, row in enumerate(table.rows):
            if column >= len(row) or self._is_given(row[column]):
                continue
            if PLANTED.search(row[column]) and not SLOT.search(row[column]):
                yield f"{about}: nothing is called {row[column]}"
            for slot, cell in enumerate(self._cells(about, row[column], at)):
                by_slot[slot].append(cell)
        for slot, cells in by_slot.items():
            if self._explained(table, heading, cells):
                continue
            of_machine = self._is_of_machine(table)
            left = self._but_one(table, heading, cells) or [
                cell.text
                for cell in cells
                if not (of_machine and self._is_fact(cell))
                and not self._explained(table, heading, [cell])
            ]
            if left:
                yield f"{about}, number {slot + 1}: no rule gives {left[:6]}"

    def _but_one(self, table: Table, heading: str, cells: Sequence[Cell]) -> list[str]:
        """The number that a rule of all the others does not give."""
        if len(cells) < 4 or table.columns[:2] in {("what", "value"), ("項目", "値")}:
            return []
        for given in (self._values, self._ratios):
            rows = [given(table, table.rows[cell.row], heading) for cell in cells]
            fits: dict[Rule, list[str]] = defaultdict(list)
            for cell, values in zip(cells, rows, strict=True):
                for rule, value in values.items():
                    if not any(cell.number.is_of(value * scale) for scale in cell.scales):
                        fits[rule].append(cell.text)
                for rule in fits.keys() - values.keys():
                    fits[rule].append(cell.text)
            alone = [wrong for wrong in fits.values() if len(wrong) == 1]
            if alone:
                return alone[0]
        return []

    def _cells(self, heading: str, text: str, row: int) -> Iterator[Cell]:
        units = [found[1] for found in UNIT.finditer(text)]
        of_heading = [found[1] for found in UNIT.finditer(heading)]
        for found in SLOT.finditer(text):
            after = UNIT.match(text, found.end() + 1) or UNIT.match(text, found.end())
            unit = after[1] if after else (units or of_heading or [""])[-1]
            yield Cell(found[0], printed(found[0]), (UNITS.get(unit, 1.0),), row)

    def _is_of_machine(self, table: Table) -> bool:
        """Whether no row names a trial, a level or a workload."""
        if table.columns[:2] in TRIALS:
            return False
        return all(self.selection(table, row, "") == self.counted for row in table.rows)

    def _is_fact(self, cell: Cell) -> bool:
        return any(
            cell.number.is_of(value * scale) for value in self.facts for scale in cell.scales
        )

    @cached_property
    def facts(self) -> set[float]:
        return {
            value
            for known in self.every
            for held in (
                known.facts,
                known.plan.servers,
                known.plan.templates,
                known.plan.study,
                [one.detail for one in known.events],
            )
            for _, value in numbers_in(held)
        }

    def _is_given(self, text: str) -> bool:
        """Levels, names, times of day, and what the plan or the machine says."""
        if not re.search(r"\d", text):
            return True
        words = re.findall(
            r"[^\s,;|()='\"\[\]{}、。:]*\d[^\s,;|()='\"\[\]{}、。:]*", self.undated(text)
        )
        plain = (word.strip(".:") for word in words)
        return all(
            word in self.texts or re.sub(r"^[^\W\d]+", "", word) in self.texts for word in plain
        )

    @cached_property
    def moments(self) -> set[str]:
        """When trials and campaigns started and events were."""
        seconds = {
            at
            for known in self.every
            for at in (
                known.created_at,
                *(
                    moment
                    for trial in known.trials
                    for moment in (trial.started_at, trial.finished_at)
                ),
                *(event.at for event in known.events),
            )
        }
        times = [datetime.fromtimestamp(at, UTC) for at in seconds]
        return {
            at.strftime(form) for at in times for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M")
        }

    @cached_property
    def machine(self) -> str:
        """What machines say of themselves."""
        return " ".join(repr(known.facts) for known in self.every)

    def undated(self, text: str) -> str:
        """A text without the moments that are known."""
        return MOMENT.sub(lambda found: "" if found[0] in self.moments else found[0], text)

    @cached_property
    def texts(self) -> set[str]:
        """Words with digits of the plan, of the machine and of the names of levels."""
        every = [
            name for levels in self.names.values() for names in levels.values() for name in names
        ]
        every += [self.told, MADE_BY]
        for known in self.every:
            plan = known.plan
            every += [known.name, repr(plan.study), repr(known.facts), repr(plan.servers)]
            every += [repr(plan.templates), repr(plan.pgbench), str(plan.pgbench.version)]
            every += [
                str(each.detail)
                for trial in known.trials
                for each in getattr(trial, "problems", ())
            ]
            every += [repr(event.detail) for event in known.events]
        return {
            token.strip(".:")
            for text in every
            for token in re.findall(r"[^\s,;|()='\"\[\]{}、。:]*\d[^\s,;|()='\"\[\]{}、。:]*", text)
        }

    def _explained(self, table: Table, heading: str, cells: Sequence[Cell]) -> bool:
        """Whether one rule gives every number of a column."""
        return any(
            self._one_rule(cells, [given(table, table.rows[cell.row], heading) for cell in cells])
            for given in (self._values, self._ratios)
        )

    @staticmethod
    def _one_rule(cells: Sequence[Cell], rows: Sequence[Mapping[Rule, float]]) -> bool:
        rules: Sequence[Rule] | None = None
        for cell, values in zip(cells, rows, strict=True):
            rules = [
                rule
                for rule in (values if rules is None else rules)
                if rule in values
                and any(cell.number.is_of(values[rule] * scale) for scale in cell.scales)
            ]
        return bool(rules)

    # --- comparisons ----------------------------------------------------------------------------

    def _ratios(self, table: Table, row: Sequence[str], heading: str) -> dict[Rule, float]:
        """What a row's trials are, set against those of another level of one factor."""
        chosen = self.selection(table, row, heading)
        found: dict[Rule, float] = {}
        for factor, levels in self.factors.items():
            here = {self.planned[number].cell.level(factor) for number, _ in chosen}
            compared = self._sides(factor, row, heading)
            if compared is not None:
                whole = self._freed(table, row, heading, factor)
                new, old = (self._at(whole, factor, level) for level in compared)
                for name, side in (("new", new), ("old", old)):
                    found.update(((name, *rule), value) for rule, value in self.pool(side).items())
                found.update(self._compared(("÷",), new, old))
            elif len(here) == 1:
                whole = self._freed(table, row, heading, factor)
                for at, level in enumerate(levels):
                    other = self._at(whole, factor, level)
                    found.update(self._compared((factor, at), chosen, other))
        return found

    def _sides(self, factor: str, row: Sequence[str], heading: str) -> tuple[str, str] | None:
        """The two levels of ``18.4 ÷ 15.4``."""
        for cell in (*row, heading):
            named = re.split(" ?÷ ?", cell)
            if len(named) == 2:
                found = [
                    level
                    for name in named
                    for level, known in self.names[factor].items()
                    if name in known
                ]
                if len(found) == 2:
                    return found[0], found[1]
        return None

    def _freed(self, table: Table, row: Sequence[str], heading: str, factor: str) -> Selection:
        """The trials of a row at every level of a factor."""
        self.free = factor
        try:
            return self.selection(table, row, heading)
        finally:
            self.free = ""

    def _at(self, chosen: Selection, factor: str, level: str) -> Selection:
        return self._where(chosen, lambda trial: trial.cell.level(factor) == level)

    def _compared(
        self, name: tuple[object, ...], new: Selection, old: Selection
    ) -> Iterator[tuple[Rule, float]]:
        key = (name, new, old)
        if key not in self._comparisons:
            self._comparisons[key] = dict(self._comparison(name, new, old))
        yield from self._comparisons[key].items()

    def _comparison(
        self, name: tuple[object, ...], new: Selection, old: Selection
    ) -> Iterator[tuple[Rule, float]]:
        pools = self.pool(new), self.pool(old)
        for rule in pools[0].keys() & pools[1].keys():
            if pools[1][rule]:
                yield (*name, "quotient", *rule), pools[0][rule] / pools[1][rule]
            yield (*name, "difference", *rule), pools[0][rule] - pools[1][rule]
        paths = {path for key in new for path in self.held(key) if path[0] == "metric"}
        for path in paths:
            d = self._logs(path, new, old)
            if not d:
                continue
            mean = math.fsum(d) / len(d)
            yield from _forms((*name, path, "mean"), mean)
            for confidence, alpha in self.alphas().items():
                sequential = self.reader.measure.sequential is not None
                found = judge(
                    d, delta=0.02, alpha=alpha, lower_is_better=False, sequential=sequential
                )
                if not found.reason:
                    yield from _forms((*name, path, "low", confidence), found.low)
                    yield from _forms((*name, path, "high", confidence), found.high)

    def _logs(self, path: Path, new: Selection, old: Selection) -> list[float]:
        """Of each block that has every level of both, the mean of ln(new/old)."""
        sides = []
        for chosen in (new, old):
            values: dict[int, list[float]] = defaultdict(list)
            for key in chosen:
                held = self.held(key).get(path, ())
                if len(held) == 1 and 0 < held[0] < math.inf:
                    values[self.planned[key[0]].block].append(math.log(held[0]))
            sides.append(values)
        most = max((len(each) for values in sides for each in values.values()), default=0)
        return [
            math.fsum(sides[0][block]) / most - math.fsum(sides[1][block]) / most
            for block in sorted(sides[0].keys() & sides[1].keys())
            if len(sides[0][block]) == len(sides[1][block]) == most
        ]

    def alphas(self) -> dict[str, float]:
        campaign = self.campaign
        found = {"alpha": self.reader.measure.alpha, "answer": campaign.alpha}
        for workload in campaign.workloads():
            found[workload.name] = campaign.comparison_alpha(workload.name)
            count = len(campaign.contexts(workload.name))
            found[f"{workload.name}, all"] = campaign.comparison_alpha(workload.name, count)
        return found

    # --- a row's own numbers ------------------------------------------------------------------

    def _values(self, table: Table, row: Sequence[str], heading: str) -> dict[Rule, float]:
        """The pool of a row, whose paths leave out what the row names."""
        chosen = self.selection(table, row, heading)
        found: dict[Rule, float] = {}
        for rule, value in self.pool(chosen).items():
            path, *rest = rule
            if isinstance(path, tuple):
                named = [name for name in path if name in row]
                if named:
                    found[tuple("@" if n in row else n for n in path), *rest] = value
            found[rule] = value
        return found


def _forms(rule: Rule, log: float) -> Iterator[tuple[Rule, float]]:
    """A ratio of its logarithm: as it is, turned round, and as a share."""
    ratio = ratio_of(log)
    yield (*rule, "ratio"), ratio
    yield (*rule, "turned"), 1 / ratio
    yield (*rule, "share"), ratio - 1
