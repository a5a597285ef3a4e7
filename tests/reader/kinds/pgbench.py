"""The sentences about loads of pgbench: lengths, latencies, scaling."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from teiten.kinds.pgbench.model import PgbenchOptions
from teiten.model.trial import FloatArray
from tests.reader.arithmetic import IDENTICAL, beta_share, geometric_mean, t_quantile
from tests.reader.campaign import Context
from tests.reader.document import Part, Table
from tests.reader.language import NUMBER, Book, Groups, count, printed
from tests.reader.reader import Reader
from tests.reader.tables import without_sides

BOOK = Book(__name__)
KIND = "pgbench"


def options_of(reader: Reader) -> PgbenchOptions:
    found = next(one for one in reader.campaign.workloads() if one.kind == KIND)
    assert isinstance(found.options, PgbenchOptions)
    return found.options


def seconds_of(declared: float | None) -> float:
    """A length that a plan has settled."""
    assert declared is not None
    return declared


CHARTED = {
    *("What backends waited for", "バックエンドの待機イベント"),
    *("Heap fetches per lookup", "検索あたりのテーブル参照回数"),
}
"""Charts of a workload that are of no metric which a contrast has."""


@BOOK.says(of="caption")
def table_caption(reader: Reader, _groups: Groups, part: Part) -> None:
    """Of a table of a contrast, or a chart: its metric with the unit, and its workload."""
    caption = without_sides(part.text)
    titles = [reader.own(one.title) for one in reader.campaign.workloads()]
    for title in titles:
        of = caption.removesuffix(f", {title}").removeprefix(f"{title}: ")
        metric = re.sub(r"(?:, | ?\()(?:ms|µs|s|min|分|秒)\)?$", "", of)
        if of != caption and (of in CHARTED or reader.metric_of(metric) is not None):
            return
    reader.that(False, "unread sentence")


@BOOK.says(of="caption")
def efficiency_caption(reader: Reader, groups: Groups, part: Part) -> None:
    reader.that(reader.workload_of(groups["workload"]) is not None, "another workload")


def lengths(reader: Reader) -> dict[str, Any]:
    """How long a trial is and its parts are, as the plan has settled."""
    measure = reader.measure
    duration = seconds_of(measure.duration)
    return {
        "seconds": duration,
        "warmup": seconds_of(measure.warmup),
        "slices": measure.slices,
        "slice": duration / max(1, measure.slices),
    }


BOOK.holds("length", lengths)
BOOK.holds("length_in_slices", lengths)
BOOK.holds("measured", lengths)
BOOK.holds("measured_in_slices", lengths)


@BOOK.says(of="pair")
def number_of_slices(reader: Reader, groups: Groups, _part: Part) -> None:
    """What of the slices of a trial is its number: a fifth at each end is cut from five on."""
    slices = reader.measure.slices
    cut = slices // 5
    found = []
    for one in reader.campaign.workloads():
        title = reader.own(one.title)
        key = "plain" if one.changes_data else "trimmed" if cut else "few"
        found.append(f"{title}: " + SLICES[key][reader.language == "ja"].format(cut=cut))
    reader.equal(groups["said"], {"en": "; ", "ja": ";"}[reader.language].join(found), "the number")


SLICES = {
    "trimmed": (
        "the plain mean of the slices, stalls among them; beside it, for TPS and mean latency,"
        " their trimmed mean (the least and the greatest {cut} left out); percentiles are of all"
        " transactions",
        "停滞も含めたスライスの単純平均とする。TPSと平均レイテンシには、最小と最大の{cut}個ずつを除いた"
        "トリム平均を併記する。パーセンタイルは全トランザクションから求める",
    ),
    "few": (
        "the plain mean of the slices; from five on, a trimmed mean would stand beside it",
        "スライスの単純平均。5個以上あれば、トリム平均を併記する",
    ),
    "plain": (
        "the plain mean of the slices, and no trimmed one, because stalls are part of what a"
        " workload does that changes data",
        "スライスの単純平均。データを変更する負荷では停滞も測定の対象なので、トリム平均は求めない",
    ),
}


# --- scaling ---------------------------------------------------------------------------------

KNEE_REASONS = {
    "no-replicates": ("no trial was repeated", "繰り返し測定がないため"),
    "too-few-replicates": ("too few trials were repeated", "繰り返し測定が少なすぎるため"),
    "too-few-blocks": ("there are fewer than three blocks", "ブロックが3つに満たないため"),
    "identical-trials": (
        "repeated trials are exactly equal, so that their spread cannot be estimated",
        "繰り返した測定値が完全に一致し、ばらつきを推定できないため",
    ),
}


def efficiency(reader: Reader, part: Part, side: str) -> list[tuple[float, float, float | None]]:
    """Load, TPS and distance from the law of one side, as the table below the sentence has them."""
    table = efficiency_table(reader, part)
    if table is None:
        reader.that(False, "no table of the efficiency")
        return []
    tps = table.columns.index("TPS")
    rows = []
    for row in table.rows:
        named = row[1:tps]
        if all(side_label_fits(reader, side, one) for one in named):
            distance = None if row[-1] == "—" else printed(row[-1]).value / 100
            rows.append((printed(row[0]).value, printed(row[tps]).value, distance))
    return rows


def side_label_fits(reader: Reader, side: str, cell: str) -> bool:
    """Whether a row is of the side that a sentence names."""
    parts = side.split(reader.separator)
    level = reader.side_of(cell) or reader.server_of(cell)
    return cell in side or any(
        level is not None and level in {reader.side_of(part), reader.server_of(part)}
        for part in parts
    )


def efficiency_table(reader: Reader, part: Part) -> Table | None:
    return next(
        (
            table
            for table in reader.document.tables
            if table.caption.startswith(("Efficiency", "効率"))
            and (table.part, table.topic) == (part.part, part.topic)
        ),
        None,
    )


def loads_of(reader: Reader, part: Part, side: str) -> dict[float, dict[int, float]]:
    """TPS by load and block, of a side that a sentence names, from the trials."""
    campaign = reader.campaign
    workload = reader.workload_of(part.part)
    if workload is None:
        return {}
    load = (
        "cores"
        if part.topic in {"Scaling with cores", "CPUコア数に対するスケーラビリティ"}
        else ("clients")
    )
    named = side.split(reader.separator)
    found: dict[float, dict[int, float]] = {}
    for one in campaign.planned(workload):
        if one.number not in campaign.counted:
            continue
        levels = dict(one.cell.levels)
        if not all(_is_named(reader, one.cell.levels, name, load) for name in named):
            continue
        value = campaign.counted[one.number].metrics.get("tps", math.nan)
        at = one.load.connections if load == "clients" else int(levels["cores"])
        if math.isfinite(value):
            found.setdefault(float(at), {})[one.block] = value
    return found


def _is_named(reader: Reader, levels: Context, name: str, load: str) -> bool:
    for factor, level in levels:
        if factor == load:
            continue
        if factor == "server" and reader.server_of(name) == level:
            return True
        if factor == reader.campaign.contrast and reader.side_of(name) == level:
            return True
        if name == f"{reader.factor_text(factor)} = {level}":
            return True
    return False


def knee(reader: Reader, groups: Groups, part: Part) -> None:
    """The smallest load within δ of the greatest throughput."""
    measure = reader.measure
    reader.same(groups["delta"], measure.delta * 100, "δ")
    loads = loads_of(reader, part, groups["side"])
    reader.that(bool(loads), f"no trials of {groups['side']}")
    means = {load: tps for load, tps, _ in efficiency(reader, part, groups["side"])}
    room = 2e-3
    if balanced(loads):
        means = {at: geometric_mean(list(one.values())) for at, one in loads.items()}
        room = 1e-9
    if not means:
        return
    greatest = max(means.values())
    within = [at for at, tps in sorted(means.items()) if tps * (1 + measure.delta) >= greatest]
    near = [
        at
        for at, tps in means.items()
        if abs(math.log(greatest / tps) - math.log1p(measure.delta)) < room
    ]
    said = float(count(groups["clients"]))
    reader.that(said in {within[0], *near}, f"the knee is at {within[0]:g}")
    reader.that(said in means, "it was not measured")
    ends = re.search(r"the end of the measured range|測定範囲の上端", part.text)
    reader.that((ends is not None) == (said == max(means)), "the end of the range, or not")
    unit = groups["unit"]
    singular = {"client", "core", "接続", "コア"}
    plural = {"clients", "cores", "接続", "コア"}
    reader.that(unit in (singular if said == 1 else plural), "one or several")


@BOOK.says()
def knee_interval(reader: Reader, groups: Groups, part: Part) -> None:
    knee(reader, groups, part)
    measured_loads = loads_of(reader, part, groups["side"])
    low, high, at = (float(count(groups[one])) for one in ("low", "high", "clients"))
    reader.that({low, high} <= measured_loads.keys(), "ends that were not measured")
    reader.that(low < high and low <= at <= high, "not an interval of the knee")
    reader.same(groups["confidence"], (1 - reader.measure.alpha) * 100, "α")


@BOOK.says()
def knee_single(reader: Reader, groups: Groups, part: Part) -> None:
    knee(reader, groups, part)
    reader.same(groups["confidence"], (1 - reader.measure.alpha) * 100, "α")


@BOOK.says()
def knee_plain(reader: Reader, groups: Groups, part: Part) -> None:
    knee(reader, groups, part)
    loads = loads_of(reader, part, groups["side"])
    most = max((len(load) for load in loads.values()), default=0)
    blocks = {block for load in loads.values() for block in load}
    trials = sum(map(len, loads.values()))
    if most < 2:
        reason = "no-replicates"
    elif len(blocks) < 3:
        reason = "too-few-blocks"
    elif trials - len(loads) - (len(blocks) - 1 if _are_linked(loads) else 0) < 1:
        reason = "too-few-replicates"
    else:
        reason = "identical-trials"
    expected = KNEE_REASONS[reason][reader.language == "ja"]
    reader.equal(groups["reason"], expected, f"the reason of {most} trials, {len(blocks)} blocks")


def _are_linked(loads: Mapping[float, Mapping[int, float]]) -> bool:
    """Whether blocks can be told from loads: each load has blocks in common with others, through
    which all are reached."""
    first, *others = loads.values()
    met = set(first)
    while near := [one for one in others if met & one.keys()]:
        met.update(*near)
        others = [one for one in others if one not in near]
    return not others


@BOOK.says()
def law(reader: Reader, groups: Groups, part: Part) -> None:
    rows = efficiency(reader, part, groups["side"])
    distances_are(reader, groups, part)
    if not rows:
        return
    loads = [load for load, _, _ in rows]
    reader.equal(groups["low"], f"{min(loads):g}", "the least load")
    reader.equal(groups["high"], f"{max(loads):g}", "the greatest load")
    rate, *_ = parameter(reader, groups["rate"])
    sigma, *_ = parameter(reader, groups["contention"])
    kappa, *_ = parameter(reader, groups["coherency"])
    for load, tps, distance in rows:
        at = rate * load / (1 + sigma * (load - 1) + kappa * load * (load - 1))
        if distance is not None:
            room = law_room(groups, load, at)
            off = abs(math.log(tps / at) - math.log1p(distance))
            reader.that(off < room, f"λ, σ and κ do not give the distance at {load:g}")
    table = loads_of(reader, part, groups["side"])
    if not balanced(table):
        return
    whole = fit(table)
    blocks = sorted(next(iter(table.values())))
    parts = (
        []
        if len(blocks) < 3
        else [
            fit(
                {
                    load: {one: value for one, value in row.items() if one != left}
                    for load, row in table.items()
                }
            )
            for left in blocks
        ]
    )
    for at, name in enumerate(("rate", "contention", "coherency")):
        scale = 1e-6 if "10⁻⁶" in groups[name] else 1.0
        numbers = re.findall(NUMBER, groups[name].split(" ×")[0])
        if "(" in groups[name] and len(numbers) == 1:  # at its bound
            reader.that(whole[at] < 1e-4, f"{name} is {whole[at]}")
            continue
        values = [whole[at]]
        if len(numbers) == 3:
            others = [part[at] for part in parts]
            mean = math.fsum(others) / len(others)
            error = math.sqrt(
                (len(others) - 1) / len(others) * math.fsum((one - mean) ** 2 for one in others)
            )
            alpha = reader.measure.alpha
            half = t_quantile(1 - alpha / 2, len(others) - 1) * error
            values += [max(0.0, whole[at] - half), whole[at] + half]
        for text, value in zip(numbers, values, strict=True):
            reader.same(text, value / scale, name, slack=2e-3 * abs(value / scale))


def parameter(reader: Reader, text: str) -> tuple[float, ...]:
    """A parameter, and the ends of its interval where it has one."""
    scale = 1e-6 if "10⁻⁶" in text else 1.0
    found = re.match(r"([\d.,]+)(?: ?\(([\d.,]+)(?: to |〜)([\d.,]+)\))?", text)
    if found is None:
        reader.that(False, "no parameter")
        return (0.0,)
    values = tuple(printed(one).value * scale for one in found.groups() if one is not None)
    if len(values) == 3:
        value, low, high = values
        reader.that(low <= value <= high, "not an interval of the parameter")
    return values


def law_room(groups: Groups, load: float, at: float) -> float:
    """How far rounded parameters may lead off at a load."""
    room = 0.0015
    for text, weight in (
        (groups["rate"], None),
        (groups["contention"], load),
        (groups["coherency"], load * load),
    ):
        number = printed(text)
        scale = 1e-6 if "10⁻⁶" in text else 1.0
        if weight is None:
            room += number.step / number.value
        else:
            room += number.step * scale * weight * at / printed(groups["rate"]).value / load
    return room


Curve = tuple[float, float, float]
Points = tuple[tuple[float, float], ...]


def balanced(loads: dict[float, dict[int, float]]) -> bool:
    """Whether every load has a positive value in every block."""
    blocks = {frozenset(load) for load in loads.values()}
    values = [value for load in loads.values() for value in load.values()]
    return len(blocks) == 1 and bool(values) and all(0 < value < math.inf for value in values)


STARTS = ((0.05, 1e-4), (1.0, 0.01), (20.0, 1.0))
FREE: tuple[tuple[int, ...], ...] = ((0, 1), (0,), (1,), ())


def fit(table: dict[float, dict[int, float]]) -> Curve:
    """λ, σ and κ of the law by least squares on ln TPS, neither σ nor κ below 0: the least of those
    with every choice of which of the two are 0, from several starts."""
    means = {
        at: math.fsum(map(math.log, row.values())) / len(row) for at, row in table.items() if row
    }
    return _fitted(tuple(sorted(means.items())))


@cache
def _fitted(points: Points) -> Curve:
    loads, logs = np.array(points).T

    def whole(coefficients: FloatArray, free: tuple[int, ...]) -> FloatArray:
        both = np.zeros(2)
        both[list(free)] = coefficients
        return both

    def rates(both: FloatArray) -> FloatArray:
        slow = 1 + both[0] * (loads - 1) + both[1] * loads * (loads - 1)
        rest: FloatArray = logs - np.log(loads / np.maximum(slow, 1e-9))
        return rest

    def off(coefficients: FloatArray, free: tuple[int, ...]) -> FloatArray:
        rest = rates(whole(coefficients, free))
        centred: FloatArray = rest - rest.mean()
        return centred

    best, least = np.zeros(2), math.inf
    for free in FREE:
        for start in STARTS if free else STARTS[:1]:
            at = np.array(start)[list(free)]
            if free:
                at = least_squares(off, at, args=(free,), method="lm", xtol=1e-14, ftol=1e-14).x
            squares = float(np.sum(off(at, free) ** 2))
            if np.all(at >= 0) and squares < least:
                best, least = whole(at, free), squares
    return float(np.exp(rates(best).mean())), float(best[0]), float(best[1])


def _slowdown(load: float, curve: Curve) -> float:
    return 1 + curve[1] * (load - 1) + curve[2] * load * (load - 1)


def distances_are(reader: Reader, groups: Groups, part: Part) -> None:
    """The least and the greatest distance of the table."""
    rows = efficiency(reader, part, groups["side"])
    found = [one for _, _, one in rows if one is not None]
    if not found:
        reader.that(False, "no distances")
        return
    reader.same(groups["least"], min(found) * 100, "the least distance", slack=0.06)
    reader.same(groups["most"], max(found) * 100, "the greatest distance", slack=0.06)


@dataclass(frozen=True)
class Lack:
    """How far the means lie from the law, and trials from one another."""

    lack: float
    pure: float
    p: float


def lack_of(reader: Reader, groups: Groups, part: Part) -> Lack | None:
    """From the trials, where every load has one in every block."""
    table = loads_of(reader, part, groups["side"])
    if not balanced(table) or len(table) < 4:
        return None
    curve = fit(table)
    loads = sorted(table)
    blocks = sorted(table[loads[0]])
    logs = {load: {at: math.log(table[load][at]) for at in blocks} for load in loads}
    means = {load: math.fsum(logs[load].values()) / len(blocks) for load in loads}
    squares = math.fsum(
        (means[load] - math.log(curve[0] * load / _slowdown(load, curve))) ** 2 for load in loads
    )
    freedom = len(loads) - 3
    lack = math.sqrt(squares / freedom)
    inside = (len(loads) - 1) * (len(blocks) - 1)
    if not inside:
        return Lack(lack, 0.0, 1.0)
    whole = math.fsum(means.values()) / len(means)
    shifts = {at: math.fsum(logs[load][at] for load in loads) / len(loads) - whole for at in blocks}
    pure = math.sqrt(
        math.fsum(
            (logs[load][at] - means[load] - shifts[at]) ** 2 for load in loads for at in blocks
        )
        / inside
    )
    if pure < IDENTICAL:
        return Lack(lack, 0.0, 1.0)
    ratio = len(blocks) * squares / freedom / pure**2
    p = beta_share(inside / (inside + freedom * ratio), inside / 2, freedom / 2)
    return Lack(lack, pure, p)


@BOOK.says()
def misfit_times(reader: Reader, groups: Groups, part: Part) -> None:
    found = misses(reader, groups, part)
    lack, pure = printed(groups["lack"]).value, printed(groups["pure"])
    reader.that(lack > 3 * (pure.value - pure.step), "not three times")
    if found is not None:
        reader.that(found.lack > 3 * found.pure > 0, "not three times")
        reader.same(groups["pure"], found.pure * 100, "between trials", slack=1e-4)


@BOOK.says()
def misfit_chance(reader: Reader, groups: Groups, part: Part) -> None:
    found = misses(reader, groups, part)
    alpha = reader.measure.alpha
    p = printed(groups["p"])
    reader.that(groups["sign"] in {"=", "<"}, "no such sign")
    reader.that(p.value <= alpha, "that may be chance")
    if found is not None:
        reader.that(0 < found.lack <= 3 * found.pure, "it is three times")
        reader.same(groups["pure"], found.pure * 100, "between trials", slack=1e-4)
        if groups["sign"] == "<":
            reader.that(p.value == 0.001 and found.p < 0.001, f"p is {found.p}")
        else:
            reader.same(groups["p"], found.p, "p", slack=1e-3 * found.p)


@BOOK.says()
def misfit_presumed(reader: Reader, groups: Groups, part: Part) -> None:
    misses(reader, groups, part)
    loads = loads_of(reader, part, groups["side"])
    reader.that(max((len(load) for load in loads.values()), default=0) < 2, "trials were repeated")
    lack, limit = printed(groups["lack"]), printed(groups["limit"])
    reader.that(lack.value >= limit.value - lack.step, "that could be noise")
    reader.same(groups["limit"], 3 * 2.3, "what is presumed")


@BOOK.says()
def misfit_unknown(reader: Reader, groups: Groups, part: Part) -> None:
    found = misses(reader, groups, part)
    loads = loads_of(reader, part, groups["side"])
    reader.that(max((len(load) for load in loads.values()), default=0) > 1, "none was repeated")
    reader.that(found is None or found.pure == 0, "their spread is known")
    reader.same(groups["limit"], 3 * 2.3, "what is presumed")


def misses(reader: Reader, groups: Groups, part: Part) -> Lack | None:
    distances_are(reader, groups, part)
    found = lack_of(reader, groups, part)
    if found is not None:
        reader.same(groups["lack"], found.lack * 100, "the lack of fit", slack=1e-4)
    return found


@BOOK.says()
def too_few_levels(reader: Reader, groups: Groups, part: Part) -> None:
    rows = efficiency(reader, part, groups["side"])
    reader.that(len(rows) < 4, f"{len(rows)} were measured")


@BOOK.says()
def growth(reader: Reader, groups: Groups, part: Part) -> None:
    loads = loads_of(reader, part, groups["side"])
    rows = efficiency(reader, part, groups["side"])
    if not rows:
        reader.that(False, "no rows")
        return
    whole = {frozenset(load) for load in loads.values()}
    means = {load: tps for load, tps, _ in rows}
    slack = 0.02
    if len(whole) == 1:
        means = {load: geometric_mean(list(one.values())) for load, one in loads.items()}
        slack = 0.0
    first, last = min(means), max(means)
    reader.equal(groups["first"], f"{first:g}", "the fewest")
    reader.equal(groups["last"], f"{last:g}", "the most")
    times = means[last] / means[first]
    reader.same(groups["times"], times, "growth", slack=slack * times)
    share = times * first / last * 100
    reader.same(groups["share"], share, "the share", slack=slack * share)
