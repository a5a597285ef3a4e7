"""What is true of a campaign: from its plan and its trials, and from nothing that was analysed."""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean

from teiten.analysis.model.claims import Claim
from teiten.kinds.probes.model import probes_of
from teiten.model.facts import Caution, HostFacts
from teiten.model.plan import Context, Plan, PlannedTrial
from teiten.model.study import Workload
from teiten.model.trial import Attempt, Event, Outcome, Problem, Trial
from teiten.ways.registry import way_of
from tests.reader.arithmetic import Judgement, always_valid, biased, contradicted, judge

JUDGED = ("tps", "query_seconds", "procedure_seconds", "probe_seconds")
USUAL = {
    "pgbench": "tps",
    "queries": "query_seconds",
    "procedure": "procedure_seconds",
    "probes": "probe_seconds",
}
"""What a workload of a kind is judged by."""
HIGHER_IS_BETTER = ("tps", "tps_trimmed")
LEFT_BEHIND = ("left_behind_throughput", "left_behind_typical")
"""By how much the sides of paired transactions differ by what each leaves behind for the other."""
METRICS = (
    *("tps", "latency_mean", "latency_p95", "latency_p99", "latency_typical", "mean_by_typical"),
    *("query_seconds", "procedure_seconds", "backend_cpu_seconds"),
)
"""Those that tables of contrasts are read of."""


@dataclass(frozen=True)
class Judged:
    """The answer of a contrast and of each of its levels."""

    workload: str
    metric: str
    old: str
    new: str
    levels: Mapping[Context, Judgement]
    overall: Judgement
    left_out: tuple[Context, ...] = ()


@dataclass
class Campaign:
    """The values that a report is about."""

    name: str
    plan: Plan
    facts: HostFacts
    trials: Sequence[Attempt]
    """All attempts, in the order in which they ran."""
    created_at: float
    cautions: Sequence[Caution] = ()
    events: Sequence[Event] = ()
    by_hand: bool = False
    """Its verdicts were invented, and follow from no trials: tables are not recomputed, and what
    sentences say is checked against the tables alone."""
    findings: Sequence[Claim] = ()
    """The published findings that are compared, as they were declared."""
    further: dict[str, object] = field(default_factory=dict)
    """What a kind's own truth keeps."""

    def __post_init__(self) -> None:
        """Of what ran together, all or nothing counts."""
        places = {
            trial.number: (trial.block, trial.cell.workload, trial.cell.context(self.contrast))
            for trial in self.plan.trials
        }
        bad: dict[object, Trial] = {}
        for one in self.trials:
            if one.outcome is not Outcome.COUNTED and isinstance(one, Trial):
                bad.setdefault((places[one.number], one.attempt), one)
        marked: list[Attempt] = []
        for one in self.trials:
            other = bad.get((places[one.number], one.attempt))
            if one.outcome is Outcome.COUNTED and isinstance(one, Trial) and other is not None:
                beside = (Problem("partner", f"trial {other.number}: {other.problems[0].code}"),)
                one = replace(one, outcome=Outcome.DISTURBED, problems=beside)  # noqa: PLW2901
            marked.append(one)
        self.trials = marked

    @cached_property
    def counted(self) -> dict[int, Attempt]:
        """By planned trial: of several that count the last one."""
        found: dict[int, Attempt] = {}
        for trial in self.trials:
            known = found.get(trial.number)
            counts = trial.outcome is Outcome.COUNTED
            if counts and (known is None or trial.attempt > known.attempt):
                found[trial.number] = trial
        return found

    @cached_property
    def alpha(self) -> float:
        """Of one of the report's primary statements: of each workload, of each new side."""
        return self.plan.study.measure.alpha / max(1, len(list(self.answers())))

    def comparison_alpha(self, workload: str, averaged: int = 1) -> float:
        """Of the comparison of two sides at one level, or of its mean over so many: a report has the
        same wherever it tells of it."""
        if self.plan.study.workload(workload).kind == "probes":
            return self.plan.study.measure.alpha * averaged / max(1, self.comparisons_of_probes)
        return self.alpha * averaged / len(self.contexts(workload))

    @cached_property
    def comparisons_of_probes(self) -> int:
        """How many comparisons share α, as planned: of two sizes by the time of a probe and by that
        of COMMIT, and of each further server with the first."""
        return sum(
            self._comparisons_of_probes(workload)
            for workload in self.workloads()
            if workload.kind == "probes"
        )

    def _comparisons_of_probes(self, workload: Workload) -> int:
        sides = len(self.sides(workload.name))
        compared, servers = 0, defaultdict[str, set[str]](set)
        for context in map(dict, self.contexts(workload.name)):
            steps = probes_of(workload).probe(context["probe"]).steps
            compared += (1 + any(step.commit for step in steps)) * sides * (sides - 1) // 2
            servers[context["probe"]].add(context.get("server", ""))
        for probe, named in servers.items():
            steps = probes_of(workload).probe(probe).steps
            executed = {step.name for step in steps if step.do.value == "execute"}
            compared += (len(named) - 1) * sides * (1 + len(executed))
        return compared

    @property
    def contrast(self) -> str:
        return self.plan.study.contrast

    def workloads(self) -> list[Workload]:
        return list(self.plan.study.workloads)

    @cached_property
    def _planned(self) -> dict[str, list[PlannedTrial]]:
        by_workload: dict[str, list[PlannedTrial]] = defaultdict(list)
        for trial in self.plan.trials:
            by_workload[trial.cell.workload].append(trial)
        return by_workload

    def planned(self, workload: str) -> list[PlannedTrial]:
        return self._planned.get(workload, [])

    @cached_property
    def _sides(self) -> dict[str, list[str]]:
        levels = self.levels(self.contrast)
        here = {
            workload: {trial.cell.level(self.contrast) for trial in planned}
            for workload, planned in self._planned.items()
        }
        return {workload: [one for one in levels if one in here[workload]] for workload in here}

    def sides(self, workload: str) -> list[str]:
        """Old first, then the others in the study's order."""
        return self._sides.get(workload, [])

    def levels(self, factor: str) -> tuple[str, ...]:
        found = next((one for one in self.plan.study.factors if one.name == factor), None)
        return found.levels if found else ()

    def contexts(self, workload: str) -> list[Context]:
        orders = [
            factor.levels for factor in self.plan.study.factors if factor.name != self.contrast
        ]
        wanted = [factor.name for factor in self.plan.study.factors if factor.name != self.contrast]
        here = {one.cell.context(self.contrast) for one in self.planned(workload)}
        every = itertools.product(*orders)
        known = (tuple(zip(wanted, levels, strict=True)) for levels in every)
        ordered = {frozenset(one): one for one in known}
        order = {key: at for at, key in enumerate(ordered)}
        return sorted(here, key=lambda one: order.get(frozenset(one), len(order)))

    @cached_property
    def of_sides(self) -> dict[tuple[str, Context, str | None], list[tuple[int, Attempt]]]:
        """The counted trials of each side at each level of a workload, with their blocks."""
        found: dict[tuple[str, Context, str | None], list[tuple[int, Attempt]]] = defaultdict(list)
        for planned in self.plan.trials:
            cell = planned.cell
            if planned.number in self.counted:
                key = cell.workload, cell.context(self.contrast), cell.level(self.contrast)
                found[key].append((planned.block, self.counted[planned.number]))
        return found

    def at(self, workload: str, context: Context, side: str) -> list[tuple[int, Attempt]]:
        return self.of_sides.get((workload, context, side), [])

    def values(self, workload: str, context: Context, side: str, metric: str) -> dict[int, float]:
        """By block, of the counted trials."""
        return {
            block: trial.metrics[metric]
            for block, trial in self.at(workload, context, side)
            if not math.isnan(trial.metrics.get(metric, math.nan))
        }

    def over(self, workload: str, context: Context, sides: Sequence[str]) -> bool:
        """Whether a counted trial of one of these sides exceeded its time limit."""
        return any(
            "over_timeout" in trial.metrics
            for side in sides
            for _, trial in self.at(workload, context, side)
        )

    def log_ratios(
        self, workload: str, context: Context, sides: tuple[str, str], metric: str
    ) -> tuple[dict[int, float], int]:
        """ln(new/old) by block, and how many pairs have none."""
        old, new = (self.values(workload, context, side, metric) for side in sides)
        found, unusable = {}, 0
        for block in sorted(old.keys() & new.keys()):
            if all(0 < one[block] < math.inf for one in (old, new)):
                found[block] = math.log(new[block]) - math.log(old[block])
            else:
                unusable += 1
        return found, unusable

    def by_start(self, d: Mapping[int, float]) -> dict[int, float]:
        """Pairs that share a start of their servers are one, their mean."""
        blocks: dict[int, set[int]] = defaultdict(set)
        for trial in self.plan.trials:
            blocks[trial.restart].add(trial.block)
        shares = any(len(found) > 1 for start, found in blocks.items() if start)
        if not shares:
            return dict(d)
        tried = {trial.number for trial in self.trials}
        unended = {trial.restart for trial in self.plan.trials if trial.number not in tried}
        means = {}
        for start, found in blocks.items():
            here = [d[block] for block in sorted(found) if block in d]
            if here and start not in unended:
                means[min(found)] = math.fsum(here) / len(here)
        return means

    def judged(self, workload: str, metric: str, new: str) -> Judged:
        key = f"judged {workload} {metric} {new}"
        if key not in self.further:
            self.further[key] = self._judged(workload, metric, new)
        found = self.further[key]
        assert isinstance(found, Judged)
        return found

    def _judged(self, workload: str, metric: str, new: str) -> Judged:
        contexts = self.contexts(workload)
        old = self.reference(workload, new)
        measure = self.plan.study.measure
        sequential = measure.sequential is not None
        lower = metric not in HIGHER_IS_BETTER
        times = metric == "query_seconds"
        pairs: dict[Context, dict[int, float]] = {}
        levels: dict[Context, Judgement] = {}
        unusable: dict[Context, int] = {}
        share = self.comparison_alpha(workload)
        for context in contexts:
            raw, bad = self.log_ratios(workload, context, (old, new), metric)
            pairs[context], unusable[context] = self.by_start(raw), bad
            levels[context] = judge(
                list(pairs[context].values()),
                delta=measure.delta,
                alpha=share,
                lower_is_better=lower,
                unusable=bad,
                sequential=sequential,
            )
            if times and self.over(workload, context, (old, new)):
                levels[context] = Judgement(
                    len(pairs[context]), "over-timeout", 0, 0, 0, share, measure.delta, 0, True
                )
        left = tuple(
            context for context in contexts if times and self.over(workload, context, (old, new))
        )
        whole = [context for context in contexts if context not in left]
        overall = self.together(
            [pairs[one] for one in whole],
            self.comparison_alpha(workload, averaged=len(contexts)),
            lower,
            sum(unusable[one] for one in whole),
        )
        if metric not in JUDGED:
            levels = {one: replace(found, worded=False) for one, found in levels.items()}
            overall = replace(overall, worded=False)
        left_by = [
            (min(map(abs, ends)), max(map(abs, ends)))
            for _, *ends in self.left_behind(workload, new)
            if min(map(abs, ends)) > 0.25 * math.log1p(measure.delta) and ends[0] * ends[1] > 0
        ]
        if left_by and metric in JUDGED:
            sure, most = (max(ends) for ends in zip(*left_by, strict=True))
            overall = biased(overall, sure, most)
            levels = {context: biased(level, sure, most) for context, level in levels.items()}
        overall = contradicted(overall, levels, averaged=self.averaged(workload))
        return Judged(workload, metric, old, new, levels, overall, left)

    def reference(self, workload: str, new: str) -> str:
        """What a side is compared with: the first one, or the one that the workload names."""
        sides = self.sides(workload)
        named = self.plan.study.workload(workload).options.references.get(new, sides[0])
        return named if named in sides else sides[0]

    def left_behind(self, workload: str, new: str) -> Iterator[tuple[float, float, float]]:
        """Mean and interval, as logarithms, of what a new side of paired transactions and the first
        one leave for one another, which is recorded of the new side."""
        measure = self.plan.study.measure
        for name in LEFT_BEHIND if way_of(measure).concurrent else ():
            shares = [
                math.log(value)
                for context in self.contexts(workload)
                for value in self.values(workload, context, new, name).values()
                if value > 0
            ]
            found = judge(
                shares,
                delta=measure.delta,
                alpha=measure.alpha,
                lower_is_better=True,
                sequential=True,
            )
            mean = math.fsum(shares) / max(1, len(shares))
            early = math.isinf(always_valid(1.0, max(2, len(shares)), measure.alpha, 1))
            if found.reason in {"identical-pairs", "infinite-interval"}:
                yield (mean, -math.inf, math.inf) if early else (mean, mean, mean)
            elif not found.reason:
                yield found.mean, found.low, found.high

    def averaged(self, workload: str) -> bool:
        """Whether levels are amounts, servers or queries, over which a mean means something."""
        varied: dict[str, set[str]] = defaultdict(set)
        for factor, level in itertools.chain.from_iterable(self.contexts(workload)):
            varied[factor].add(level)
        amount = re.compile(r"[0-9.]+ *(%|[kKMGT]?i?B)?")
        return all(
            len(levels) < 2
            or factor in {"server", "query"}
            or all(amount.fullmatch(level) for level in levels)
            for factor, levels in varied.items()
        )

    def deviations(self, workload: str, metric: str, new: str) -> list[float]:
        """By how much d of each block lies above those of its levels, their mean."""
        old = self.sides(workload)[0]
        contexts = [
            one
            for one in self.contexts(workload)
            if metric != "query_seconds" or not self.over(workload, one, (old, new))
        ]
        pairs = [
            self.by_start(self.log_ratios(workload, context, (old, new), metric)[0])
            for context in contexts
        ]
        above = [{block: d - fmean(pair.values()) for block, d in pair.items()} for pair in pairs]
        blocks = sorted({block for pair in above for block in pair})
        return [fmean(pair[block] for pair in above if block in pair) for block in blocks]

    def together(
        self,
        pairs: Sequence[Mapping[int, float]],
        alpha: float,
        lower: bool,
        unusable: int = 0,
    ) -> Judgement:
        """The mean over several levels, block by block; only of blocks that have all of them."""
        measure = self.plan.study.measure
        blocks = set.intersection(*(set(pair) for pair in pairs)) if pairs else set()
        means = [math.fsum(pair[block] for pair in pairs) / len(pairs) for block in sorted(blocks)]
        found = judge(
            means,
            delta=measure.delta,
            alpha=alpha,
            lower_is_better=lower,
            unusable=unusable,
            sequential=measure.sequential is not None,
            levels=len(pairs),
        )
        if found.reason == "too-few-pairs" and any(len(pair) > 1 for pair in pairs):
            return Judgement(
                found.pairs, "incomplete-blocks", 0, 0, 0, alpha, measure.delta, 0, lower
            )
        return found

    def answers(self) -> Iterator[tuple[str, str]]:
        """Workload and new side of each contrast."""
        for workload in self.workloads():
            for new in self.sides(workload.name)[1:]:
                yield workload.name, new
