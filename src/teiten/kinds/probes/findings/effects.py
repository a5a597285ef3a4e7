"""How much the contrasted factor changes a probe, and which side wins, by declared thresholds.

The counted trials of probes by cell and block, what a GiB more of buffers costs (a line through the
numbers of each block), and verdicts of every level of the contrasted factor against each before it.

All pairs of sides in all contexts of all workloads, by each number that they are compared by, and
all pairs of servers, are K comparisons, each from an interval at α/K, so that they hold together
(METHOD.md, Several statements): "the medium size is the worst" is said of three pairs at once.
What the slower side adds to a statement has an interval at the same level, and is not among the K.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, geometric_mean, linear_regression, median

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.observations import without
from teiten.analysis.model.verdict import Verdict, VerdictKind
from teiten.analysis.verdict.changes import arithmetic, deciding_half_width_of, geometric
from teiten.analysis.verdict.contrasts import contexts_of, sides_of
from teiten.kinds.probes.measurement import PageOrigin, ProbeMeasurement, measurement_of
from teiten.kinds.probes.metrics import PROBE_TIME
from teiten.kinds.probes.model import NAME, PROBE, Do, Probe, ProbeStep, probes_of
from teiten.kinds.probes.results import DECIDED, CostLine, EffectFound, SidePair
from teiten.kinds.probes.thresholds import NONE_WITHIN, Size, size_of
from teiten.model.plan import Context, Level, Plan
from teiten.model.study import SERVER, Measure, Workload
from teiten.model.units import GIB, Bytes, Seconds, Share


@dataclass(frozen=True)
class Tried:
    """A counted trial with what it measured."""

    measurement: ProbeMeasurement
    metrics: Mapping[str, float]

    @property
    def number(self) -> float:
        """The probe's; NaN without one."""
        return self.metrics.get(PROBE_TIME.name, math.nan)


Sides = Mapping[str, Mapping[int, Tried]]
"""By the level of the contrasted factor, and by block."""


def tried_of(plan: Plan, views: Iterable[TrialView]) -> dict[Level, Sides]:
    """In the study's order of workloads and levels; of several attempts the last that counts."""
    contrast = plan.study.contrast
    by_key: dict[Level, dict[str, dict[int, Tried]]] = {}
    for view in sorted(views, key=lambda view: (view.block, view.attempt)):
        measurement = measurement_of(view.facts)
        if view.counts and measurement is not None:
            sides = by_key.setdefault((view.workload, view.context(contrast)), {})
            tried = Tried(measurement, view.metrics)
            sides.setdefault(view.side(contrast), {})[view.block] = tried
    order = plan.study.contrasted_levels or ("",)
    return {
        key: {side: by_key[key][side] for side in order if side in by_key[key]}
        for key in sorted(by_key, key=lambda key: plan.study.place(key[0], key[1]))
    }


def trials_of(sides: Sides) -> list[Tried]:
    """List the trials of all sides."""
    return [trial for side in sides.values() for trial in side.values()]


def all_known(values: Iterable[float | None]) -> list[float]:
    """List values; none where any of them is not known."""
    listed = [*values]
    known = [value for value in listed if value is not None]
    return known if len(known) == len(listed) else []


def cost_line(sides: Sides, measure: Measure) -> CostLine | None:
    """None with fewer than two sizes, or where no block has the smallest and the largest one."""
    sizes = sorted({trial.measurement.shared_buffers for trial in trials_of(sides)})
    by_block: dict[int, dict[Bytes, float]] = {}
    for side in sides.values():
        for block, trial in side.items():
            if trial.number > 0:
                by_block.setdefault(block, {})[trial.measurement.shared_buffers] = trial.number
    whole = [by_size for by_size in by_block.values() if {sizes[0], sizes[-1]} <= by_size.keys()]
    if len(sizes) < 2 or not whole:
        return None
    lines = [
        linear_regression([size / GIB for size in by_size], list(by_size.values()))
        for by_size in whole
    ]
    alpha, width = measure.alpha, deciding_half_width_of(measure)
    per_gib = arithmetic([line.slope for line in lines], alpha, width)
    at_nothing = arithmetic([line.intercept for line in lines], alpha, width)
    ratio = geometric([by_size[sizes[-1]] / by_size[sizes[0]] for by_size in whole], alpha, width)
    if per_gib is None or at_nothing is None or ratio is None:
        return None
    return CostLine(per_gib, at_nothing, sizes[0], sizes[-1], ratio)


def disk_read(trials: Iterable[Tried]) -> Seconds | None:
    """The mean time of the statements whose page came from the disk; None without any."""
    seconds = [
        statement.seconds
        for trial in trials
        for statement in trial.measurement.statements
        if statement.origin is PageOrigin.DISK
    ]
    return Seconds(fmean(seconds)) if seconds else None


def effect_of(
    probe: Probe,
    sides: Sides,
    pairs: Sequence[SidePair],
    disk: Seconds | None,
    *,
    measure: Measure,
    alpha: Share,
) -> EffectFound | None:
    """None where fewer than two sides have a number. ``disk``: the mean time of a page from the
    disk; a probe of checkpoints is measured by those that wait for the disk. ``alpha``: that of one
    comparison."""
    positive = {
        side: [trial.number for trial in trials.values() if trial.number > 0]
        for side, trials in sides.items()
    }
    numbers = {side: geometric_mean(values) for side, values in positive.items() if values}
    known = [pair for pair in pairs if pair.old in numbers and pair.new in numbers]
    if not known:
        return None
    best = min(numbers, key=lambda side: numbers[side])
    worst = max(numbers, key=lambda side: numbers[side])
    towards = (_towards(pair_of_sides, best, worst) for pair_of_sides in known)
    verdict = next((toward for toward in towards if toward is not None), None)
    width = deciding_half_width_of(measure)
    added = arithmetic(_added(sides[worst], sides[best]), alpha, width)
    if verdict is None or added is None:
        return None
    runs = [run for trial in trials_of(sides) for run in trial.measurement.checkpoints]
    whole = [run.seconds for run in runs if run.step != probe.number_of]
    if runs:
        disk = Seconds(median(whole)) if whole else None
    least, most = _between(verdict, added.low, added.high, disk)
    return EffectFound(
        best=best,
        worst=worst,
        verdict=verdict,
        added=added,
        measure=disk,
        of_checkpoint=bool(runs),
        least=least,
        most=most,
        winners=tuple(numbers) if most is Size.NONE else _winners(tuple(numbers), known),
    )


def _towards(pair: SidePair, old: str, new: str) -> Verdict | None:
    """The verdict of new against old, from the pair of the two in either order: exchanging them
    inverts the ratio and mirrors the verdict."""
    if (pair.old, pair.new) == (old, new):
        return pair.verdict
    if (pair.new, pair.old) != (old, new):
        return None
    effect, verdict = pair.verdict.effect, pair.verdict
    mirrored = {
        VerdictKind.FASTER: VerdictKind.SLOWER,
        VerdictKind.SLOWER: VerdictKind.FASTER,
    }
    return replace(
        verdict,
        kind=mirrored.get(verdict.kind, verdict.kind),
        effect=None if effect is None else effect.inverse,
    )


def _added(worst: Mapping[int, Tried], best: Mapping[int, Tried]) -> list[float]:
    """By how much a statement takes longer, of each block that has both."""
    return [
        _each(worst[block]) - _each(best[block]) for block in sorted(worst.keys() & best.keys())
    ]


def _each(tried: Tried) -> float:
    """The mean time of a statement, those among them that swept; without statements the number."""
    statements = tried.measurement.statements
    return fmean(statement.seconds for statement in statements) if statements else tried.number


def _between(
    verdict: Verdict, low: float | None, high: float | None, by: Seconds | None
) -> tuple[Size, Size]:
    """The least and the greatest size that the intervals leave."""
    if verdict.kind is VerdictKind.EQUIVALENT:
        return Size.NONE, Size.NONE
    decided = verdict.kind in DECIDED
    least = Size.SMALL if decided else Size.NONE
    if by is None or low is None or high is None:
        return least, Size.LARGE
    if not decided and max(-low, high) <= NONE_WITHIN * by:
        return Size.NONE, Size.NONE
    if decided and low > 0:
        least = size_of(low / by)
    return least, size_of(max(0.0, high) / by)


def _winners(sides: Sequence[str], pairs: Sequence[SidePair]) -> tuple[str, ...]:
    slower = {pair.slower[0] for pair in pairs if pair.slower is not None}
    return tuple(side for side in sides if side not in slower) if slower else ()


def comparisons_of(plan: Plan) -> int:
    """Count all comparisons that share α, as they are planned: of every two sides by each number
    that they are compared by, and of every two servers next to one another. One or more."""
    named = dict.fromkeys(trial.cell.workload for trial in plan.trials)
    workloads = (plan.study.workload(name) for name in named)
    return max(
        1, sum(_comparisons(plan, workload) for workload in workloads if workload.kind == NAME)
    )


def _comparisons(plan: Plan, workload: Workload) -> int:
    sides = len(sides_of(plan, workload.name))
    contexts = contexts_of(plan, workload.name)
    count = 0
    for context in contexts:
        commits = any(step.commit for step in _steps(workload, context))
        count += (1 + commits) * sides * (sides - 1) // 2
    crossed = (without(context, SERVER) for context in contexts if SERVER in dict(context))
    for others, servers in Counter(crossed).items():
        executed = {step.name for step in _steps(workload, others) if step.do is Do.EXECUTE}
        count += (servers - 1) * sides * (1 + len(executed))
    return count


def _steps(workload: Workload, context: Context) -> Sequence[ProbeStep]:
    return probes_of(workload).probe(dict(context).get(PROBE, "")).steps
