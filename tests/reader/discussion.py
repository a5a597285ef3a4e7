"""The discussion: the form of curves, where sides part, latency's tail, what the machine did."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean

from teiten.ways.registry import way_of
from tests.reader.arithmetic import judge, t_quantile
from tests.reader.campaign import JUDGED, Context, Judged
from tests.reader.document import Part, Table
from tests.reader.kinds.pgbench import balanced, loads_of
from tests.reader.language import NUMBER, Book, Check, Groups, count, printed
from tests.reader.reader import Reader

BOOK = Book(__name__)


BOOK.holds(
    "withheld",
    lambda reader: {
        "it supports no conclusion": not reader.campaign.plan.study.conclusive,
        "profile": reader.campaign.plan.study.profile,
    },
)
BOOK.holds(
    "quick_look",
    lambda reader: {
        "no findings": reader.campaign.plan.study.conclusive
        and not reader.campaign.plan.study.replicates
    },
)


# --- the form of a curve ---------------------------------------------------------------------


SWEEPS = 3000
ROUNDING, CONVERGED = 1e-13, 1e-6


def without_blocks(table: dict[float, dict[int, float]]) -> dict[float, float]:
    """The mean of each load without the shifts of its blocks: means of loads and of blocks in turn,
    which end at the least squares of both. Where some blocks have no load in common, as it is."""
    logs = {at: {b: math.log(v) for b, v in one.items()} for at, one in table.items()}
    blocks = dict.fromkeys((b for log in logs.values() for b in log), 0.0)
    level = dict.fromkeys(logs, 0.0)
    for _ in range(SWEEPS if joined(logs) else 0):
        before = level
        level = {at: fmean(v - blocks[b] for b, v in one.items()) for at, one in logs.items()}
        if all(math.isclose(level[at], before[at], rel_tol=0, abs_tol=ROUNDING) for at in level):
            break
        blocks = {
            b: fmean(one[b] - level[at] for at, one in logs.items() if b in one) for b in blocks
        }
    usual = fmean(blocks[b] for log in logs.values() for b in log) if logs else 0.0
    return {
        at: math.exp(fmean(v - blocks[b] + usual for b, v in one.items()))
        for at, one in logs.items()
    }


def joined(table: dict[float, dict[int, float]]) -> bool:
    """Whether every block shares a load with another, and that with the next, to the last."""
    groups: list[set[int]] = []
    for one in table.values():
        touched = [group for group in groups if group & one.keys()]
        groups = [group for group in groups if group not in touched]
        groups.append(set(one).union(*touched))
    return len(groups) == 1


class Curve:
    """What the trials of a side say of its form."""

    def __init__(self, reader: Reader, groups: Groups, part: Part) -> None:
        cores = reader.campaign.contrast == "cores"
        of = replace(part, topic="Scaling with cores" if cores else "")
        self.tables = loads_of(reader, of, groups["side"])
        self.balanced = balanced(self.tables)
        positive = all(0 < v < math.inf for table in self.tables.values() for v in table.values())
        self.means = without_blocks(self.tables) if positive else {}
        self.first, self.last = min(self.means, default=0.0), max(self.means, default=0.0)
        self.peak = max(self.means, key=lambda at: self.means[at], default=0.0)

    def check(self, reader: Reader, groups: Groups) -> None:
        reader.that(reader.campaign.plan.study.conclusive, "no conclusion is supported")
        reader.that(bool(self.means), "no trials of this side")
        if not self.means:
            return
        delta = reader.measure.delta
        slack = 1e-9 if self.balanced else CONVERGED
        if "delta" in groups:
            reader.same(groups["delta"], delta * 100, "δ")
        for name, place in (("last", self.last), ("peak", self.peak), ("least", self.first)):
            if name in groups:
                said = float(count(re.sub(r"\D", "", groups[name])))
                near = abs(self.means.get(said, 1e-300) / self.means[place] - 1) <= slack
                reader.that(said == place or (name == "peak" and near), f"{name} is {place:g}")
        if "knee" in groups:
            said = float(count(re.sub(r"\D", "", groups["knee"])))
            within = [
                at
                for at, one in sorted(self.means.items())
                if one * (1 + delta) * (1 + slack) >= self.means[self.peak]
            ]
            reader.that(said == within[0] or (not self.balanced and said in within), "the knee")
        if "share" in groups:
            share = 100 * self.means[self.last] / self.means[self.peak]
            reader.same(groups["share"], share, "the share", slack=slack * 100)

    def falls(self, reader: Reader) -> tuple[float, float, float] | None:
        """Low, share and high, of the greatest load against the peak; None where not recomputed."""
        if not self.balanced:
            return None
        rows = [[math.log(one[at]) for at in sorted(one)] for _, one in sorted(self.tables.items())]
        loads, blocks = len(rows), len(rows[0])
        every = fmean(value for row in rows for value in row)
        columns = [fmean(row[at] for row in rows) - every for at in range(blocks)]
        left = sum(
            (value - fmean(row) - columns[at]) ** 2 for row in rows for at, value in enumerate(row)
        )
        freedom = (loads - 1) * (blocks - 1)
        if freedom < 1:
            return None
        alpha = reader.measure.alpha / (loads - 1)
        half = t_quantile(1 - alpha / 2, freedom) * math.sqrt(left / freedom * 2 / blocks)
        drop = math.log(self.means[self.last] / self.means[self.peak])
        return math.exp(drop - half), math.exp(drop), math.exp(drop + half)


def rises(reader: Reader, _groups: Groups, found: Curve) -> None:
    others = [one for at, one in found.means.items() if at != found.last]
    delta = reader.measure.delta
    slack = 1 + (1e-9 if found.balanced else CONVERGED)
    last = found.means[found.last] * slack
    reader.that(all(one * (1 + delta) < last for one in others), "it levels off before")


def is_level(reader: Reader, _groups: Groups, found: Curve) -> None:
    delta = reader.measure.delta
    enough = found.means[found.last] * (1 + delta) * 1.003 >= found.means[found.peak]
    reader.that(enough, "it is lower at the end")


def ends_at_peak(reader: Reader, groups: Groups, found: Curve) -> None:
    is_level(reader, groups, found)
    reader.that(found.means[found.last] * 1.003 >= found.means[found.peak], "another peak")


def falls(reader: Reader, groups: Groups, found: Curve) -> None:
    interval = found.falls(reader)
    alpha = reader.measure.alpha
    reader.same(groups["confidence"], (1 - alpha) * 100, "α")
    if interval is not None:
        reader.same(groups["low"], interval[0] * 100, "the low end", slack=1e-6)
        reader.same(groups["high"], interval[2] * 100, "the high end", slack=1e-6)
        reader.that(interval[2] < 1, "it may be equal")


def may_fall(reader: Reader, groups: Groups, found: Curve) -> None:
    interval = found.falls(reader)
    alpha = reader.measure.alpha
    reader.same(groups["confidence"], (1 - alpha) * 100, "α")
    if interval is not None:
        reader.same(groups["low"], interval[0] * 100, "the low end", slack=1e-6)
        reader.same(groups["high"], interval[2] * 100, "the high end", slack=1e-6)
        reader.that(interval[2] >= 1, "it falls")


FORMS = {
    "rises": rises,
    "is_level": is_level,
    "ends_at_peak": ends_at_peak,
    "falls": falls,
    "may_fall": may_fall,
}


@BOOK.says()
def curve(reader: Reader, groups: Groups, part: Part) -> None:
    found = Curve(reader, groups, part)
    found.check(reader, groups)
    if found.means and groups["form"] in FORMS:
        FORMS[groups["form"]](reader, groups, found)


@BOOK.says()
def beside_processors(reader: Reader, groups: Groups, part: Part) -> None:
    """The ends are those of the knee, which the results tell beside the curve."""
    cores = reader.campaign.facts.cpu.logical
    reader.equal(groups["cores"], cores, "the processors")
    alpha = reader.measure.alpha
    reader.same(groups["confidence"], (1 - alpha) * 100, "α")
    ends = [float(count(one)) for one in re.findall(r"\d[\d,]*", groups["ends"])]
    low, high = ends[0], ends[-1]
    where = "below" if high < cores else "above" if low > cores else "within"
    where = "equal" if low == cores == high else where
    reader.equal(groups["form"], where, "where it lies")
    if len(ends) == 2:
        told = groups["ends"]
        known = [one.text for one in reader.document.parts if one.part == part.part]
        reader.that(any(told in one for one in known if "knee" in one or "頭打ち" in one), told)
    levels = {float(one) for one in reader.campaign.levels("clients")}
    reader.that({*ends} <= levels, "ends that were not measured")


# --- where the sides part --------------------------------------------------------------------


def judged_of(reader: Reader, groups: Groups, part: Part) -> Judged | None:
    workload, new = reader.workload_of(part.part), reader.side_of(groups["new"])
    metric = reader.metric_of(groups["metric"])
    if workload is None or new is None or metric not in JUDGED:
        reader.that(False, "of what is this said")
        return None
    found = reader.judged(workload, metric, new)
    reader.equal(str(reader.side_of(groups["old"])), found.old, "the old side")
    withheld = bool(found.overall.reason) and not found.overall.extremes
    reader.that(not withheld, "its verdict is withheld")
    return found


def each_new(check: Check) -> Check:
    """Of a sentence that lists several new sides: the same of each."""

    def checked(reader: Reader, groups: Groups, part: Part) -> None:
        sides = groups["new"].split(reader.separator)
        reader.that(len(sides) > 1, "a list of one side")
        for side in sides:
            check(reader, {**groups, "new": side}, part)

    return checked


def line_of(reader: Reader, found: Judged, groups: Groups) -> list[tuple[str, int]]:
    """The named line's levels, ascending, and on which side of equality each interval is."""
    contexts = [one for one, each in found.levels.items() if not each.reason]
    factors = [name for name, _ in contexts[0]]
    numbers = {
        name: {dict(context)[name] for context in contexts}
        for name in factors
        if name != "server"
        and all(re.fullmatch(r"\d+(\.\d*)?", dict(context)[name]) for context in contexts)
    }
    axis = max((name for name in factors if name in numbers), key=lambda name: len(numbers[name]))
    lines: dict[Context, list[tuple[float, str, int]]] = {}
    for context in contexts:
        each = found.levels[context]
        others = tuple(pair for pair in context if pair[0] != axis)
        level = dict(context)[axis]
        sign = int(each.low > 0) - int(each.high < 0)
        text = reader.level_text(axis, level)
        lines.setdefault(others, []).append((float(level), text, sign))
    named = groups.get("others")
    for others, line in lines.items():
        parts = [reader.level_text(*pair) for pair in others]
        if named is None or all(one in parts for one in named.split(reader.separator)):
            return [(text, sign) for _, text, sign in sorted(line)]
    reader.that(False, f"no such line: {named}")
    return []


HIGHER = {"higher", "longer", "高い", "長い"}


def together(reader: Reader, _groups: Groups, line: list[tuple[str, int]]) -> None:
    reader.that(not any(sign for _, sign in line), "an interval excludes equality")


def everywhere(reader: Reader, _groups: Groups, line: list[tuple[str, int]]) -> None:
    reader.that(all(sign for _, sign in line), "an interval includes equality")


def parted(reader: Reader, groups: Groups, line: list[tuple[str, int]]) -> None:
    first = next((at for at, (_, sign) in enumerate(line) if sign), 0)
    reader.equal(groups["apart"], line[first][0], "where they part")
    if "again" in groups:
        reader.equal(groups["again"], line[first][0], "where they part")
    reader.that(first > 0 and all(sign for _, sign in line[first:]), "they do not stay apart")


def at_last(reader: Reader, groups: Groups, line: list[tuple[str, int]]) -> None:
    parted(reader, groups, line)
    reader.equal(groups["apart"], line[-1][0], "the last level")


def met(reader: Reader, groups: Groups, line: list[tuple[str, int]]) -> None:
    first = next((at for at, (_, sign) in enumerate(line) if sign), 0)
    reader.equal(groups["apart"], line[first][0], "where they part")
    rest = [text for text, sign in line[first:] if not sign]
    reader.equal(groups["rest"], reader.separator.join(rest), "where they meet")


def crossed(reader: Reader, groups: Groups, line: list[tuple[str, int]]) -> None:
    for name, wanted in (("higher", 1), ("lower", -1)):
        levels = [text for text, sign in line if sign == wanted]
        reader.equal(groups[name], reader.separator.join(levels), name)


ALONG = {
    "together": together,
    "everywhere": everywhere,
    "parted": parted,
    "at_last": at_last,
    "met": met,
    "crossed": crossed,
}


@BOOK.says()
def sides(reader: Reader, groups: Groups, part: Part) -> None:
    """Where along the levels of one line the sides differ."""
    found = judged_of(reader, groups, part)
    line = line_of(reader, found, groups) if found is not None else []
    if not line:
        return
    if "count" in groups:
        reader.equal(groups["count"], len(line), "the levels")
    for name, at in (("first", 0), ("last", -1)):
        if name in groups:
            reader.equal(groups[name], line[at][0], f"the {name} level")
    if "direction" in groups:
        signs = {sign for _, sign in line} - {0}
        reader.that(signs == {1 if groups["direction"] in HIGHER else -1}, "the direction")
    ALONG[groups["form"]](reader, groups, line)


COUNTED_PART = re.compile(
    r"(?P<en>higher|longer|lower|shorter|not shown to differ) at (?P<of>\d+)"
    r"|(?P<count>\d+)条件で(?P<ja>高|長|低|短|は)"
)
COUNTED = {
    **dict.fromkeys(("higher", "longer", "高", "長"), 1),
    **dict.fromkeys(("lower", "shorter", "低", "短"), -1),
    **dict.fromkeys(("not shown to differ", "は"), 0),
}
"""The sign of an interval by how it is told."""


@BOOK.says()
def counted(reader: Reader, groups: Groups, part: Part) -> None:
    found = judged_of(reader, groups, part)
    if found is None:
        return
    known = [level for level in found.levels.values() if not level.reason]
    signs = [int(one.low > 0) - int(one.high < 0) for one in known]
    reader.equal(groups["count"], len(signs), "the levels")
    told = {
        COUNTED[at["en"] or at["ja"]]: at["of"] or at["count"]
        for at in COUNTED_PART.finditer(groups["parts"])
    }
    for sign, name in ((1, "higher"), (-1, "lower"), (0, "rest")):
        reader.equal(told.get(sign, "0"), signs.count(sign), name)
        reader.that(told.get(sign) != "0", "none is told")


@BOOK.says()
def none_counted(reader: Reader, groups: Groups, part: Part) -> None:
    found = judged_of(reader, groups, part)
    known = [level for level in found.levels.values() if not level.reason] if found else []
    reader.equal(groups["count"], len(known), "the levels")
    reader.that(all(one.low <= 0 <= one.high for one in known), "an interval excludes equality")


BOOK.says("each_counted")(each_new(counted))
BOOK.says("each_none_counted")(each_new(none_counted))


@BOOK.says()
def mean_apart(reader: Reader, groups: Groups, part: Part) -> None:
    found = judged_of(reader, groups, part)
    if found is None:
        return
    higher = groups["direction"] in HIGHER
    reader.that(found.overall.low > 0 if higher else found.overall.high < 0, "the mean's side")
    known = [level for level in found.levels.values() if not level.reason]
    reader.that(all(one.low <= 0 <= one.high for one in known), "an interval excludes equality")


# --- two factors at once ---------------------------------------------------------------------

CELL = re.compile(rf"({NUMBER}) ?\(({NUMBER})(?: to |〜)({NUMBER})\) .+")


@BOOK.says(of="caption")
def plane(reader: Reader, groups: Groups, part: Part) -> None:
    """A cell for each combination of two factors' levels, with the ratio of that level."""
    found = judged_of(reader, groups, part)
    table = next((table for table in reader.document.tables if table.caption == part.text), None)
    if found is None or table is None:
        reader.that(False, "no such table")
        return
    wanted = set((groups.get("level") or "").split(reader.separator)) - {""}
    cells = 0
    for context, each in found.levels.items():
        levels = {reader.factor_text(factor): level for factor, level in context}
        told = {reader.level_text(*pair) for pair in context}
        row, column = (levels.get(groups[one], "") for one in ("rows", "columns"))
        line = next((one for one in table.rows if one[0] == row), None)
        if line is None or column not in table.columns or not wanted <= told or each.reason:
            continue
        numbers = CELL.fullmatch(line[table.columns.index(column)])
        reader.that(numbers is not None, f"no numbers at {context}")
        cells += 1
        ends = (each.mean, each.low, each.high)
        for text, value in zip(numbers.groups() if numbers else (), ends, strict=False):
            reader.same(text, math.exp(value), f"the ratio at {context}", slack=reader.slack)
    reader.that(cells > 0, "no cell")


# --- latency's tail --------------------------------------------------------------------------


def tails(reader: Reader, groups: Groups, part: Part) -> dict[Context, tuple[float, ...]]:
    """By context, in milliseconds: p99 less p50 of old and new, their difference and its interval."""
    campaign = reader.campaign
    workload = reader.workload_of(part.part) or ""
    sides = [reader.side_of(groups[side]) or "" for side in ("old", "new")]
    compared: dict[Context, tuple[list[float], list[float]]] = {}
    for context in campaign.contexts(workload):
        values = [
            {
                block: 1000 * (slow - middle[block])
                for block, slow in campaign.values(workload, context, side, "latency_p99").items()
                if block in middle
            }
            for side in sides
            for middle in [campaign.values(workload, context, side, "latency_p50")]
        ]
        blocks = sorted(values[0].keys() & values[1].keys())
        if blocks:
            differences = {block: values[1][block] - values[0][block] for block in blocks}
            means = [fmean(side[block] for block in blocks) for side in values]
            compared[context] = (means, [*campaign.by_start(differences).values()])
    measure = campaign.plan.study.measure
    told = {}
    for context, (means, by_start) in compared.items():
        each = judge(
            by_start,
            delta=measure.delta,
            alpha=measure.alpha / len(compared),
            lower_is_better=True,
            sequential=measure.sequential is not None,
        )
        if not each.reason:
            told[context] = (*means, each.mean, each.low, each.high)
    return told


@BOOK.says()
def tail_differs(reader: Reader, groups: Groups, part: Part) -> None:
    workload = reader.workload_of(part.part) or ""
    found = tails(reader, groups, part)
    longer = groups["form"] == "longer"
    apart = [one for one, (*_, low, high) in found.items() if (low > 0 if longer else high < 0)]
    if "levels" in groups:
        named(reader, groups["levels"], workload, apart, len(found))
        reader.that(len(apart) > 1, "there is but one level")
    else:
        reader.that(len(apart) == 1, "it differs at other levels too")
    at = reader.context_of(workload, groups["level"])
    reader.that(at in apart, "it does not differ there")
    if at in found:
        names = ("old_value", "new_value", "difference", "low", "high")
        for name, value in zip(names, found[at], strict=True):
            reader.same(groups[name], value, name)


@BOOK.says()
def no_tail(reader: Reader, groups: Groups, part: Part) -> None:
    found = tails(reader, groups, part)
    reader.equal(groups.get("count", "1"), len(found), "the levels")
    known = all(low <= 0 <= high for *_, low, high in found.values())
    reader.that(known, "an interval excludes equality")


BOOK.says("each_no_tail")(each_new(no_tail))


def named(
    reader: Reader, text: str, workload: str, levels: Sequence[Context], compared: int
) -> None:
    """Levels that a sentence lists: all of them, or the first and how many more."""
    texts = [reader.context_texts(workload, level) for level in levels]
    what = f"the levels are {texts}, of {compared}"
    reader.that(is_named(reader, text, workload, levels, compared), what)


def is_named(
    reader: Reader, text: str, workload: str, levels: Sequence[Context], compared: int
) -> bool:
    """Whether a text lists just these levels."""
    every = re.fullmatch(r"(?:all (\d+) levels|全(\d+)条件)", text.replace("both", "all 2"))
    if every:
        return int(every[1] or every[2]) == len(levels) == compared
    more = re.search(r"(?: and (\d+) more|ほか(\d+)条件)$", text)
    listed = text[: more.start()] if more else text
    beyond = int(more[1] or more[2]) if more else 0
    texts = [reader.context_texts(workload, level) for level in levels]
    return any(listed == reader.separator.join(one) for one in _joins(texts, len(texts) - beyond))


def _joins(texts: Sequence[set[str]], shown: int) -> Iterator[list[str]]:
    """The first levels, each in one of its forms; all in the same order of forms."""
    forms = [sorted(text, key=len) for text in texts[:shown]]
    for at in range(max(map(len, forms), default=0)):
        yield [form[min(at, len(form) - 1)] for form in forms]


# --- what the machine did meanwhile ----------------------------------------------------------

TAKEN = {"What changed per transaction", "1トランザクションあたりの変化"}
STATES = {
    "user": "user",
    "system": "system",
    "I/O wait": "iowait",
    "I/O待ち": "iowait",
    "stolen": "steal",
    "ユーザ": "user",
    "システム": "system",
    "スチール": "steal",
    "idle": "idle",
    "アイドル": "idle",
}
THING = {
    "en": re.compile(
        rf"(?P<label>.+) \((?P<levels>.+?)(?:; most at (?P<level>.+))?: (?P<new>{NUMBER}) against"
        rf" (?P<old>{NUMBER})(?: .+)?"
    ),
    "ja": re.compile(
        rf"(?P<label>.+)\((?P<levels>.+?)(?:、差が最大の(?P<level>.+?))?で(?P<new>{NUMBER})対"
        rf"(?P<old>{NUMBER})(?: .+)?"
    ),
}
FURTHER = re.compile(r"(?:and (\d+) more \(in the tables below|ほか(\d+)項目\(後の表に示す)$")


def things_of(reader: Reader, text: str) -> tuple[Sequence[Mapping[str, str | None]], int]:
    """The things of a list, and how many more there are."""
    parts = re.split(r"\);\s*", text)
    more = FURTHER.match(parts[-1])
    found = [THING[reader.language].fullmatch(one) for one in (parts[:-1] if more else parts)]
    reader.that(all(found), "a thing that is not understood")
    known = [one.groupdict() for one in found if one]
    return known, int(more[1] or more[2]) if more else 0


def tables_by_level(reader: Reader, part: Part, old: str, new: str) -> dict[Context, Table]:
    """The tables of what changed, by the level that the caption before each tells."""
    found: dict[Context, Table] = {}
    workload = reader.workload_of(part.part) or ""
    said = re.compile(r"(.+?)(?:: | : )(.+?)(?: against |と)(.+?)(?:の比較)?")
    at: Context | None = None
    for one in reader.document.parts:
        told = said.fullmatch(one.text)
        sides = (reader.side_of(told[3]), reader.side_of(told[2])) if told else ()
        if told and all(sides):
            is_this = one.part == part.part and sides == (old, new)
            at = reader.context_of(workload, told[1]) if is_this else None
        if one.table is not None and one.table.caption in TAKEN and at is not None:
            found[at] = one.table
    return found


ENDS = re.compile(r"[−+]?\d[\d,.]*")


def telling(row: Sequence[str], delta: float) -> bool | None:
    """Whether a difference of a table's row is at least δ and can be seen in its digits; None where
    the digits do not tell."""
    if row[2] == row[3]:
        return False
    old, new, difference = (printed(row[at]) for at in (2, 3, 4))
    least = max(abs(one.value) - one.step / 2 for one in (old, new))
    most = max(abs(one.value) + one.step / 2 for one in (old, new))
    if difference.bound or least <= 0:
        return None
    known = [(new.value - old.value, (new.step + old.step) / 2)]
    known += [(difference.value, difference.step / 2)]
    if ends := [printed(one) for one in ENDS.findall(row[4])[1:3]]:  # it is their middle
        known += [(sum(end.value for end in ends) / 2, sum(end.step for end in ends) / 4)]
    low = max(value - room for value, room in known)
    high = min(value + room for value, room in known)
    sides = sorted((abs(low), abs(high)))
    if low * high > 0 and sides[0] / most >= delta:
        return True
    return False if sides[1] / least < delta else None


def excludes(row: Sequence[str]) -> tuple[int, bool]:
    """Which side of 0 a row's interval is on, 0 for neither; and whether it may include 0, since an
    end of it is rounded to 0."""
    ends = re.search(r"\(([−+]?[\d,.]+)(?: to |〜)([−+]?[\d,.]+)\)", row[4])
    low, high = (printed(one).value for one in ends.groups()) if ends else (0.0, 0.0)
    if low * high > 0:
        return (1 if low > 0 else -1), False
    if low * high < 0 or low == high:
        return 0, False
    return (1 if low + high > 0 else -1), True


@BOOK.says()
def transaction(reader: Reader, groups: Groups, part: Part) -> None:
    direction = 1 if groups["form"] == "more" else -1
    sides = [reader.side_of(groups[one]) or "" for one in ("old", "new")]
    workload = reader.workload_of(part.part) or ""
    tables = tables_by_level(reader, part, *sides)
    reader.that(bool(tables), "no tables of this workload")
    differ: dict[str, list[Context]] = {}
    unclear: dict[str, list[Context]] = {}
    compared: dict[str, int] = {}
    rows: dict[tuple[str, Context], tuple[str, ...]] = {}
    for context, table in tables.items():
        for row in table.rows:
            rows[row[0], context] = row
            compared[row[0]] = compared.get(row[0], 0) + 1
            side, rounded = excludes(row)
            told_of = telling(row, reader.measure.delta)
            if side != direction or told_of is False:
                continue
            of = unclear if rounded or told_of is None else differ
            of.setdefault(row[0], []).append(context)
    listed, more = things_of(reader, groups["things"])
    most = len(differ.keys() | unclear.keys())
    reader.that(len(differ) <= len(listed) + more <= most, f"there are {len(differ)}")
    for one in listed:
        label, levels = str(one["label"]), str(one["levels"])
        reader.that(label in {*differ, *unclear}, f"{label} does not differ so")
        sure, perhaps = differ.get(label, []), unclear.get(label, [])
        possible = [
            [at for at in tables if at in {*sure, *some}]
            for count in range(len(perhaps) + 1)
            for some in combinations(perhaps, count)
        ]
        found = [
            is_named(reader, levels, workload, each, compared.get(label, 0)) for each in possible
        ]
        reader.that(any(found), f"{label}: the levels are none of {possible}")
        at = reader.context_of(workload, str(one["level"] or levels))
        told = rows.get((label, at)) if at is not None else None
        printed_there = told is not None and told[2:4] == (one["old"], one["new"])
        reader.that(printed_there, f"the table has {told}")


Bounds = tuple[float, float, float, float | None, float | None]
"""Means of old and new, of the difference, and its interval, in percentage points."""


def shares(
    reader: Reader, workload: str, sides: Sequence[str]
) -> dict[tuple[str, Context], Bounds]:
    """The processors' time by state and level."""
    campaign = reader.campaign
    measure = campaign.plan.study.measure
    if way_of(measure).concurrent:
        return {}
    pairs: dict[tuple[str, Context], list[tuple[float, float, int]]] = {}
    for context in campaign.contexts(workload):
        for state in dict.fromkeys(STATES.values()):
            old, new = (
                campaign.values(workload, context, side, f"cpu_{state}_share") for side in sides
            )
            known = sorted(old.keys() & new.keys())
            ended = [one for one in known if campaign.by_start({one: 0.0})]
            found = [(old[one], new[one], one) for one in ended]
            if any(one[0] or one[1] for one in found):
                pairs[state, context] = found
    told: dict[tuple[str, Context], Bounds] = {}
    for key, found in pairs.items():
        means = tuple(100 * fmean(one[at] for one in found) for at in (0, 1))
        d = [*campaign.by_start({block: new - old for old, new, block in found}).values()]
        bounds: tuple[float | None, float | None] = (None, None)
        size = max(max(abs(old), abs(new)) for old, new, _ in found)
        each = judge(
            d,
            delta=measure.delta,
            alpha=measure.alpha / len(pairs),
            lower_is_better=True,
            sequential=measure.sequential is not None,
        )
        spread = max(d) - min(d) if d else 0.0
        if not each.reason and spread > 1e-11 * size:
            bounds = (100 * each.low, 100 * each.high)
        told[key] = (means[0], means[1], 100 * fmean(d), *bounds)
    return told


def apart(bounds: Bounds) -> int:
    """On which side of 0 the interval is; 0 for neither."""
    low, high = bounds[3:]
    return 0 if low is None or high is None else int(low > 0) - int(high < 0)


def matters(bounds: Bounds, delta: float) -> bool:
    """Whether the difference is at least δ of the greater side."""
    return abs(bounds[2]) >= delta * (max(abs(bounds[0]), abs(bounds[1])) or 1.0)


@BOOK.says()
def processors(reader: Reader, groups: Groups, part: Part) -> None:
    direction = 1 if groups["form"] == "greater" else -1
    sides = [reader.side_of(groups[one]) or "" for one in ("old", "new")]
    workload = reader.workload_of(part.part) or ""
    found = shares(reader, workload, sides)
    differ: dict[str, list[Context]] = {}
    delta = reader.measure.delta
    for (state, context), bounds in found.items():
        if apart(bounds) == direction and matters(bounds, delta):
            differ.setdefault(state, []).append(context)
    listed, more = things_of(reader, groups["things"])
    reader.that(len(listed) + more == len(differ), f"there are {len(differ)}")
    for one in listed:
        state, levels = STATES.get(str(one["label"]), ""), str(one["levels"])
        compared = sum(key[0] == state for key in found)
        reader.that(state in differ, f"{one['label']} does not differ so")
        named(reader, levels, workload, differ.get(state, []), compared)
        at = reader.context_of(workload, str(one["level"] or levels))
        known = found.get((state, at)) if at is not None else None
        if known is None:
            reader.that(False, "no such level")
            continue
        reader.same(str(one["old"]), known[0], "the old share")
        reader.same(str(one["new"]), known[1], "the new share")


@BOOK.says()
def nothing_meanwhile(reader: Reader, groups: Groups, part: Part) -> None:
    reader.equal(groups["count"], intervals_of(reader, groups, part), "the intervals")


def intervals_of(reader: Reader, groups: Groups, part: Part) -> int:
    """How many there are of what was counted of two sides; none may exclude equality."""
    sides = [reader.side_of(groups[one]) or "" for one in ("old", "new")]
    workload = reader.workload_of(part.part) or ""
    known = [one for one in shares(reader, workload, sides).values() if one[3] is not None]
    rows = [
        row
        for table in tables_by_level(reader, part, *sides).values()
        for row in table.rows
        if re.search(r"\([−+]?[\d,.]+(?: to |〜)", row[4])
    ]
    reader.that(not any(map(apart, known)), "a state differs")
    return len(known) + len(rows)


@BOOK.says()
def nothing_of_several(reader: Reader, groups: Groups, part: Part) -> None:
    sides = groups["new"].split(reader.separator)
    reader.that(len(sides) > 1, "a list of one side")
    known = sum(intervals_of(reader, {**groups, "new": side}, part) for side in sides)
    reader.equal(groups["count"], known, "the intervals")


@BOOK.says(of="caption")
def meanwhile_title(reader: Reader, groups: Groups, _part: Part) -> None:
    first = reader.campaign.levels(reader.campaign.contrast)[0]
    reader.equal(str(reader.side_of(groups["old"])), first, "the old side")


@BOOK.says()
def tiny(reader: Reader, groups: Groups, part: Part) -> None:
    sides = [reader.side_of(groups[one]) or "" for one in ("old", "new")]
    workload = reader.workload_of(part.part) or ""
    delta = reader.measure.delta
    reader.same(groups["delta"], delta * 100, "δ")
    states = [one for one in shares(reader, workload, sides).values() if apart(one)]
    sure = open_ = sum(not matters(state, delta) for state in states)
    for table in tables_by_level(reader, part, *sides).values():
        for row in table.rows:
            (side, rounded), told_of = excludes(row), telling(row, delta)
            if side and told_of is not True:
                sure += not rounded and told_of is False
                open_ += 1
    said = int(groups.get("count", "1"))
    reader.that(sure <= said <= open_, f"there are {sure} to {open_}")
