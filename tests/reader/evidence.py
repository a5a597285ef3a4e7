"""Numbers of any table, from the trials: a column is one quantity, by one rule in all of its rows.

Nothing here knows what a table is about. Its caption and headings, and the cells of a row, name a
workload, levels of factors and parts of a trial (a step, a probe, an origin of pages): those are
the trials and the quantities that the row can be about. A rule is a quantity that trials hold, how
it is made one number in a trial and over trials, and what that is set against. A column of which
no rule explains every row has a wrong number, or says what trials do not hold.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cached_property
from statistics import fmean, stdev
from typing import Any, TypeVar

from teiten.analysis.model.claims import Claim
from teiten.kinds.probes.measurement import (
    MEASUREMENT,
    PageOrigin,
    ProbeMeasurement,
    measurement_of,
)
from teiten.model.installation import Installation
from teiten.model.plan import Context, PlannedTrial, TemplateSpec
from teiten.model.relations import RELATIONS
from teiten.model.trial import Attempt, Outcome
from tests.reader.arithmetic import geometric_mean, judge, median, ratio_of, t_quantile
from tests.reader.campaign import USUAL, Campaign
from tests.reader.document import Table
from tests.reader.language import DIMENSIONS, SLOT, UNIT, UNITS, Printed, printed, unit_behind
from tests.reader.method import made_of
from tests.reader.named import named_numbers
from tests.reader.nouns import counted
from tests.reader.plan_nodes import SHOWN_PLANS, numbers_of_plan, recorded
from tests.reader.planted import NUMBER as PLANTED
from tests.reader.reader import Reader, texts_in
from tests.reader.relations import GROUPS, INTERVALS, PER_CORE, PER_LOAD, relation_objections
from tests.reader.texts import (
    Template,
    is_telling,
    named_objections,
    own_objections,
    phrase,
    sentence,
    templates,
    templates_of,
    whole_texts,
)

ORIGINS = frozenset(map(str, PageOrigin))
Path = tuple[str, ...]
Read = TypeVar("Read")
Rule = tuple[object, ...]
Selection = frozenset[tuple[int, int]]
"""Trials with their attempts."""

FACT_NAMES = {
    ("Processors", "プロセッサ数"): {"cpu logical", "cpu online"},
    ("Physical cores", "物理コア数"): {"cpu physical_cores"},
    ("Sockets", "ソケット数"): {"cpu sockets"},
    ("NUMA nodes", "NUMAノード数"): {"cpu numa_nodes"},
    ("CPU quota, cores", "CPU割り当て(コア)"): {"cpu quota_cores"},
    ("Highest frequency, MHz", "最大周波数(MHz)"): {"cpu maximum_mhz"},
    ("Memory", "メモリ"): {"memory total", "memory available"},
    ("Swap", "スワップ"): {"memory swap_total", "memory swap_used"},
    ("Huge pages", "ヒュージページ数"): {
        *("memory huge_pages_total", "memory huge_pages_free", "memory huge_page_size"),
    },
    ("Space", "容量"): {"disk total", "disk free"},
    ("Load average at the start", "開始時のロードアベレージ"): {"load_average"},
}
"""What a row of the machine's table is called, and the facts that it tells."""
PLAIN_NAMES = re.compile(r"PostgreSQL (\d+(?:\.\d+)+)")
FACTS = {("what", "value"), ("項目", "値")}
SOURCES, OF_SETTING = {"source", "出典"}, 4
"""The last heading of a table of settings, and how many columns one has."""
EVENT = {"event", "出来事"}
TRIALS = {("trial", "attempt"), ("試行", "回")}
JSON_WORDS = ("null", "true", "false")
"""Which Python writes otherwise."""
MADE_BY = "0.1.0"
"""The version of Teiten that reports of the reader's tests name."""
BETWEEN = r"[\s,;|()='\"\[\]{}、。:]"
"""What separates words."""
WORKERS = re.compile(r"(?:≤ )?[\d→ —]+ / [\d+]+ / [\d+—]+")
"""Those of a plan: expected, planned, launched."""
BROUGHT = re.compile(r"([a-z]\w*)(?:, |、)(\d[\d,.]*) ?([KMG]iB|B)\b")
"""A table with its size."""
SAID_OF_ALL = re.compile(r"([\d.]+) ?%(?: \(Bonferroni|の信頼度| interval|信頼区間)")
"""A level of confidence, which is no lower than the study's."""
CONFIDENCE = re.compile(r"[\d.]+ ?%(?= interval|信頼区間)")
ITSELF = re.compile(r"(?<![\w.])(\d[\d.]*%?)(?: \w+)? ÷ \1(?![\w.%])")
LEVEL = re.compile(r"(?<![\w.,−+-])\d+%(?!\w)")
"""English has a space before a percentage, and none in the name of a level."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?")
UNRULED = (
    # slopes over the numbers of partitions, in two units
    "What each further partition costs", "パーティション1つあたりのコスト",
    # waits and processor time, which follow from samples of each second
    "What changed per transaction", "1トランザクションあたりの変化",
    # probabilities that no trial has
    "Nodes that take part in a transaction", "1トランザクションに参加するノード数",
    # means over the queries of a group that two servers pool, at a level of their own
    *GROUPS,
    # what PostgreSQL's rule expects of the sizes of tables
    "Workers of parallel plans", "パラレルクエリのワーカー数",
    # printed elsewhere, or printed beside what was measured
    "Printed and measured", "PGECons報告書と本検証の比較", "PGECons報告書の値",
    # intervals over statements of several trials, and lines through several sizes
    "Accesses, and where", "処理時間とページの読み込み元", "What each size leaves", "各サイズで残るメモリ",
    "Servers against one another", "サーバ間の比較", "After the scan",
    "テーブル全読み込み後のヒット率", "Cost of a GiB", "バッファ1GiBあたりの時間", "Checkpoints with",
    "ダーティページが少ない", "What else differs",
    "時間のほかに", "Summary: the effect", "検証結果のまとめ", "Level by level", "段階ごとの結果",
)  # fmt: skip
"""Tables whose numbers follow from trials by more than one rule can say; they are still read for
what follows from other numbers of the same row (``relations``), and each number by itself must be
one that some rule gives."""
UNREAD: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("What changed per transaction", "1トランザクションあたりの変化"), ("",)),
    (("Nodes that take part", "1トランザクションに参加するノード数"), ("",)),
    (("What each further partition", "パーティション1つあたり"), ("",)),
    (("Workers of parallel plans", "パラレルクエリのワーカー数"), ("",)),
    (
        ("Summary: the effect", "検証結果のまとめ"),
        ("of the measure", "verdict", "基準に対する割合", "判定"),
    ),
    (("What each size leaves", "各サイズで残るメモリ"), ("",)),
    (("What else differs", "時間のほかに"), ("",)),
    (("Servers against one another", "サーバ間の比較"), ("",)),
    (GROUPS, ("pairs", "verdict", "組数", "判定")),
    (
        ("Printed", "PGECons報告書"),
        ("printed", "measured", "finding", "PGECons報告書", "本検証", "今回", "公開された検証結果"),
    ),
)
"""Of those tables the columns of which nothing can be said, by the beginnings of caption and
heading."""
UNRULED_COLUMNS = frozenset(
    {
        *("share", "割合", "not planned", "プラン作成時に除外", *PER_LOAD, *PER_CORE),
        *("partitions scanned", "スキャンしたパーティション"),  # of all repetitions of a plan
        *("without, µs", "未発生時(µs)"),  # of the statements of which none swept
        *("new ÷ old", "新÷旧", "新 ÷ 旧"),  # relations
        *("pairs", "組数"),  # of the sides of each row
    }
)
OF_PARTS: dict[str, tuple[Path, Callable[[Sequence[float]], float]]] = {
    "part": (("size",), median),
    "median": (("seconds",), median),
    "longest": (("seconds",), max),
    **{f"from-{origin}": (("is", origin), fmean) for origin in sorted(ORIGINS)},
    "buffers-before": (("in buffers",), fmean),
    "os-cache-before": (("in OS cache",), fmean),
}
"""By the columns of a table of timed pages, what they have of a part, of all trials together."""
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


def _numbers_of(trial: Attempt) -> Iterator[tuple[Path, float]]:
    """The metrics of a trial, its facts, its probe's measurement and its plan."""
    every = dict(getattr(trial, "facts", {}) or {})
    facts = {name: value for name, value in every.items() if name not in {MEASUREMENT, "plan"}}
    yield from numbers_in(trial.metrics, ("metric",))
    yield from numbers_in(facts, ("fact",))
    measurement = measurement_of(every) if MEASUREMENT in every else None
    if measurement is not None:
        yield from _of_parts(measurement)
        for path, value in numbers_in(measurement, ("probe",)):
            yield path, value
            yield ("probe", "every", path[-1]), value
            if path[-1] == "seconds":
                origins = (("probe", "every", name, "seconds") for name in path if name in ORIGINS)
                yield from ((origin, value) for origin in origins)
    if every.get("plan") is not None:
        yield from numbers_of_plan(json.loads(zlib.decompress(base64.b64decode(every["plan"]))))


def _of_parts(measurement: ProbeMeasurement) -> Iterator[tuple[Path, float]]:
    """Of each part that was timed: the times, where each page came from, and where all were before."""
    for timed in measurement.measured:
        place = "probe", "part", timed.step, timed.part
        for each in timed.statements:
            yield (*place, "seconds"), each.seconds
            yield from (((*place, "is", of.value), float(each.origin is of)) for of in PageOrigin)
            if each.read:
                yield (*place, "outside"), each.seconds
                yield (*place, "cached"), float(each.origin is PageOrigin.OS_CACHE)
    for seen in measurement.seen:
        place = "probe", "part", seen.step, seen.part
        if seen.moment == "before":
            yield (*place, "size"), 8192.0 * seen.where.pages
            yield (*place, "in buffers"), seen.where.buffers_share
            yield (*place, "in OS cache"), seen.where.os_cache_share or 0.0
    for run in measurement.with_clients:
        clients = "probe", "clients", run.step, run.part, str(run.clients)
        yield (*clients, "tps"), run.tps
        yield (*clients, "latency"), run.latency
        yield (*clients, "hits"), run.hit / max(1, run.hit + run.read)


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


def moments_of(seconds: Iterable[float]) -> set[str]:
    """Moments, in seconds since the epoch, as reports write them."""
    times = [datetime.fromtimestamp(at, UTC) for at in seconds]
    return {at.strftime(form) for at in times for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M")}


TIMES = {unit for unit, dimension in DIMENSIONS.items() if dimension == "time"}
OF_TIME = re.compile(r"seconds|latency")
QUOTIENTS = {"quotient", "ratio", "turned", "share", "detectable", "seen"}
"""Words of rules that compare."""
COUNTS = (("trial",), ("attempt",), ("block",), ("trials",), ("blocks",))
"""Rules that count or number."""


@dataclass(frozen=True)
class Cell:
    """A number of a column, with the row that it stands in."""

    text: str
    number: Printed
    unit: str
    row: int

    def is_of(self, value: float) -> bool:
        return self.number.is_of(value * UNITS.get(self.unit, 1.0))

    def may_be(self, rule: Rule) -> bool:
        """Whether it has no unit where a rule counts or divides, and none of another quantity."""
        if not self.unit or rule in COUNTS or rule[1:2] == ("count",):
            return not self.unit
        if self.unit == "%":
            return True
        path = next((" ".join(each) for each in rule if isinstance(each, tuple)), "")
        is_time = bool(OF_TIME.search(path))
        return not QUOTIENTS & {*rule[-2:], *rule[1:3]} and is_time <= (self.unit in TIMES)


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
        self._pools: dict[Selection, dict[Rule, float]] = self.kept("pools")
        self._comparisons: dict[Rule, dict[Rule, float]] = self.kept("comparisons")
        self.free = ""
        """A factor of which no level is chosen."""
        self.further: dict[str, set[float]] = {}
        """Numbers at places of texts that this report alone has."""
        self.shared: set[int] = set()
        """How many intervals of the table that is read may share α."""

    def kept(self, name: str) -> dict[Any, Any]:
        """What is known of the campaign in whatever report it is read."""
        known = self.campaign.further.setdefault(name, {})
        assert isinstance(known, dict)
        return known

    def once(self, key: Hashable, make: Callable[[], Read]) -> Read:
        """What was read already in this language, by all that it depends on."""
        known = self.kept(f"read {self.reader.language}")
        if key not in known:
            known[key] = make()
        read: Read = known[key]
        return read

    @cached_property
    def planned(self) -> dict[int, PlannedTrial]:
        return {trial.number: trial for trial in self.campaign.plan.trials}

    @cached_property
    def attempts(self) -> dict[tuple[int, int], Attempt]:
        return {(trial.number, trial.attempt): trial for trial in self.campaign.trials}

    @cached_property
    def counted(self) -> Selection:
        return frozenset((trial.number, trial.attempt) for trial in self.campaign.counted.values())

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
            key=lambda name: (titles[name] != table.part, -len(titles[name])),
        )
        if named:
            chosen = self._where(chosen, lambda trial: trial.cell.workload == named[0])
        for factor, levels in self.reader.names.items():
            wanted = self._listed(levels, row)
            level = self._level_of(factor, levels, table, row, heading, about)
            wanted = wanted or ({level} if level is not None else set())
            if wanted and factor != self.free:
                chosen = self._where(
                    chosen,
                    lambda trial, factor=factor, wanted=wanted: (
                        trial.cell.level(factor)  # type: ignore[misc]
                        in {None, *wanted}
                    ),
                )
        return chosen

    def _listed(self, levels: Mapping[str, set[str]], row: Sequence[str]) -> set[str]:
        """The levels that one cell of a row lists, and nothing else."""
        for cell in row:
            parts = cell.split(self.reader.separator)
            found = {level for level, known in levels.items() for part in parts if part in known}
            if len(parts) > 1 and len(found) == len(parts):
                return found
        return set()

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
        others = {self.reader.factor_text(name) for name in self.reader.factors} - {own}
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
        of_caption = re.split(": ?", table.caption)[-1]
        for level, known in levels.items():
            if of_caption in known and of_caption != table.caption:
                return level
        within = [
            (max(map(len, found)), level)
            for level, known in levels.items()
            if (found := [name for name in known if is_telling(name, 4) and name in about])
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
            together = [value for values in trials for value in values]
            yield (path, "together", "median"), median(together)
            yield (path, "together", "mean"), math.fsum(together) / len(together)
            for name, end in self._ends(path, together):
                yield (path, "together", name), end
            single = all(len(values) == 1 for values in trials)
            for inner, within in INNER.items():
                if single and inner not in {"sum"}:
                    continue
                values = [within(each) for each in trials]
                for outer, over in OUTER.items():
                    if len(values) > 1 or outer == "median":
                        yield (path, inner, outer), over(values)
        yield from self._counts(chosen)

    def _counts(self, chosen: Selection) -> Iterator[tuple[Rule, float]]:
        """What trials are called and how many there are, and what their plan declares."""
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

    def _ends(self, path: Path, values: Sequence[float]) -> Iterator[tuple[str, float]]:
        """The interval of a mean over blocks; nothing is less than 0."""
        if path[:2] == ("probe", "clients") and len(values) > 1:
            error = stdev(values) / math.sqrt(len(values))
            half = t_quantile(1 - self.reader.measure.alpha / 2, len(values) - 1) * error
            yield "low", max(0.0, fmean(values) - half)
            yield "high", fmean(values) + half

    def of_cells(self, *starts: Path) -> Iterator[float]:
        """Statistics of all values of the trials with some levels in common, of paths that begin
        with one of two such words."""
        groups: dict[object, set[tuple[int, int]]] = defaultdict(set)
        for key in self.counted:
            levels = self.planned[key[0]].cell.levels
            for count in range(len(levels) + 1):
                for shared in itertools.combinations(levels, count):
                    groups[shared].add(key)
        for chosen in groups.values():
            together: dict[Path, list[float]] = defaultdict(list)
            for key in chosen:
                for path, values in self.held(key).items():
                    if path[:2] in starts:
                        together[path] += values
            for values in together.values():
                yield from (each(values) for each in INNER.values())

    def held(self, key: tuple[int, int]) -> dict[Path, list[float]]:
        """The numbers of a trial, by their paths."""
        cache = self.kept("held")
        if key not in cache:
            trial = self.attempts[key]
            found: dict[Path, list[float]] = defaultdict(list)
            for path, value in _numbers_of(trial):
                found[path].append(value)
            transactions = trial.metrics.get("transactions", 0.0)
            for path, values in [*found.items()] if transactions else ():
                if path[0] == "metric":
                    found["per transaction", *path] = [values[0] / transactions]
            cache[key] = dict(found)
        return cache[key]  # type: ignore[no-any-return]

    # --- columns --------------------------------------------------------------------------------

    def objections(self, table: Table, read: Collection[int] = ()) -> Iterator[str]:
        """The columns of which no rule explains every row. ``read``: those that were read already."""
        caption = self.reader.of_workload(table.caption)[1]
        for row in table.rows:
            yield from self._of_row(table, row, is_ruled=not caption.startswith(UNRULED))
        yield from self._of_levels(table)
        yield from self._of_workers(table)
        yield from self._of_accesses(table)
        if not read:
            yield from relation_objections(table, self.campaign.facts.cpu.logical)
        yield from self._of_pairs(table, read)
        if table.columns[:2] in TRIALS:
            yield from self._of_trials(table)
        if table.caption == self._binaries or (
            table.columns[-1] in SOURCES and len(table.columns) == OF_SETTING
        ):
            return  # of settings or templates, which were read whole
        if caption.startswith(UNRULED):
            yield from self._of_cells_alone(table, caption)
            return
        for kind in SHOWN_PLANS:
            if sentence(self.reader.language, kind).fullmatch(caption):
                yield from self._of_shown_plans(table, kind)
                return
        self.shared = {len(table.rows)}
        for column, heading in enumerate(table.columns):
            if heading not in UNRULED_COLUMNS and column not in read:
                yield from self._of_column(table, column, heading)

    def _of_row(self, table: Table, row: Sequence[str], *, is_ruled: bool) -> Iterator[str]:
        for cell in row:
            yield from self.words_objections(cell)
            yield from self._of_moments(table, cell)
            if is_ruled:
                yield from filter(None, (why for _, why in counted(cell, self.every)))
            for name in re.split(" ?÷ ?", cell) if re.fullmatch(r"\S+ ?÷ ?\S+", cell) else ():
                if re.search(r"\d", name) and name not in self.level_names:
                    yield f"{table.caption}: no side is {name}"
        yield from self._of_setting(table, row)
        yield from self._of_event(table, row)
        yield from self._of_template(table, row)

    def _of_partitions(self, table: Table) -> Iterator[str]:
        """Objects to partitions scanned, skipped and not planned that are not all of a table's."""
        names = ("scanned", "skipped", "pruned")
        headings = [phrase(self.reader.language, f"table.use.{name}") for name in names]
        known = self.named.get("worker-source.partitions count", set())
        for row in table.rows if {*headings} <= {*table.columns} else ():
            cells = [row[table.columns.index(heading)] for heading in headings]
            every = sum(map(int, cells)) if all(map(str.isdigit, cells)) else 0
            if known and every and every not in known:
                yield f"{table.caption}: {cells} are not all of {known}"
            skipped = {
                held["plan", "pruned"][0] + more
                for key in self._freed(table, row, "", self.campaign.contrast)
                if ("plan", "pruned") in (held := self.held(key))
                for more in (0.0, held["plan", "never"][0])
            }
            if skipped and cells[1].isdigit() and int(cells[1]) not in skipped:
                yield f"{table.caption}: {skipped} were skipped, not {cells[1]}"

    def _of_accesses(self, table: Table) -> Iterator[str]:
        """Objects to times and shares of timed pages that no part of a step has together."""
        named = {
            key: phrase(self.reader.language, f"table.probe.{key}").split("{")[0]
            for key in OF_PARTS
        }
        columns = {
            at: OF_PARTS[key]
            for key in OF_PARTS
            for at, heading in enumerate(table.columns)
            if heading.startswith(named[key])
        }
        for row in table.rows if named["part"] in table.columns else ():
            held = [self.held(key) for key in self.selection(table, row, "")]
            parts = {path[:4] for each in held for path in each if path[:2] == ("probe", "part")}
            cells = [
                (of, cell)
                for at, of in columns.items()
                for cell in self._cells(table.columns[at], row[at], 0)
            ]
            if parts and not any(
                all(_is_of_part(cell, held, part, of) for of, cell in cells) for part in parts
            ):
                yield f"{table.caption}: no part has {row}"

    def _of_workers(self, table: Table) -> Iterator[str]:
        """Objects to workers by the rule, planned and launched that no plan of a row has, and to
        other partitions than a table's."""
        yield from self._of_partitions(table)
        names = ("expected", "planned", "launched")
        headings = {phrase(self.reader.language, f"table.workers.{name}") for name in names}
        for row in table.rows:
            cells = [*zip(table.columns, row, strict=False)]
            alone = " / ".join(text for heading, text in cells if heading in headings)
            for heading, text in (*cells, ("", alone)):
                if not WORKERS.fullmatch(text):
                    continue
                chosen = [self.planned[key] for key, _ in self.selection(table, row, heading)]
                plans = recorded(self.campaign, chosen)
                of_plan = text.split(" / ", 1)[1]
                if not any(seen.has_workers(text) for seen in plans) and (
                    plans or re.search("[1-9]", of_plan)
                ):
                    yield f"{table.caption} · {heading}: no plan has {text}"

    def _of_cells_alone(self, table: Table, caption: str) -> Iterator[str]:
        """Objects to numbers that no rule gives, of a table whose columns have none in common."""
        for column, heading in enumerate(table.columns):
            if (
                heading in UNRULED_COLUMNS
                or INTERVALS.fullmatch(heading)
                or any(
                    caption.startswith(names) and heading.startswith(columns)
                    for names, columns in UNREAD
                )
            ):
                continue
            for at, row in enumerate(table.rows):
                if heading == phrase(self.reader.language, "table.probe.size"):
                    yield from self._of_size(table, row, column)
                if column >= len(row) or self._is_given(row, column, heading):
                    continue
                for cell in self._cells(heading, row[column], at):
                    if not self._is_made(cell) and not self._explained(table, heading, [cell]):
                        yield f"{caption} · {heading}: nothing gives {cell.text}"

    def _of_pairs(self, table: Table, read: Collection[int]) -> Iterator[str]:
        """Objects to numbers of pairs that no comparison of a row's sides has; of groups of queries, no
        group."""
        is_of_groups = self.reader.of_workload(table.caption)[1].startswith(GROUPS)
        groups = self.named.get("query-group.too-few.many count", set())
        column = table.column(phrase(self.reader.language, "table.pairs"))
        for row in table.rows if column is not None and column not in read else ():
            known = groups if is_of_groups else self._pairs_of(table, row)
            assert column is not None
            if row[column].isdigit() and int(row[column]) not in known:
                yield f"{table.caption}: {row} has {sorted(known)} pairs"

    def _pairs_of(self, table: Table, row: Sequence[str]) -> set[int]:
        """How many blocks have both of two sides that a row names, at each level or at all of them."""
        campaign, contrast = self.campaign, self.campaign.contrast
        cells: dict[str, set[Context]] = defaultdict(set)
        for number, _ in self._freed(table, row, "", contrast):
            cell = self.planned[number].cell
            cells[cell.workload].add(cell.context(contrast))
        found = set()
        over_all = (
            phrase(self.reader.language, "table.methods.caption")
            in self.reader.of_workload(table.caption)[1]
        )
        for workload, contexts in cells.items():
            named = self._sides(contrast, row, "") or self._both(contrast, (*row, *table.columns))
            for sides in [named] if named else itertools.permutations(campaign.sides(workload), 2):
                metric = USUAL[campaign.plan.study.workload(workload).kind]
                blocks = [
                    {*campaign.by_start(campaign.log_ratios(workload, each, sides, metric)[0])}
                    for each in contexts
                ]
                found |= {*map(len, blocks)} if not over_all else set()
                found.add(len(set.intersection(*blocks)))
                found.add(campaign.judged(workload, metric, sides[1]).overall.pairs)
        return found

    def _of_size(self, table: Table, row: Sequence[str], column: int) -> Iterator[str]:
        """Objects to buffers of another size than the trials of a row had."""
        sizes = {
            value
            for key in self.selection(table, row, "")
            for value in self.held(key).get(("probe", "shared_buffers"), ())
        }
        for cell in self._cells("", row[column], 0):
            if sizes and not any(map(cell.is_of, sizes)):
                yield f"{table.caption}: the buffers are {sizes}, not {cell.text}"

    def _is_made(self, cell: Cell) -> bool:
        """Whether METHOD.md makes such a number of the trials."""
        return any(
            cell.is_of(value)
            for known in self.every
            for effect in made_of(known).effects
            for values in effect.values.values()
            for value in values
        )

    def _of_shown_plans(self, table: Table, kind: str) -> Iterator[str]:
        """Objects to a table of plans, of one or of both sides, of which no trial's plan has the
        numbers of a side."""
        keys = ("table.nodes.executed", "table.shared.scans")
        forms = [sentence(self.reader.language, key) for key in keys]
        headings = {
            "plan-table.summary": table.columns[1:3],
            "plan-table.nodes": table.columns[2:4],
        }.get(kind) or [
            said["side"]
            for name in table.columns
            for said in filter(None, (form.fullmatch(name) for form in forms))
        ]
        for at, heading in enumerate(headings or [""]):
            plans = [self.held(key) for key in self.selection(table, (), heading)]
            if not any(SHOWN_PLANS[kind](self.reader.language, table, at, held) for held in plans):
                yield f"{table.caption} ({table.part} {heading}): no plan has these numbers"

    def _of_setting(self, table: Table, row: Sequence[str]) -> Iterator[str]:
        """Objects to another value, reason or source of a parameter than the study has."""
        if table.columns[-1] not in SOURCES or len(row) != OF_SETTING:
            return
        for known in self.every:
            for each in known.plan.study.settings:
                said = (each.value, self.reader.own(each.reason), each.source)
                if each.name == row[0] and not all(
                    cell in {own, ""} or own is None
                    for cell, own in zip(row[1:], said, strict=True)
                ):
                    yield f"{table.caption}: {row[0]} is {said}, not {row[1:]}"

    def _of_moments(self, table: Table, text: str) -> Iterator[str]:
        """Objects to moments at which nothing of the campaigns was, or no event."""
        told = {found[0] for found in MOMENT.finditer(text)}
        if told:
            known = self.moments_of_events if EVENT & {*table.columns} else self.moments
            yield from (f"nothing was at {moment}" for moment in told - known)

    def _of_levels(self, table: Table) -> Iterator[str]:
        """Objects to levels that a factor has not, and to rows of the same levels."""
        by_text = {self.reader.factor_text(factor): factor for factor in self.reader.factors}
        keys = ("table.probe.side", "table.versions.side")
        sides = {phrase(self.reader.language, key) for key in keys}
        for at in (at for at, heading in enumerate(table.columns) if heading in sides):
            cells = (row[at].split(self.reader.separator) for row in table.rows)
            named = {cell for parts in cells for cell in parts if re.search(r"\d", cell)}
            wrong = named - self.level_names
            yield from (f"{table.caption}: no such side: {cell}" for cell in wrong)
        columns = {
            at: by_text[heading] for at, heading in enumerate(table.columns) if heading in by_text
        }
        for at, factor in columns.items():
            known = set().union(*self.reader.names[factor].values())
            for row in table.rows:
                if row[at].isdigit() and row[at] not in known:
                    yield f"{table.caption} · {table.columns[at]}: no such level: {row[at]}"
        first = next((at for at in range(len(table.columns)) if at not in columns), 0)
        if (
            columns
            and first == len(columns)
            and {*columns.values()} <= {"clients", "cores", "server", "nodes", "scenario"}
        ):
            levels = [row[:first] for row in table.rows]
            yield from (
                f"{table.caption}: two rows of {row}" for row in levels if levels.count(row) > 1
            )

    def _of_trials(self, table: Table) -> Iterator[str]:
        """Objects to rows of attempts that do not exist, stand twice, or are of another workload,
        another level or another time."""
        keys = [(int(row[0]), int(row[1])) for row in table.rows]
        titles = {each.name: self.reader.own(each.title) for each in self.campaign.workloads()}
        every = len(table.rows) == len(self.attempts)
        excluded = phrase(self.reader.language, "table.excluded.caption")
        for key, row in zip(keys, table.rows, strict=True):
            attempt = self.attempts.get(key)
            if attempt is None or keys.count(key) > 1:
                yield f"{table.caption}: no such attempt: {' | '.join(row)}"
                continue
            yield from self._of_attempt(table, row, attempt)
            own = titles[self.planned[key[0]].cell.workload]
            if own not in row and any(title in row for title in titles.values()):
                yield f"{table.caption}: of another workload: {' | '.join(row)}"
            elif excluded == table.caption and attempt.outcome is Outcome.COUNTED and not every:
                yield f"{table.caption}: it counts: {' | '.join(row)}"

    def _of_attempt(self, table: Table, row: Sequence[str], attempt: Attempt) -> Iterator[str]:
        cell = self.planned[attempt.number].cell
        moments = moments_of((attempt.started_at, attempt.finished_at))
        levels = {self.reader.factor_text(factor): (factor, level) for factor, level in cell.levels}
        for heading, text in zip(table.columns, row, strict=True):
            factor, level = levels.get(heading, ("", ""))
            if factor and text not in {*self.reader.names[factor][level], "", "—"}:
                yield f"{table.caption} · {heading}: {level}, not {text}"
            if MOMENT.fullmatch(text) and text not in moments:
                yield f"{table.caption} · {heading}: {moments}, not {text}"
            if heading == phrase(self.reader.language, "table.level"):
                own = set[str]().union(
                    *(self.reader.names[factor][level] for factor, level in cell.levels)
                )
                parts = text.split(self.reader.separator)
                yield from (
                    f"{table.caption}: it is not at {part}"
                    for part in parts
                    if re.search(r"\d", part) and part not in own
                )
            if heading == phrase(self.reader.language, "table.problems"):
                problems = " ".join(each.detail for each in getattr(attempt, "problems", ()))
                own = {*re.findall(r"\d+(?:\.\d+)?", problems)}
                said = {found[0].strip("+−-,") for found in SLOT.finditer(text)}
                yield from (f"{table.caption}: {each} is not in {problems}" for each in said - own)

    def _of_event(self, table: Table, row: Sequence[str]) -> Iterator[str]:
        """Objects to numbers that no event of that moment has behind the same word."""
        if not EVENT & {*table.columns}:
            return
        beside = {
            both
            for known in self.every
            for event in known.events
            if row[0] in moments_of((event.at,))
            for both in itertools.pairwise(("", *_words(f"{event.trial} {event.detail}")))
        }
        for cell in row[1:]:
            words = ["", *_words(cell.removesuffix("…"))]
            for both in itertools.pairwise(words[:-1] if cell.endswith("…") else words):
                if re.search(r"\d", both[1]) and both[0] not in JSON_WORDS and both not in beside:
                    yield f"{table.caption}: no event has {' '.join(both)}"

    def _of_template(self, table: Table, row: Sequence[str]) -> Iterator[str]:
        """Objects to numbers beside the fingerprint of a template or of a server that are not its
        own."""
        plans = [known.plan for known in self.every]
        every: list[tuple[Installation | TemplateSpec, str]] = []
        for plan in plans:
            every += [(one, f"{level} {one.version}") for level, one in plan.servers]
            every += [(spec, str(spec.installation.version)) for spec in plan.templates]
        known = [(each, said) for each, said in every if each.fingerprint in row]
        if not known and table.caption == self._binaries:
            yield f"{table.caption}: no binary is {row}"
        for each, said in known:
            own = [value for _, value in numbers_in(each)]
            texts = _words(f"{each} {said}")
            for cell in (*self._cells("", row[0], 0), *self._cells("", row[-1], 0)):
                if cell.text not in texts and not any(map(cell.is_of, own)):
                    yield f"{table.caption}: {each.fingerprint} has no {cell.text}"

    def _of_column(self, table: Table, column: int, heading: str) -> Iterator[str]:
        by_slot: dict[int, list[Cell]] = defaultdict(list)
        about = f"{table.caption} · {heading}"
        for at, row in enumerate(table.rows):
            if column >= len(row) or self._is_given(row, column, heading):
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
                if not (of_machine and self._is_fact(cell, table.rows[cell.row]))
                and (
                    self._facts_named(table.rows[cell.row])
                    or not self._row_explained(table, column, cell)
                )
            ]
            if left:
                yield f"{about}, number {slot + 1}: no rule gives {left[:6]}"

    def _but_one(self, table: Table, heading: str, cells: Sequence[Cell]) -> list[str]:
        """The number that a rule of all the others does not give."""
        if len(cells) < 4 or table.columns[:2] in FACTS:
            return []
        for given in (self._values, self._ratios):
            rows = [given(table, table.rows[cell.row], heading) for cell in cells]
            fits: dict[Rule, list[str]] = defaultdict(list)
            for cell, values in zip(cells, rows, strict=True):
                for rule, value in values.items():
                    if not cell.is_of(value):
                        fits[rule].append(cell.text)
                for rule in fits.keys() - values.keys():
                    fits[rule].append(cell.text)
            alone = [wrong for wrong in fits.values() if len(wrong) == 1]
            if alone:
                return alone[0]
        return []

    def _cells(self, heading: str, text: str, row: int) -> Iterator[Cell]:
        units = UNIT.findall(text)
        of_heading = UNIT.findall(CONFIDENCE.sub("", heading))
        for found in SLOT.finditer(text):
            unit = unit_behind(text, found.end()) or (units or of_heading or [""])[-1]
            yield Cell(found[0], printed(found[0]), unit, row)

    def _is_of_machine(self, table: Table) -> bool:
        """Whether no row names a trial, a level or a workload."""
        if table.columns[:2] in TRIALS:
            return False
        return table.columns[:2] in FACTS or all(
            self.selection(table, row, "") == self.counted for row in table.rows
        )

    def _is_fact(self, cell: Cell, row: Sequence[str]) -> bool:
        """Whether the machine or the plan has such a number: by the name of the row, where one has
        it."""
        return any(map(cell.is_of, self._facts_named(row) or self.facts))

    def _facts_named(self, row: Sequence[str]) -> set[float]:
        """The facts that a row of the machine's table tells by its name; all of every campaign."""
        names = next((names for labels, names in FACT_NAMES.items() if row[0] in labels), set())
        return {
            value
            for known in self.every
            for path, value in numbers_in(known.facts)
            if " ".join(path) in names
        }

    @cached_property
    def facts(self) -> set[float]:
        """What plans, machines and events hold; sizes of buffers that are shares of the memory."""
        held = [
            each
            for known in self.every
            for each in (
                known.facts,
                known.plan.servers,
                known.plan.templates,
                known.plan.study,
                [one.detail for one in known.events],
            )
        ]
        shares = [
            float(level.removesuffix("%")) / 100
            for factor in self.campaign.plan.study.factors
            for level in factor.levels
            if re.fullmatch(r"\d+%", level)
        ]
        memory = self.reader.measure.memory or self.campaign.facts.memory.total
        return {
            *(value for each in held for _, value in numbers_in(each)),
            *shares,
            *(share * memory for share in shares),
        }

    def _is_given(self, row: Sequence[str], column: int, heading: str) -> bool:
        """Levels, names, times of day, and what the plan or the machine says; a bare number is a
        name only where the column is of a factor."""
        text = row[column]
        if not re.search(r"\d", text) or (row[0], text) in self.settings:
            return True
        if text in whole_texts(self.reader.language):
            return not SLOT.fullmatch(text)
        if SLOT.fullmatch(text) and heading not in self.headings:
            return text in self.versions
        if row[0] == phrase(self.reader.language, "fact.memory-limit"):
            return True  # its places have names
        words = _words(self.undated(text))
        return all(
            self._is_name(words, at) for at, word in enumerate(words) if re.search(r"\d", word)
        )

    def _is_name(self, words: Sequence[str], at: int) -> bool:
        """Whether a word with a digit is one of the plan or of the machine; a bare number is where it
        stands beside such a word as there."""
        word = words[at]
        if not word.isdigit() or len(words) < 2:
            return word in self.texts or re.sub(r"^[^\W\d]+", "", word) in self.texts
        beside = {*itertools.pairwise(words[max(0, at - 1) : at + 2])}
        return bool(beside & self.neighbours)

    @cached_property
    def _binaries(self) -> str:
        return phrase(self.reader.language, "table.fingerprints.caption")

    @cached_property
    def _named_levels(self) -> re.Pattern[str]:
        """A level behind the name of its factor."""
        names = {re.escape(self.reader.factor_text(factor)) for factor in self.reader.factors}
        return re.compile(
            rf"(?<![\w_])({'|'.join(sorted(names))}) = ([A-Za-z\d.]*\d[A-Za-z\d.]*%?)"
        )

    @cached_property
    def has_shares(self) -> bool:
        return any(LEVEL.fullmatch(name) for name in self.level_names)

    @cached_property
    def level_names(self) -> set[str]:
        """How levels and servers are called."""
        known = (names for levels in self.reader.names.values() for names in levels.values())
        return self.versions.union(*known)

    @cached_property
    def settings(self) -> set[tuple[str, str | None]]:
        """Parameters with their values, as the study sets them."""
        studies = (known.plan.study for known in self.every)
        return {(each.name, each.value) for study in studies for each in study.settings}

    @cached_property
    def versions(self) -> set[str]:
        """Of the servers; they are called by them."""
        servers = (each for known in self.every for each in known.plan.servers)
        return {name for level, server in servers for name in (level, str(server.version))}

    @cached_property
    def own_texts(self) -> tuple[str, ...]:
        """Texts of studies and of published findings."""
        known = (
            (each.plan.study, *((one.statement, one.remark) for one in each.findings))
            for each in self.every
        )
        return tuple({self.reader.own(text) for each in known for text in texts_in(each)})

    @cached_property
    def written(self) -> tuple[Template, ...]:
        """Texts of the translation files, of studies and of published findings."""
        sources = {self._source(each) for known in self.every for each in known.findings}
        sources |= {source for known in self.every for source in known.plan.study.sources}
        sources |= {
            f"{self.reader.own(value.label)}: {value.value}"
            for known in self.every
            for each in known.findings
            for value in each.printed
        }
        return (*templates(self.reader.language), *templates_of({*self.own_texts, *sources}))

    def _source(self, finding: Claim) -> str:
        source = finding.source
        tables = source.table.replace(", ", self.reader.separator)
        form = phrase(self.reader.language, f"claim.source{'-table' * bool(tables)}")
        section = source.section
        if not section.startswith("#"):
            which = "claim.section" if section[:1].isdecimal() else "claim.section-named"
            section = phrase(self.reader.language, which).format(section=section)
        return form.format(report=source.report, section=section, table=tables)

    def words_objections(self, text: str) -> Iterator[str]:
        """Objects to known words with other numbers, and to servers that there are not."""
        if not re.search(r"\d", text):
            return
        key = text, len(self.every), f"{self.further}"
        yield from self.once(key, lambda: [*self._words_objections(text)])

    def _words_objections(self, text: str) -> Iterator[str]:
        yield from own_objections(text, self.written)
        yield from named_objections(text, self.reader.language, self.named)
        yield from self._of_machines(text)
        least = min(1 - known.plan.study.measure.alpha for known in self.every)
        yield from (
            f"no interval is at {level} %"
            for level in SAID_OF_ALL.findall(text)
            if printed(level).value + printed(level).step < 100 * least
        )
        yield from self._levels_objections(text)
        for name, size, unit in BROUGHT.findall(text):
            known = self.relations.get(name, ())
            if known and not any(printed(size).is_of(each * UNITS[unit]) for each in known):
                yield f"{name} is not of {size} {unit}"
        for word, number in re.findall(r"(\S*[A-Za-z]) (\d[\d.]*)", text):
            if self._is_misnamed(word, number.rstrip(".")):
                yield f"no {word} is {number}"
        for word in re.findall(r"(?<!Teiten )(?<![\w.§-])\d+\.\d+\.\d[\w.-]*", text):
            if not (word.rstrip(".") in self.texts or word.rstrip(".") in self.findings):
                yield f"nothing is called {word}"
        yield from (
            f"no such server: {found[0]}"
            for found in PLAIN_NAMES.finditer(text)
            if found[1] not in self.versions
            and found[0] not in self.named_servers
            and "PGECons" not in text  # of what was measured elsewhere
        )

    def _levels_objections(self, text: str) -> Iterator[str]:
        """Objects to levels that there are not, and to those that are set against themselves."""
        for name, level in self._named_levels.findall(text):
            levels = (
                each
                for factor in self.reader.factors
                if self.reader.factor_text(factor) == name
                for known in self.every
                for each in known.levels(factor)
            )
            if level.rstrip(".") not in levels and repr(level) not in self.findings:
                yield f"no level is {name} = {level}"
        yield from (f"a side against itself: {found[0]}" for found in ITSELF.finditer(text))
        for share in LEVEL.findall(text) if self.reader.language == "en" else ():
            if self.has_shares and share not in self.level_names | self.texts:
                yield f"no level is {share}"

    @cached_property
    def findings(self) -> str:
        """What the published findings say, and the cautions."""
        return " ".join(repr((known.findings, known.cautions)) for known in self.every)

    @cached_property
    def relations(self) -> dict[str, set[float]]:
        """The sizes of tables and indexes, by their names."""
        found: dict[str, set[float]] = defaultdict(set)
        for event in (event for known in self.every for event in known.events):
            for each in event.detail["relations"] if event.kind == RELATIONS else ():
                found[each["name"]].add(8192.0 * each["pages"])
        return found

    @property
    def named(self) -> dict[str, set[float]]:
        """What numbers are at places of texts that have these names."""
        return {**self.facts_by_name, **self.further}

    @cached_property
    def facts_by_name(self) -> dict[str, set[float]]:
        return named_numbers(self.every)

    def _is_misnamed(self, word: str, number: str) -> bool:
        """Whether machines have such a word with other numbers alone."""
        known = re.findall(rf"\b{re.escape(word)} (\d[\d.]*)", self.machine)
        return len(word) > 3 and bool(known) and number not in known

    def _of_machines(self, text: str) -> Iterator[str]:
        """Objects to other numbers of processors beside a processor's name."""
        known = {(each.facts.cpu.model.split()[0], each.facts.cpu.logical) for each in self.every}
        for model in {name for name, _ in known}:
            words = re.escape(model)
            for found in re.finditer(rf"(\d+) cores? of {words}|{words} (\d+)コア", text):
                if (model, int(found[1] or found[2])) not in known:
                    yield f"no such machine: {found[0]}"

    @cached_property
    def named_servers(self) -> set[str]:
        """Servers that the plan's texts and machines name."""
        texts = (repr((known.plan, known.findings, known.facts)) for known in self.every)
        return {found[0] for text in (*texts, self.told) for found in PLAIN_NAMES.finditer(text)}

    @cached_property
    def headings(self) -> set[str]:
        """What columns of levels are called."""
        return {self.reader.factor_text(factor) for factor in self.reader.factors}

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
        return moments_of(seconds)

    @cached_property
    def moments_of_events(self) -> set[str]:
        return moments_of(event.at for known in self.every for event in known.events)

    @cached_property
    def machine(self) -> str:
        """What machines say of themselves."""
        return " ".join(repr(known.facts) for known in self.every)

    def undated(self, text: str) -> str:
        """A text without the moments that are known."""
        return MOMENT.sub(lambda found: "" if found[0] in self.moments else found[0], text)

    def unnamed(self, text: str) -> str:
        """A text without moments and without words of the plans and machines."""
        parts = re.split(rf"({BETWEEN}+)", self.undated(text))
        words = [part.strip(".:") for part in parts[::2]]
        kept = (
            "" if part in self.versions or self._is_name(words, at) else part
            for at, part in enumerate(parts[::2])
        )
        return "".join(map("".join, itertools.zip_longest(kept, parts[1::2], fillvalue="")))

    @cached_property
    def texts(self) -> set[str]:
        """Words with digits of the plan, of the machine and of the names of levels."""
        return {word for text in self.sources for word in _words(text) if re.search(r"\d", word)}

    @cached_property
    def neighbours(self) -> set[tuple[str, str]]:
        """Words that stand side by side there."""
        return {both for text in self.sources for both in itertools.pairwise(_words(text))}

    @cached_property
    def sources(self) -> list[str]:
        """What the plan, the machine and the trials say, and the names of levels."""
        every = [*self.level_names, self.told, MADE_BY]
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
            every += [f"{level} {server.version}" for level, server in plan.servers]
        return every

    def _explained(self, table: Table, heading: str, cells: Sequence[Cell]) -> bool:
        """Whether one rule gives every number of a column."""
        return any(
            self._one_rule(cells, [given(table, table.rows[cell.row], heading) for cell in cells])
            for given in (self._values, self._ratios)
        )

    def _row_explained(self, table: Table, column: int, cell: Cell) -> bool:
        """Whether the rule that gives a number gives that of every other side in its row."""
        row = table.rows[cell.row]
        sides = [
            (heading, cells[0])
            for at, heading in enumerate(table.columns[: len(row)])
            if at == column
            or any(
                heading in names
                for levels in self.reader.names.values()
                for names in levels.values()
            )
            if len(cells := [*self._cells(heading, row[at], cell.row)]) == 1
        ]
        if len(sides) < 2:
            return self._explained(table, table.columns[column], [cell])
        return any(
            self._one_rule([each for _, each in sides], [given(table, row, at) for at, _ in sides])
            for given in (self._values, self._ratios)
        )

    @staticmethod
    def _one_rule(cells: Sequence[Cell], rows: Sequence[Mapping[Rule, float]]) -> bool:
        rules: Sequence[Rule] | None = None
        for cell, values in zip(cells, rows, strict=True):
            rules = [
                rule
                for rule in (values if rules is None else rules)
                if rule in values and cell.may_be(rule) and cell.is_of(values[rule])
            ]
        return bool(rules)

    # --- comparisons ----------------------------------------------------------------------------

    def _ratios(self, table: Table, row: Sequence[str], heading: str) -> dict[Rule, float]:
        """What a row's trials are, set against those of another level of one factor."""
        chosen = self.selection(table, row, heading)
        found: dict[Rule, float] = {}
        for factor, levels in self.reader.factors.items():
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
                    for level, known in self.reader.names[factor].items()
                    if name in known
                ]
                if len(found) == 2:
                    return found[0], found[1]
        return None

    def _both(self, factor: str, cells: Sequence[str]) -> tuple[str, str] | None:
        """The only two levels that cells are called after."""
        found = [
            level
            for level, known in self.reader.names[factor].items()
            if known & {cell for cell in cells if not cell.isdigit()}
        ]
        return (found[0], found[1]) if len(found) == 2 else None

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
        key = (name, new, old, *self.shared)
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
                if not found.reason and math.isfinite(found.detectable):
                    seen = found.detectable * 100  # printed is the next greater number
                    yield (*name, path, "detectable", confidence), math.ceil(seen - 1e-9) / 100
                    yield (*name, path, "seen", confidence), math.ceil(seen * 10 - 1e-9) / 1000
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
        for rows in self.shared:
            found[f"{rows} rows"] = self.reader.measure.alpha / rows
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
        cells = {self.planned[number].cell for number, _ in chosen}
        if len(cells) == 1:
            (cell,) = cells
            found.update(
                made_of(self.campaign).points.get((cell.workload, frozenset(cell.levels)), {})
            )
        return found


def _is_of_part(
    cell: Cell,
    held: Sequence[Mapping[Path, Sequence[float]]],
    part: Path,
    of: tuple[Path, Callable[[Sequence[float]], float]],
) -> bool:
    """Whether a number is made of the values that all trials together hold of a part."""
    values = [value for each in held for value in each.get((*part, *of[0]), ())]
    return bool(values) and cell.is_of(of[1](values))


def _words(text: str) -> list[str]:
    return [word for each in re.split(f"{BETWEEN}+", text) if (word := each.strip(".:"))]


def _forms(rule: Rule, log: float) -> Iterator[tuple[Rule, float]]:
    """A ratio of its logarithm: as it is, turned round, and as a share."""
    ratio = ratio_of(log)
    yield (*rule, "ratio"), ratio
    yield (*rule, "turned"), 1 / ratio
    yield (*rule, "share"), ratio - 1
