"""The discussion: the form of curves, where sides part, latency's tail, what the machine did."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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

BOOK = Book()
BOOK.only_words(
    ("Discussion", "考察"),
    ("Remarks", "執筆者による考察"),
    (
        "Every sentence follows from intervals of this campaign. Those over several levels hold"
        " together; of what was counted per transaction, those of one level do.",
        "いずれの文も、本検証の信頼区間から導いた。複数の条件にわたる信頼区間は同時に成り立つ。"
        "トランザクションあたりの値の信頼区間が同時に成り立つのは、条件ごとである。",
    ),
    (
        "This was seen together with the results; that it is their cause is not shown.",
        "これらは結果と同時に見られた違いであり、結果の原因であることまでは示していない。",
    ),
)


@BOOK.says(
    "The profile “<profile:t>” is too short for conclusions, so that its results are not discussed.",
    "プロファイル「<profile:t>」は結論を導くには短すぎるため、考察は行わない。",
)
def withheld(reader: Reader, groups: Groups, _part: Part) -> None:
    study = reader.campaign.plan.study
    reader.equal(groups["profile"], study.profile, "the profile")
    reader.that(not study.conclusive, "it supports conclusions")


@BOOK.says(
    "This is a quick look: what is said holds for the data and the load of this campaign, and"
    " published findings are not judged by it.",
    "簡易測定であるため、以上は本検証のデータと負荷に限った考察であり、公開された検証結果の当否は判断しない。",
)
def quick_look(reader: Reader, _groups: Groups, _part: Part) -> None:
    study = reader.campaign.plan.study
    reader.that(study.conclusive and not study.replicates, "it judges findings")


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
        delta = reader.campaign.plan.study.measure.delta
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
        alpha = reader.campaign.plan.study.measure.alpha / (loads - 1)
        half = t_quantile(1 - alpha / 2, freedom) * math.sqrt(left / freedom * 2 / blocks)
        drop = math.log(self.means[self.last] / self.means[self.peak])
        return math.exp(drop - half), math.exp(drop), math.exp(drop + half)


def curve(en: str, ja: str, further: Callable[[Reader, Groups, Curve], None]) -> None:
    @BOOK.says(en, ja)
    def shape(reader: Reader, groups: Groups, part: Part) -> None:
        found = Curve(reader, groups, part)
        found.check(reader, groups)
        if found.means:
            further(reader, groups, found)


def rises(reader: Reader, _groups: Groups, found: Curve) -> None:
    others = [one for at, one in found.means.items() if at != found.last]
    delta = reader.campaign.plan.study.measure.delta
    slack = 1 + (1e-9 if found.balanced else CONVERGED)
    last = found.means[found.last] * slack
    reader.that(all(one * (1 + delta) < last for one in others), "it levels off before")


def is_level(reader: Reader, _groups: Groups, found: Curve) -> None:
    delta = reader.campaign.plan.study.measure.delta
    enough = found.means[found.last] * (1 + delta) * 1.003 >= found.means[found.peak]
    reader.that(enough, "it is lower at the end")


def ends_at_peak(reader: Reader, groups: Groups, found: Curve) -> None:
    is_level(reader, groups, found)
    reader.that(found.means[found.last] * 1.003 >= found.means[found.peak], "another peak")


def falls(reader: Reader, groups: Groups, found: Curve) -> None:
    interval = found.falls(reader)
    alpha = reader.campaign.plan.study.measure.alpha
    reader.same(groups["confidence"], (1 - alpha) * 100, "α")
    if interval is not None:
        reader.same(groups["low"], interval[0] * 100, "the low end", slack=1e-6)
        reader.same(groups["high"], interval[2] * 100, "the high end", slack=1e-6)
        reader.that(interval[2] < 1, "it may be equal")


def may_fall(reader: Reader, groups: Groups, found: Curve) -> None:
    interval = found.falls(reader)
    alpha = reader.campaign.plan.study.measure.alpha
    reader.same(groups["confidence"], (1 - alpha) * 100, "α")
    if interval is not None:
        reader.same(groups["low"], interval[0] * 100, "the low end", slack=1e-6)
        reader.same(groups["high"], interval[2] * 100, "the high end", slack=1e-6)
        reader.that(interval[2] >= 1, "it falls")


def unbounded(_reader: Reader, _groups: Groups, _found: Curve) -> None:
    """Its numbers are those of every form."""


curve(
    "<side:s>: throughput rises to <last:w>, the end of the measured range; where it levels off is"
    " there or beyond.",
    "<side:s>のスループットは、測定範囲の上端である<last:w>まで向上する。頭打ちになる点は、そこかその先にある。",
    rises,
)
curve(
    "<side:s>: throughput rises to <knee:w>, and by no more than <delta:p> beyond; at <last:w> it is"
    " <share:p> of the greatest, which was measured at <peak:w>.",
    "<side:s>のスループットは<knee:w>まで向上し、その先の伸びは<delta:p>以内にとどまる。<last:w>では、最大であった"
    "<peak:w>での値の<share:p>である。",
    is_level,
)
curve(
    "<side:s>: throughput rises to <knee:w>, and by no more than <delta:p> beyond; it is greatest at"
    " <last:w>.",
    "<side:s>のスループットは<knee:w>まで向上し、その先の伸びは<delta:p>以内にとどまる。最大となるのは<last:w>である。",
    ends_at_peak,
)
curve(
    "<side:s>: throughput grows by no more than <delta:p> beyond <least:w>, the least that was"
    " measured; at <last:w> it is <share:p> of the greatest, which was measured at <peak:w>.",
    "<side:s>のスループットは、測定した最小の<least:w>から先の伸びが<delta:p>以内にとどまる。<last:w>では、"
    "最大であった<peak:w>での値の<share:p>である。",
    is_level,
)
curve(
    "<side:s>: throughput grows by no more than <delta:p> from <least:w>, the least that was"
    " measured, to <last:w>.",
    "<side:s>のスループットは、測定した最小の<least:w>から<last:w>まで、伸びが<delta:p>以内にとどまる。",
    ends_at_peak,
)
curve(
    "<side:s>: throughput is greatest at <peak:w> and falls beyond; at <last:w> it is <share:p> of"
    " that (<confidence:p> interval <low:p> to <high:p>).",
    "<side:s>のスループットは<peak:w>で最大となり、その先では低下する。<last:w>では最大値の<share:p>である"
    "(<confidence:p>信頼区間 <low:p>〜<high:p>)。",
    falls,
)
curve(
    "<side:s>: throughput is greatest at <peak:w>; at <last:w>, <share:p> of that was measured,"
    " which is no proof of a fall (<confidence:p> interval <low:p> to <high:p>).",
    "<side:s>のスループットは<peak:w>で最大となる。<last:w>での測定値はその<share:p>であるが、低下したとまでは"
    "いえない(<confidence:p>信頼区間 <low:p>〜<high:p>)。",
    may_fall,
)
curve(
    "<side:s>: throughput is greatest at <peak:w>; at <last:w>, <share:p> of that was measured,"
    " without an interval that could prove a fall.",
    "<side:s>のスループットは<peak:w>で最大となる。<last:w>での測定値はその<share:p>であるが、信頼区間が得られない"
    "ため、低下したとまではいえない。",
    unbounded,
)


def beside_processors(where: Callable[[float, float, float], bool], en: str, ja: str) -> None:
    """The ends are those of the knee, which the results tell beside the curve."""

    @BOOK.says(en, ja)
    def processors(reader: Reader, groups: Groups, part: Part) -> None:
        cores = reader.campaign.facts.cpu.logical
        reader.equal(groups["cores"], cores, "the processors")
        alpha = reader.campaign.plan.study.measure.alpha
        reader.same(groups["confidence"], (1 - alpha) * 100, "α")
        ends = [float(count(one)) for one in re.findall(r"\d[\d,]*", groups["ends"])]
        reader.that(where(ends[0], ends[-1], float(cores)), "on another side of it")
        if len(ends) == 2:
            told = f"{groups['ends']}"
            known = [one.text for one in reader.document.parts if one.part == part.part]
            reader.that(any(told in one for one in known if "knee" in one or "頭打ち" in one), told)
        levels = {float(one) for one in reader.campaign.levels("clients")}
        reader.that({*ends} <= levels, "ends that were not measured")


beside_processors(
    lambda _low, high, cores: high < cores,
    "The point where it levels off (<confidence:p> interval <ends:w>) lies below the machine's"
    " <cores:i> logical processors.",
    "頭打ちになる点(<confidence:p>信頼区間 <ends:w>)は、マシンの論理プロセッサ数<cores:i>より小さい。",
)
beside_processors(
    lambda low, _high, cores: low > cores,
    "The point where it levels off (<confidence:p> interval <ends:w>) lies above the machine's"
    " <cores:i> logical processors.",
    "頭打ちになる点(<confidence:p>信頼区間 <ends:w>)は、マシンの論理プロセッサ数<cores:i>より大きい。",
)
beside_processors(
    lambda low, high, cores: low <= cores <= high and low < high,
    "The interval of the point where it levels off (<confidence:p>, <ends:w>) includes the machine's"
    " <cores:i> logical processors.",
    "頭打ちになる点の<confidence:p>信頼区間(<ends:w>)には、マシンの論理プロセッサ数<cores:i>が含まれる。",
)
beside_processors(
    lambda low, high, cores: low == cores == high,
    "The point where it levels off (the <confidence:p> interval holds <ends:w> alone) is the number"
    " of the machine's logical processors, <cores:i>.",
    "頭打ちになる点(<confidence:p>信頼区間に含まれるのは<ends:w>だけである)は、マシンの論理プロセッサ数<cores:i>に"
    "等しい。",
)


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
        text = reader._level_text(axis, level)
        lines.setdefault(others, []).append((float(level), text, sign))
    named = groups.get("others")
    for others, line in lines.items():
        parts = [reader._level_text(*pair) for pair in others]
        if named is None or all(one in parts for one in named.split(reader.separator)):
            return [(text, sign) for _, text, sign in sorted(line)]
    reader.that(False, f"no such line: {named}")
    return []


HIGHER = {"higher", "longer", "高い", "長い"}


def along(en: str, ja: str, holds: Callable[[Reader, Groups, list[tuple[str, int]]], None]) -> None:
    def check(reader: Reader, groups: Groups, part: Part) -> None:
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
        holds(reader, groups, line)

    check.__name__ = f"sides_{holds.__name__}"
    BOOK.says(en, ja)(check)
    BOOK.says(f"At <others:s>: {en}", f"<others:s>の場合: {ja}")(check)


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


along(
    "No difference in <metric:w> between <new:s> and <old:s> is shown at any of the <count:i>"
    " levels alone, <first:w> to <last:w>: each interval includes equality.",
    "<first:w>から<last:w>までの<count:i>条件のいずれでも、<new:s>と<old:s>の<metric:w>の信頼区間は同等を含み、"
    "条件ごとの差は示されていない。",
    together,
)
along(
    "<new:s> has a <direction:w> <metric:w> than <old:s> at each of the <count:i> levels, <first:w>"
    " to <last:w>.",
    "<first:w>から<last:w>までの<count:i>条件のすべてで、<new:s>の<metric:w>は<old:s>より<direction:w>。",
    everywhere,
)
along(
    "The sides part at <apart:w>: from there to <last:w> every interval excludes equality, and"
    " <new:s> has a <direction:w> <metric:w> than <old:s>. Below it, the intervals"
    " include equality.",
    "両者の差は<apart:w>から現れる。<again:w>から<last:w>まではすべての信頼区間が同等を含まず、<new:s>の<metric:w>は"
    "<old:s>より<direction:w>。それより小さい条件では、信頼区間が同等を含む。",
    parted,
)
along(
    "Only at <apart:w>, the last of <count:i> levels, does the interval exclude equality: <new:s>"
    " has a <direction:w> <metric:w> than <old:s> there.",
    "信頼区間が同等を含まないのは<count:i>条件のうち最後の<apart:w>だけで、そこでは<new:s>の<metric:w>が"
    "<old:s>より<direction:w>。",
    at_last,
)
along(
    "The first interval that excludes equality is that of <apart:w>: <new:s> has a <direction:w>"
    " <metric:w> than <old:s> there. It does not stay so: at <rest:w> the interval includes"
    " equality.",
    "信頼区間が同等を含まない最初の条件は<apart:w>で、<new:s>の<metric:w>が<old:s>より<direction:w>。ただし差はその先"
    "まで続いておらず、<rest:w>では信頼区間が同等を含む。",
    met,
)
for above, below, ja_above, ja_below in (
    ("higher", "lower", "高く", "低い"),
    ("longer", "shorter", "長く", "短い"),
):
    along(
        f"The sides change places: <new:s> has a {above} <metric:w> than <old:s> at <higher:w>, and"
        f" a {below} one at <lower:w>.",
        f"優劣は条件によって入れ替わる。<new:s>の<metric:w>は、<higher:w>では<old:s>より{ja_above}、<lower:w>では"
        f"{ja_below}。",
        crossed,
    )


@BOOK.says(
    "Of <count:i> levels with an interval, <new:s> has a <above:w> <metric:w> than <old:s> at"
    " <higher:i>, a <below:w> one at <lower:i>, and none that is shown to differ at <rest:i>.",
    "信頼区間の得られた<count:i>条件のうち、<new:s>の<metric:w>が<old:s>より<above:w>のは<higher:i>条件、<below:w>のは"
    "<lower:i>条件、信頼区間が同等を含むのは<rest:i>条件である。",
)
def counted(reader: Reader, groups: Groups, part: Part) -> None:
    found = judged_of(reader, groups, part)
    if found is None:
        return
    known = [level for level in found.levels.values() if not level.reason]
    signs = [int(one.low > 0) - int(one.high < 0) for one in known]
    reader.equal(groups["count"], len(signs), "the levels")
    for name, sign in (("higher", 1), ("lower", -1), ("rest", 0)):
        reader.equal(groups[name], signs.count(sign), name)
    reader.that(groups["above"] in HIGHER and groups["below"] not in HIGHER, "the directions")


@BOOK.says(
    "At none of <count:i> levels alone is a difference in <metric:w> between <new:s> and <old:s>"
    " shown: each interval includes equality.",
    "<new:s>と<old:s>の<metric:w>の信頼区間は、得られた<count:i>条件のいずれでも同等を含み、条件ごとの差は示されて"
    "いない。",
)
def none_counted(reader: Reader, groups: Groups, part: Part) -> None:
    found = judged_of(reader, groups, part)
    known = [level for level in found.levels.values() if not level.reason] if found else []
    reader.equal(groups["count"], len(known), "the levels")
    reader.that(all(one.low <= 0 <= one.high for one in known), "an interval excludes equality")


BOOK.says(
    "Of <count:i> levels with an interval, each of <new:s> has a <above:w> <metric:w> than <old:s> at"
    " <higher:i>, a <below:w> one at <lower:i>, and none that is shown to differ at <rest:i>.",
    "<new:s>のいずれについても、信頼区間の得られた<count:i>条件のうち、<metric:w>が<old:s>より<above:w>のは<higher:i>"
    "条件、<below:w>のは<lower:i>条件、信頼区間が同等を含むのは<rest:i>条件である。",
)(each_new(counted))
BOOK.says(
    "At none of <count:i> levels alone is a difference in <metric:w> between <old:s> and any of"
    " <new:s> shown: each interval includes equality.",
    "<new:s>のいずれについても、<old:s>との<metric:w>の比の信頼区間は、得られた<count:i>条件のすべてで同等を含み、"
    "条件ごとの差は示されていない。",
)(each_new(none_counted))


@BOOK.says(
    "The mean over the levels, which the verdict is of, differs all the same: <new:s> has a"
    " <direction:w> <metric:w> than <old:s>.",
    "ただし、判定の対象である全条件の平均では、<new:s>の<metric:w>は<old:s>より<direction:w>。",
)
def mean_apart(reader: Reader, groups: Groups, part: Part) -> None:
    found = judged_of(reader, groups, part)
    if found is None:
        return
    higher = groups["direction"] in HIGHER
    reader.that(found.overall.low > 0 if higher else found.overall.high < 0, "the mean's side")
    known = [level for level in found.levels.values() if not level.reason]
    reader.that(all(one.low <= 0 <= one.high for one in known), "an interval excludes equality")


# --- two factors at once ---------------------------------------------------------------------

BOOK.only_words(
    (
        "Each cell is a row of the table above: ratio, interval, verdict.",
        "各欄は上の表の1行にあたり、比、信頼区間、判定を示す。",
    )
)
CELL = re.compile(rf"({NUMBER}) ?\(({NUMBER})(?: to |〜)({NUMBER})\) .+")


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
        told = {reader._level_text(*pair) for pair in context}
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


for en_at, ja_at in (("", ""), (" (<level:t>)", "、<level:t>")):
    BOOK.says(
        f"<metric:w>, <workload:t>: <new:s> ÷ <old:s> by <rows:w> and <columns:w>{en_at}",
        f"<workload:t>: <rows:w>と<columns:w>ごとの<metric:w>比(<new:s>÷<old:s>{ja_at})",
        of="caption",
    )(plane)


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


def tail(direction: int, en: str, ja: str) -> None:
    @BOOK.says(
        f"Latency's tail, p99 − p50, is {en} on <new:s> than on <old:s> at <levels:w>; most at"
        " <level:w>, with <new_value:n> ms against <old_value:n> ms (difference <difference:n> ms,"
        " interval <low:n> to <high:n>).",
        f"レイテンシの裾(p99−p50)は、<levels:w>で<new:s>のほうが<old:s>より{ja}。差が最大の<level:w>では"
        "<new_value:n>ミリ秒対<old_value:n>ミリ秒である(差<difference:n>ミリ秒、信頼区間 <low:n>〜<high:n>)。",
    )
    def differs(reader: Reader, groups: Groups, part: Part) -> None:
        workload = reader.workload_of(part.part) or ""
        found = tails(reader, groups, part)
        apart = [
            one
            for one, (*_, low, high) in found.items()
            if (low > 0 if direction > 0 else high < 0)
        ]
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

    BOOK.says(
        f"Latency's tail, p99 − p50, is {en} on <new:s> than on <old:s> at <level:w>, with"
        " <new_value:n> ms against <old_value:n> ms (difference <difference:n> ms, interval <low:n>"
        " to <high:n>).",
        f"レイテンシの裾(p99−p50)は、<level:w>で<new:s>のほうが<old:s>より{ja[:-1]}く、<new_value:n>ミリ秒対"
        "<old_value:n>ミリ秒である(差<difference:n>ミリ秒、信頼区間 <low:n>〜<high:n>)。",
    )(differs)


tail(1, "longer", "長い")
tail(-1, "shorter", "短い")


def no_tail(reader: Reader, groups: Groups, part: Part) -> None:
    found = tails(reader, groups, part)
    reader.equal(groups.get("count", "1"), len(found), "the levels")
    known = all(low <= 0 <= high for *_, low, high in found.values())
    reader.that(known, "an interval excludes equality")


BOOK.says(
    "Latency's tail, p99 − p50, is not shown to differ between <new:s> and <old:s> at any of"
    " <count:i> levels.",
    "レイテンシの裾(p99−p50)の差の信頼区間は<count:i>条件のいずれでも0を含み、<new:s>と<old:s>の差は示されていない。",
)(no_tail)
BOOK.says(
    "Latency's tail, p99 − p50, is not shown to differ between <new:s> and <old:s>.",
    "レイテンシの裾(p99−p50)の差の信頼区間は0を含み、<new:s>と<old:s>の差は示されていない。",
)(no_tail)
BOOK.says(
    "Latency's tail, p99 − p50, is not shown to differ between <old:s> and any of <new:s> at any of"
    " <count:i> levels.",
    "レイテンシの裾(p99−p50)の差の信頼区間は<count:i>条件のいずれでも0を含み、<new:s>のいずれについても、<old:s>との差は"
    "示されていない。",
)(each_new(no_tail))
BOOK.says(
    "Latency's tail, p99 − p50, is not shown to differ between <old:s> and any of <new:s>.",
    "レイテンシの裾(p99−p50)の差の信頼区間は0を含み、<new:s>のいずれについても、<old:s>との差は示されていない。",
)(each_new(no_tail))


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
    every = re.fullmatch(r"(?:all (\d+) levels|全(\d+)条件)", text)
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
    "steal": "steal",
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


def transaction(direction: int) -> Check:
    def check(reader: Reader, groups: Groups, part: Part) -> None:
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
                told_of = telling(row, reader.campaign.plan.study.measure.delta)
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
                is_named(reader, levels, workload, each, compared.get(label, 0))
                for each in possible
            ]
            reader.that(any(found), f"{label}: the levels are none of {possible}")
            at = reader.context_of(workload, str(one["level"] or levels))
            told = rows.get((label, at)) if at is not None else None
            printed_there = told is not None and told[2:4] == (one["old"], one["new"])
            reader.that(printed_there, f"the table has {told}")

    return check


BOOK.says(
    "Per transaction, <new:s> shows more than <old:s> of: <things:s>).",
    "1トランザクションあたりでは、<new:s>のほうが<old:s>より次の項目が多い: <things:s>)。",
)(transaction(1))
BOOK.says(
    "Per transaction, <new:s> shows less than <old:s> of: <things:s>).",
    "1トランザクションあたりでは、<new:s>のほうが<old:s>より次の項目が少ない: <things:s>)。",
)(transaction(-1))

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


def processors(direction: int) -> Check:
    def check(reader: Reader, groups: Groups, part: Part) -> None:
        sides = [reader.side_of(groups[one]) or "" for one in ("old", "new")]
        workload = reader.workload_of(part.part) or ""
        found = shares(reader, workload, sides)
        differ: dict[str, list[Context]] = {}
        delta = reader.campaign.plan.study.measure.delta
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

    return check


BOOK.says(
    "Meanwhile, the processors spent a greater share of their time with <new:s> than with <old:s> in"
    " these states: <things:s>).",
    "測定中のCPU時間のうち、<new:s>のほうが<old:s>より割合の大きい状態は次のとおりである: <things:s>)。",
)(processors(1))
BOOK.says(
    "Meanwhile, the processors spent a smaller share of their time with <new:s> than with <old:s> in"
    " these states: <things:s>).",
    "測定中のCPU時間のうち、<new:s>のほうが<old:s>より割合の小さい状態は次のとおりである: <things:s>)。",
)(processors(-1))


@BOOK.says(
    "Of what was counted meanwhile on the machine and in the servers, nothing is shown to differ"
    " between <new:s> and <old:s>: all <count:i> intervals include equality.",
    "測定中のマシンとサーバについて数えた項目では、<new:s>と<old:s>の差は示されていない。<count:i>個の信頼区間の"
    "すべてが同等を含む。",
)
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


@BOOK.says(
    "Of what was counted meanwhile on the machine and in the servers, nothing is shown to differ"
    " between <old:s> and any of <new:s>: all <count:i> intervals include equality.",
    "測定中のマシンとサーバについて数えた項目では、<new:s>のいずれについても、<old:s>との差は示されていない。<count:i>個の"
    "信頼区間のすべてが同等を含む。",
)
def nothing_of_several(reader: Reader, groups: Groups, part: Part) -> None:
    sides = groups["new"].split(reader.separator)
    reader.that(len(sides) > 1, "a list of one side")
    known = sum(intervals_of(reader, {**groups, "new": side}, part) for side in sides)
    reader.equal(groups["count"], known, "the intervals")


@BOOK.says(
    "What was counted meanwhile, each against <old:t>",
    "測定中に数えた項目の、<old:t>との違い",
    of="caption",
)
def meanwhile_title(reader: Reader, groups: Groups, _part: Part) -> None:
    first = reader.campaign.levels(reader.campaign.contrast)[0]
    reader.equal(str(reader.side_of(groups["old"])), first, "the old side")


def tiny(reader: Reader, groups: Groups, part: Part) -> None:
    sides = [reader.side_of(groups[one]) or "" for one in ("old", "new")]
    workload = reader.workload_of(part.part) or ""
    delta = reader.campaign.plan.study.measure.delta
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


BOOK.says(
    "<count:i> values that are shown to differ between <new:s> and <old:s> do so by less than δ"
    " (<delta:p>) or than the digits printed, and are not listed.",
    "<new:s>と<old:s>の差が示された値のうち<count:i>個は、差がδ(<delta:p>)または表示の桁より小さいため、挙げない。",
)(tiny)
BOOK.says(
    "A value that is shown to differ between <new:s> and <old:s> does so by less than δ (<delta:p>)"
    " or than the digits printed, and is not listed.",
    "<new:s>と<old:s>の差が示された値のうち1個は、差がδ(<delta:p>)または表示の桁より小さいため、挙げない。",
)(tiny)
