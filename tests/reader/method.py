"""Numbers that METHOD.md makes of a workload's trials besides its contrasts: curves, tails, shares.

Sentences tell them and no table has them. ``named``: by the text of the translation files and the
place in it that tells one; ``effects``: means that are told with their intervals.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import fmean, linear_regression, median

import numpy as np
from scipy.optimize import least_squares

from teiten.kinds.probes.measurement import measurement_of
from teiten.kinds.probes.model import probes_of
from teiten.model.plan import Context
from teiten.model.trial import Attempt, FloatArray
from tests.reader.arithmetic import IDENTICAL, beta_share, judge, ratio_of, t_quantile
from tests.reader.campaign import Campaign
from tests.reader.texts import spread

Table = dict[float, dict[int, float]]
"""Throughput by load and block."""
Law = tuple[float, float, float]
"""λ, σ and κ of X(N) = λN / (1 + σ(N − 1) + κN(N − 1))."""
PRESUMED, TIMES = 0.023, 3.0
"""The noise of a trial where none is repeated, and how many times it a curve may be off."""
FOUND = 2e-3
"""The share by which two searches for the least squares may end apart."""
MOST = 1000.0
"""Up to which bounds are told."""
STATES = ("user", "system", "iowait", "steal", "idle")
LOADS = ("clients", "cores")


@dataclass(frozen=True)
class Effect:
    """Numbers that are told together: a mean, the ends of its interval, the level."""

    values: Mapping[str, Sequence[float]]
    """By dimension: time, bytes, share, or none."""
    better: bool | None = None
    """Whether the new side is faster; None where that means nothing."""
    slack: float = 0.0
    """The share by which numbers that are found by steps may be off."""
    new: str = ""
    """The level that is compared, where it is known."""


# --- curves ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """ln TPS by load and block, without the shifts of the blocks."""

    loads: FloatArray
    logs: FloatArray
    """NaN where no trial counts."""
    freedom: int

    @classmethod
    def of(cls, table: Table) -> Layout:
        loads = sorted(load for load, row in table.items() if row)
        blocks = sorted({block for row in table.values() for block in row})
        logs = np.array(
            [[math.log(table[load].get(block, math.nan)) for block in blocks] for load in loads]
        )
        known = np.argwhere(np.isfinite(logs))
        design = np.zeros((len(known), len(loads) + len(blocks)))
        for row, (load, block) in enumerate(known):
            design[row, load] = design[row, len(loads) + block] = 1
        solved, _, rank, _ = np.linalg.lstsq(design, logs[tuple(known.T)], rcond=None)
        if rank < len(loads) + len(blocks) - 1:  # some blocks have no load in common
            return cls(np.array(loads), logs, len(known) - len(loads))
        shifts = solved[len(loads) :]
        return cls(
            np.array(loads), logs - shifts + shifts[known[:, 1]].mean(), len(known) - int(rank)
        )

    @cached_property
    def means(self) -> FloatArray:
        mean: FloatArray = np.nanmean(self.logs, axis=1)
        return mean

    @cached_property
    def counts(self) -> FloatArray:
        counted: FloatArray = np.isfinite(self.logs).sum(axis=1).astype(float)
        return counted

    @cached_property
    def pure(self) -> float:
        """The deviation of a trial; 0 where that cannot be told."""
        squares = float(np.nansum((self.logs - self.means[:, None]) ** 2))
        error = math.sqrt(squares / self.freedom) if self.freedom > 0 else 0.0
        return error if error > IDENTICAL else 0.0

    @property
    def bounded(self) -> bool:
        return bool(self.counts.max() > 1 and self.logs.shape[1] > 2 and self.pure)


def curves(campaign: Campaign, workload: str) -> dict[tuple[str, Context], Table]:
    """The throughput of each side by its connections, and by its cores."""
    found: dict[tuple[str, Context], Table] = defaultdict(lambda: defaultdict(dict))
    for trial in campaign.planned(workload):
        counted = campaign.counted.get(trial.number)
        tps = counted.metrics.get("tps", math.nan) if counted is not None else math.nan
        levels = dict(trial.cell.levels)
        for factor in LOADS:
            if factor in levels and math.isfinite(tps):
                others = tuple(pair for pair in trial.cell.levels if pair[0] != factor)
                found[factor, others][float(levels[factor])][trial.block] = tps
    return {
        side: table
        for side, table in found.items()
        if len(table) > 1 and all(value > 0 for row in table.values() for value in row.values())
    }


FREE: tuple[tuple[int, ...], ...] = ((0, 1), (0,), (1,), ())
STARTS = ((0.05, 1e-4), (1.0, 0.01), (20.0, 1.0))


def fit(layout: Layout) -> Law:
    points = zip(layout.loads, layout.means, layout.counts, strict=True)
    return _fitted(tuple((float(load), float(mean), float(count)) for load, mean, count in points))


@cache
def _fitted(points: tuple[tuple[float, float, float], ...]) -> Law:
    """By least squares on ln TPS, neither σ nor κ below 0: the least of those with every choice of
    which of the two are 0, from several starts."""
    loads, logs, counts = np.array(points).T

    def rates(both: FloatArray) -> FloatArray:
        slow = 1 + both[0] * (loads - 1) + both[1] * loads * (loads - 1)
        rest: FloatArray = logs - np.log(loads / np.maximum(slow, 1e-9))
        return rest

    def off(coefficients: FloatArray, free: tuple[int, ...]) -> FloatArray:
        both = np.zeros(2)
        both[list(free)] = coefficients
        rest = rates(both)
        weighted: FloatArray = (rest - np.average(rest, weights=counts)) * np.sqrt(counts)
        return weighted

    best, least = np.zeros(2), math.inf
    for free in FREE:
        for start in STARTS if free else STARTS[:1]:
            at = np.array(start)[list(free)]
            if free:
                at = least_squares(off, at, args=(free,), method="lm", xtol=1e-14, ftol=1e-14).x
            squares = float(np.sum(off(at, free) ** 2))
            if np.all(at >= 0) and squares < least:
                best, least = np.zeros(2), squares
                best[list(free)] = at
    rate = float(np.average(rates(best), weights=counts))
    return math.exp(rate), float(best[0]), float(best[1])


def distances(layout: Layout) -> FloatArray:
    """ln of measured by the law, at each load."""
    rate, contention, coherency = fit(layout)
    loads = layout.loads
    slow = 1 + contention * (loads - 1) + coherency * loads * (loads - 1)
    off: FloatArray = layout.means - np.log(rate * loads / slow)
    return off


def _jackknife(table: Table, layout: Layout, alpha: float) -> Iterator[tuple[float, ...]]:
    """Each parameter of the law, with its interval where one can be told."""
    whole = fit(layout)
    blocks = sorted({block for row in table.values() for block in row})
    parts = [
        {load: {at: tps for at, tps in row.items() if at != block} for load, row in table.items()}
        for block in blocks
    ]
    if not layout.bounded or not all(all(part.values()) for part in parts):
        yield from ((value,) for value in whole)
        return
    others = [fit(Layout.of(part)) for part in parts]
    for value, each in zip(whole, zip(*others, strict=True), strict=True):
        squares = math.fsum((one - fmean(each)) ** 2 for one in each)
        error = math.sqrt((len(each) - 1) / len(each) * squares)
        half = t_quantile(1 - alpha / 2, len(each) - 1) * error
        yield value, max(0.0, value - half), value + half


def _of_curve(
    campaign: Campaign, factor: str, table: Table
) -> Iterator[tuple[str, tuple[float, ...]]]:
    """What sentences tell of a curve: by the place of its text."""
    measure, layout = campaign.plan.study.measure, Layout.of(table)
    loads, means = layout.loads, layout.means
    peak = int(np.argmax(means))
    knee = int(np.argmax(means >= means[peak] - math.log1p(measure.delta) - 1e-12))
    own = "scaling.cores" if factor == "cores" else "scaling"
    yield f"{own}.knee.(interval|single|plain) clients", (loads[knee],)
    yield f"{own}.knee.interval (low|high)", (*loads,)
    drop = float(means[-1] - means[peak])
    forms = "rising|level|level-first|level-last|level-all|falling-interval|open-interval|open"
    shape = f"discussion.shape.({forms})"
    yield f"{shape} last", (loads[-1],)
    yield f"{shape} knee", (loads[knee],)
    yield f"{shape} peak", (loads[peak],)
    yield f"{shape} share", (ratio_of(drop),)
    if layout.bounded and peak < len(loads) - 1:
        alpha = measure.alpha / (len(loads) - 1)
        error = layout.pure * math.sqrt(1 / layout.counts[peak] + 1 / layout.counts[-1])
        half = t_quantile(1 - alpha / 2, layout.freedom) * error
        yield "share", tuple(ratio_of(drop + each) for each in (0, -half, half))
    yield "scaling.cores.growth first", (loads[0],)
    yield "scaling.cores.growth last", (loads[-1],)
    growth = math.exp(means[-1] - means[0])
    yield "scaling.cores.growth times", (growth,)
    yield "scaling.cores.growth share", (growth * loads[0] / loads[-1],)
    if len(loads) > 3:
        yield from _of_law(table, layout, measure.alpha)


def _of_law(table: Table, layout: Layout, alpha: float) -> Iterator[tuple[str, tuple[float, ...]]]:
    off = distances(layout)
    ends = [math.expm1(end) for end in (off.min(), off.max())]
    squares = off**2
    freedom = len(off) - 3
    lack = math.sqrt(squares.sum() / freedom)
    for place, value in (("least", ends[0]), ("most", ends[1]), ("lack", lack)):
        yield f"scaling.misfit.(times|chance|presumed|unknown) {place}", (value,)
    yield "scaling.fit least", (ends[0],)
    yield "scaling.fit most", (ends[1],)
    yield "scaling.fit low", (layout.loads[0],)
    yield "scaling.fit high", (layout.loads[-1],)
    yield "scaling.misfit.(presumed|unknown) limit", (TIMES * PRESUMED,)
    if layout.pure:
        ratio = float((layout.counts * squares).sum()) / freedom / layout.pure**2
        share = layout.freedom / (layout.freedom + freedom * ratio)
        chance = beta_share(share, layout.freedom / 2, freedom / 2)
        yield "chance", (chance, 0.001)
        yield "scaling.misfit.(times|chance) pure", (layout.pure,)
    names = ("rate", "contention", "coherency")
    for name, values in zip(names, _jackknife(table, layout, alpha), strict=True):
        unit = 1e6 if name == "coherency" else 1.0
        yield "law", tuple(value * unit for value in values)


# --- of every two sides ------------------------------------------------------------------------


def compared(campaign: Campaign, workload: str) -> Iterator[tuple[Context, str, str]]:
    """Every level with each two sides."""
    for context in campaign.contexts(workload):
        for old, new in itertools.permutations(campaign.sides(workload), 2):
            yield context, old, new


Quantity = Callable[[Attempt], float | None]


def _metric(name: str, less: str = "") -> Quantity:
    """A metric of a trial, less another one."""

    def value(trial: Attempt) -> float | None:
        held = [trial.metrics.get(each, math.nan) for each in (name, less) if each]
        return None if any(map(math.isnan, held)) else held[0] - sum(held[1:])

    return value


def _statement(trial: Attempt) -> float | None:
    """The mean time of a probe's statements, or that of the probe."""
    measured = measurement_of(getattr(trial, "facts", {}))
    seconds = (
        [each.seconds for step in measured.measured for each in step.statements] if measured else []
    )
    return fmean(seconds) if seconds else trial.metrics.get("probe_seconds")


QUANTITIES: tuple[tuple[str, Quantity], ...] = (
    ("time", _metric("latency_p99", less="latency_p50")),
    ("time", _statement),
    ("bytes", _metric("wal_bytes_per_transaction")),
    *(("share", _metric(f"cpu_{state}_share")) for state in STATES),
)
"""What sentences tell of both sides besides the metrics of contrasts, by its dimension."""


def _of_sides(campaign: Campaign, workload: str) -> Iterator[Effect]:
    """Of every two sides at each level the means, over the pairs that have both, with the interval of
    their difference, at a share of α; of all sides the medians."""
    every = {trial.block for trial in campaign.planned(workload)}
    ended = {block for block in every if campaign.by_start({block: 0.0})}
    for dimension, quantity in QUANTITIES:
        of_side = {
            (context, side): {
                block: value
                for block, trial in campaign.at(workload, context, side)
                if (value := quantity(trial)) is not None
            }
            for context in campaign.contexts(workload)
            for side in campaign.sides(workload)
        }
        if dimension == "bytes":
            yield Effect({dimension: [median(each.values()) for each in of_side.values() if each]})
        known: dict[tuple[str, str], list[tuple[list[float], list[float]]]] = defaultdict(list)
        for context, old, new in compared(campaign, workload):
            both = of_side[context, old], of_side[context, new]
            blocks = sorted(both[0].keys() & both[1].keys() & ended)
            if blocks:
                means = [fmean(values[at] for at in blocks) for values in both]
                d = campaign.by_start({at: both[1][at] - both[0][at] for at in blocks})
                known[old, new].append((means, [*d.values()]))
        for levels in known.values():
            shared = campaign.plan.study.measure.alpha / len(levels)
            for alpha in {shared, campaign.comparison_alpha(workload)}:
                for means, differences in levels:
                    interval = _interval(campaign, differences, alpha)
                    yield Effect({dimension: [*means, *interval]})


def _interval(campaign: Campaign, d: Sequence[float], alpha: float) -> list[float]:
    """A mean of differences with its interval; no ends where there is none."""
    measure = campaign.plan.study.measure
    found = judge(
        d,
        delta=measure.delta,
        alpha=alpha,
        lower_is_better=True,
        sequential=measure.sequential is not None,
    )
    return [fmean(d)] * bool(d) + ([] if found.reason else [found.low, found.high])


def _drift(campaign: Campaign, workload: str, metric: str) -> Iterator[tuple[str, float]]:
    """The correlation of a pair with the one before, and Mann and Kendall's trend."""
    for new in campaign.sides(workload)[1:]:
        d = campaign.deviations(workload, metric, new)
        n, mean = len(d), fmean(d) if d else 0.0
        total = math.fsum((one - mean) ** 2 for one in d)
        if n < 3 or not total:
            continue
        lag = math.fsum((a - mean) * (b - mean) for a, b in itertools.pairwise(d)) / total
        rises = sum((b > a) - (b < a) for at, a in enumerate(d) for b in d[at + 1 :])
        yield "caution.pairs-drift.what lag", lag
        yield "caution.pairs-drift.what trend", rises / math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
        yield "caution.pairs-drift.what pairs", float(n)


# --- queries and probes ------------------------------------------------------------------------


GROUP_TOO_FEW = "query-group.too-few.(one|many) count"


def _groups(campaign: Campaign, workload: str, named: dict[str, set[float]]) -> Iterator[Effect]:
    """The mean ratio over the queries of a group, over all, and over one, at the others' levels;
    ``named``: where their pairs go."""
    options = campaign.plan.study.workload(workload).options
    groups = [tuple(group.queries) for group in getattr(options, "groups", ())]
    contexts = campaign.contexts(workload)
    for sides in itertools.permutations(campaign.sides(workload), 2):
        for others in {tuple(pair for pair in one if pair[0] != "query") for one in contexts}:
            at = [one for one in contexts if {*others} <= {*one}]
            for queries in (*groups, tuple(dict(one).get("query", "") for one in at)):
                members = [one for one in at if dict(one).get("query") in queries]
                alpha = campaign.alpha * len(members) / len(contexts)
                for pairs in _pairs_of_group(campaign, workload, sides, members):
                    found = campaign.together(pairs, alpha, lower=True)
                    for text in spread(GROUP_TOO_FEW):
                        named[text].add(float(found.pairs))
                    if not found.reason:
                        ends = [ratio_of(log) for log in (found.mean, found.low, found.high)]
                        for name, factor in _bounds(ends[1:]):
                            named[name].add(factor)
                        yield from effects_of(ends, 1 - alpha, better=ends[0] < 1)


def pairs_of_groups(campaign: Campaign) -> set[float]:
    """How many pairs the means over queries have."""
    named: dict[str, set[float]] = defaultdict(set)
    for workload in campaign.plan.study.workloads:
        if workload.kind == "queries":
            deque(_groups(campaign, workload.name, named), maxlen=0)
    return set().union(*(named[text] for text in spread(GROUP_TOO_FEW)))


def _bounds(ends: Sequence[float]) -> Iterator[tuple[str, float]]:
    """The ends of a group's interval as bounds, rounded to the safe side."""
    for factor in (each for end in ends for each in (end, 1 / end) if each > 1):
        unit = 10.0 ** (math.floor(math.log10(factor)) - 2)
        for text, rounded in (("least", math.floor), ("most", math.ceil)):
            bound = min(rounded(factor / unit) * unit, MOST)
            yield from (
                (f"query-group.bound-{text}-{word} factor", bound) for word in ("fast", "long")
            )


def _pairs_of_group(
    campaign: Campaign, workload: str, sides: tuple[str, str], members: Sequence[Context]
) -> Iterator[Sequence[Mapping[int, float]]]:
    """The logarithms of each query, of the times alone and with what exceeded the limit."""
    metric = "query_seconds"
    exact, limited = [], []
    for context in members:
        exact.append(campaign.log_ratios(workload, context, sides, metric)[0])
        times = [
            campaign.values(workload, context, side, metric)
            | campaign.values(workload, context, side, "over_timeout")
            for side in sides
        ]
        both = times[0].keys() & times[1].keys()
        limited.append(
            {
                at: math.log(times[1][at] / times[0][at])
                for at in both
                if times[0][at] > 0 < times[1][at]
            }
        )
    yield from (exact, limited) if exact else ()


def effects_of(
    ratios: Sequence[float], confidence: float, *, better: bool | None, new: str = ""
) -> Iterator[Effect]:
    """Ratios of a comparison, in every way in which they are told: the shares of an interval's ends
    with one sign or both with the other, that of the mean, "2 % less (−4 to −0.4 %)", with either."""
    turned = [value for ratio in ratios for value in (ratio, 1 / ratio)]
    for sign in (1, -1):
        of_mean = [share for ratio in ratios[:1] for share in (ratio - 1, 1 - ratio)]
        shares = [*of_mean, *(sign * (ratio - 1) for ratio in ratios[1:])]
        yield Effect({"": turned, "share": [*shares, confidence]}, better, new=new)


def _cost(campaign: Campaign, workload: str) -> Iterator[Effect]:
    """Of probes of all buffers: the line through the sizes in each block, and the largest size by the
    smallest."""
    options = probes_of(campaign.plan.study.workload(workload))
    alpha = campaign.plan.study.measure.alpha
    for context in campaign.contexts(workload):
        probe = options.probe(dict(context)["probe"])
        of_all = any(
            step.do.value == "checkpoint" and step.name == probe.number_of for step in probe.steps
        )
        if not of_all and probe.take.value != "sweep":
            continue
        points: dict[int, dict[float, float]] = defaultdict(dict)
        sides = campaign.sides(workload)
        for block, trial in (
            each for side in sides for each in campaign.at(workload, context, side)
        ):
            measured = measurement_of(getattr(trial, "facts", {}))
            number = trial.metrics.get("probe_seconds", 0.0)
            if measured is not None and number > 0:
                points[block][measured.shared_buffers / 2**30] = number
        sizes = sorted({size for block in points.values() for size in block})
        whole = [block for block in points.values() if {*sizes[:1], *sizes[-1:]} <= block.keys()]
        if len(sizes) > 1 and whole:
            lines = [linear_regression([*block], [*block.values()]) for block in whole]
            for ends in ([line.slope for line in lines], [line.intercept for line in lines]):
                yield Effect({"time": _interval(campaign, ends, alpha)})
            logs = [math.log(block[sizes[-1]] / block[sizes[0]]) for block in whole]
            ratios = [ratio_of(end) for end in _interval(campaign, logs, alpha)]
            yield Effect({"": [*ratios, sizes[-1] / sizes[0]], "share": [1 - alpha]})


# --- all of it -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """Of all workloads of a campaign."""

    named: Mapping[str, set[float]]
    effects: Sequence[Effect]
    points: Mapping[tuple[str, frozenset[tuple[str, str]]], Mapping[tuple[object, ...], float]]
    """Of each cell of a curve, by the rule: its throughput, and how far the law is from it."""


def made_of(campaign: Campaign) -> Made:
    known = campaign.further.get("made")
    if not isinstance(known, Made):
        known = campaign.further["made"] = _made(campaign)
    return known


def _made(campaign: Campaign) -> Made:
    named: dict[str, set[float]] = defaultdict(set)
    effects: list[Effect] = []
    points: dict[tuple[str, frozenset[tuple[str, str]]], dict[tuple[object, ...], float]] = (
        defaultdict(dict)
    )
    for workload in campaign.workloads():
        name = workload.name
        for (factor, others), table in curves(campaign, name).items():
            for load, numbers in _points(table):
                levels = frozenset((*others, (factor, f"{load:g}")))
                rules: dict[tuple[object, ...], float] = {
                    (factor, rule): number for rule, number in numbers.items()
                }
                points[name, levels].update(rules)
            for place, values in _of_curve(campaign, factor, table):
                for each in spread(place) if " " in place else ():
                    named[each] |= {*map(float, values)}
                if " " not in place:
                    dimension = place if place == "share" else ""
                    effects.append(Effect({dimension: values}, slack=FOUND * (place == "law")))
        metric = "query_seconds" if workload.kind == "queries" else "tps"
        for place, value in _drift(campaign, name, metric):
            named[place].add(value)
        effects += _of_sides(campaign, name)
        if workload.kind == "queries":
            effects += _groups(campaign, name, named)
        elif workload.kind == "probes":
            effects += _cost(campaign, name)
    return Made(dict(named), effects, points)


def _points(table: Table) -> Iterator[tuple[float, dict[str, float]]]:
    layout = Layout.of(table)
    off = distances(layout) if len(layout.loads) > 3 else [math.nan] * len(layout.loads)
    for load, mean, distance in zip(layout.loads, layout.means, off, strict=True):
        yield float(load), {"TPS": math.exp(mean), "distance": math.expm1(distance)}
