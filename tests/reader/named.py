"""What a number is by the text and the place that it stands at: of the plan, its trials, the machine.

A name is ``key place`` of the translation files, or ``place`` alone where it is the same in every
text; a key alone is a label, which its number follows. A new sentence whose number is a fact of the
campaign has its line here.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median

from teiten.kinds.probes.measurement import measurement_of
from teiten.model.plan import Context, PlannedTrial
from teiten.model.stacks import StackSamples
from teiten.model.trial import Outcome
from teiten.ways.registry import way_of
from tests.reader.campaign import JUDGED, Campaign
from tests.reader.directions import TAIL
from tests.reader.language import UNITS
from tests.reader.method import made_of
from tests.reader.plan_nodes import named_workers
from tests.reader.texts import spread

Named = dict[str, set[float]]
TWICE = 2.0
"""How many times as long a step takes with the partitions at which its time has doubled."""
FREE = (
    "discussion.meanwhile.(nothing|nothing-several|tiny.many) count",
    "root.functions-note compared",
    "query-group.needed pairs",  # foretold
    "claim.summary.(one|many) count",  # read with the tables of findings
)
"""Numbers that no rule gives: of differences that were looked at."""
OF_WHOLE = (
    "scaling.(knee|cores.knee).(interval|single)",
    "discussion.shape.(falling-interval|open-interval|below|above|within|is)",
    "chart.query-times.(bars|dots)",
    "root.(functions-note|no-difference|explained-more|explained-less|spread-more|spread-less)",
    *("taken.note", "paired.interval"),
)
"""Texts whose level of confidence is that of the study."""
BY_METHOD = {
    "table.probe-summary.note none": 0.01,
    "table.probe-summary.note small": 0.05,
    "table.probe-summary.note medium": 0.25,
    "chart.from-disk.note cliff": 0.05,
    "recommend.cliffs share": 0.05,
    "table.beside.note share": 0.05,
    "table.traces.note apart": 0.1,
    "recommend.cost-proportional within": 0.3,
    "scale-out.shapes linear": 0.25,
    "scale-out.shapes flat": 0.1,
    "table.rooms.note own": 8.0 * 2**20,
    "table.rooms.note part": 512.0,
}
"""What METHOD.md and the report of 2021 declare once for all campaigns."""
OF_EVENTS = {
    "replication": "design.replication.{source}",
    "noise-floor": "design.noise.text",
    "saturation": "saturation.(reached|not-reached)",
    "memory-limit": "(fact.memory-limit.checked|probe.memory-checked)",
}
"""By the kinds of events, the texts that tell what they recorded, by the names that it has there."""
TRIALS_SHOWN = 200
WIDEST = 100.0
"""The factor beyond which an interval has no ends in a sentence."""
SHARES = ("cpu_other_share", "pgbench_cpu_share", "cpu_steal_share")
NEAR = 1e-9
"""Logarithms of times that are as good as equal."""
SHOWN = 6
"""Of a list so many are named before the others are counted."""


def named_numbers(campaigns: Sequence[Campaign]) -> Named:
    """Of several campaigns the numbers of all."""
    together: Named = defaultdict(set)
    for campaign in campaigns:
        for name, numbers in _of(campaign).items():
            together[name] |= numbers
    return {**{each: set() for name in FREE for each in spread(name)}, **together}


def _of(campaign: Campaign) -> Named:
    known = campaign.further.get("named")
    if not isinstance(known, dict):
        every: Named = defaultdict(set)
        for facts in (
            _of_plan,
            _of_trials,
            _of_verdicts,
            _of_sweeps,
            _of_machine,
            _of_causes,
            _of_loads,
            _of_pairs,
            _of_probes,
            named_workers,
        ):
            for name, number in facts(campaign):
                for each in spread(name):
                    every[each].add(float(number))
        known = campaign.further["named"] = {**every, **made_of(campaign).named}
    return known


def _of_plan(campaign: Campaign) -> Iterator[tuple[str, float]]:
    plan, measure = campaign.plan, campaign.plan.study.measure
    yield from BY_METHOD.items()
    yield "delta", measure.delta
    yield "knee", TWICE
    yield "interval.(wide|sign-note) factor", WIDEST
    yield "sentence.(inconclusive|no-conclusion|unjudged)-wide factor", WIDEST
    yield "design.delta.text alpha", measure.alpha
    yield "design.blocks", measure.blocks or 0
    yield "design.trials", len(plan.trials)
    yield "design.seed", plan.seed
    yield "repeat.seed seed", plan.seed
    yield "procedure.check-disturbed share", measure.tolerated_share
    yield "procedure.check repeats", measure.repeats
    yield "procedure.settle seconds", measure.settle or 0.0
    yield "(design.duration.warmup|paired.procedure-warmup) seconds", measure.warmup or 0.0
    yield "procedure.(measure|slices) warmup", measure.warmup or 0.0
    yield "design.duration.slices slices", measure.slices
    yield "design.number.trimmed cut", measure.slices // 5  # at each end
    yield "(design.duration|procedure).slices slice", measure.slice_duration
    timed = "(design.duration.text|design.duration.slices|procedure.measure)"
    yield f"{timed} seconds", measure.duration or 0.0
    yield from _of_levels(campaign)
    yield "procedure.profile seconds", measure.flame_graph_window or 0.0
    if measure.sequential is not None:
        yield "design.blocks.(sequential|allotted|allotted-levels) most", measure.blocks or 0
        yield "design.blocks.sequential budget", measure.sequential.budget or 0
    for nodes in filter(str.isdigit, campaign.levels("nodes")):
        yield "scale-out.pays.(nodes nodes|fewer nodes|none most|possibly nodes)", float(nodes)
    yield from _of_data(campaign)
    blocks: dict[int, set[int]] = defaultdict(set)
    for trial in plan.trials:
        blocks[trial.restart].add(trial.block)
    yield "design.starts.shared pairs", max(map(len, blocks.values()))


def _of_data(campaign: Campaign) -> Iterator[tuple[str, float]]:
    probes = (len(getattr(workload.options, "probes", ())) for workload in campaign.workloads())
    yield "design.duration.probes count", sum(probes)
    for workload in campaign.workloads():
        unit = 2**20 if workload.data.kind == "probes" else 1  # told in MiB
        yield f"design.data.{workload.data.kind} scale", (workload.data.scale or 0) * unit
        fill: float | None = getattr(workload.data, "fillfactor", None)
        if fill is not None:
            yield f"design.data.{workload.data.kind} fillfactor", fill
        for option in ("runs", "timeout"):
            limit: float | None = getattr(workload.options, option, None)
            if limit is not None:
                yield f"(design.duration|procedure).queries {option}", limit


def _of_levels(campaign: Campaign) -> Iterator[tuple[str, float]]:
    """The level of confidence of what has the study's own, and of verdicts and their levels."""
    whole = 1 - campaign.plan.study.measure.alpha
    for text in OF_WHOLE:
        yield f"{text} confidence", whole
    for workload in campaign.workloads():
        levels = len(campaign.contexts(workload.name))
        alpha = campaign.comparison_alpha(workload.name, levels)
        yield "table.contrast.(note|note-sequential) confidence", 1 - alpha
        yield "table.contrast.level level", 1 - alpha / max(1, levels)
        for text in TAIL:
            yield f"{text} confidence", 1 - campaign.plan.study.measure.alpha / max(1, levels)


def _of_trials(campaign: Campaign) -> Iterator[tuple[str, float]]:
    trials = campaign.trials
    out = [trial for trial in trials if trial.outcome is not Outcome.COUNTED]
    measured = sum(trial.metrics.get("measured_seconds", 0.0) for trial in trials)
    if way_of(campaign.plan.study.measure).concurrent:
        measured /= 2  # of both sides at once
    yield "answer.cost.text attempts", len(trials)
    due = needed_trials(campaign) if campaign.plan.study.measure.sequential is not None else None
    every = {len(campaign.plan.trials)}, {len({each.block for each in campaign.plan.trials})}
    for place, counts in zip(("trials", "blocks"), due or every, strict=True):
        yield from ((f"answer.cost.text {place}", count) for count in counts)
    yield "answer.cost.text measured", measured
    yield "answer.cost.text wall", working_seconds(campaign)
    yield "answer.excluded.some.(one|many) count", len(out)
    yield "answer.excluded.some.(one|many) attempts", len(trials)
    lost = {trial.number for trial in trials} - campaign.counted.keys()
    yield "answer.excluded.lost.(one|many) count", len(lost)
    yield "(notice|comparison-notice).missing.(one|many) count", unended_trials(campaign)
    yield "(notice|comparison-notice).missing.(one|many) planned", len(campaign.plan.trials)
    yield "comparison.side-text counted", len(campaign.counted)
    yield "comparison.side-text ended", len(trials)
    checked = Counter(str(getattr(trial, "facts", {}).get("data_checksums")) for trial in trials)
    yield from (("fact.checksums.text count", count) for count in checked.values())
    yield "table.trials.more count", len(trials)
    yield "table.trials.more shown", TRIALS_SHOWN
    for metric in SHARES:
        shares = [
            trial.metrics[metric]
            for trial in campaign.counted.values()
            if trial.metrics.get(metric, -1.0) >= 0
        ]
        for place, of in (("least", min), ("most", max), ("typical", median)):
            if shares:
                yield f"caution-measured.{metric} {place}", of(shares)
                yield f"caution-measured.alone.{metric} share", of(shares)
                if metric == SHARES[0]:
                    yield f"answer.load.text {place}", of(shares)
    yield from _observed(campaign)


def problem_counts(campaign: Campaign) -> Counter[str]:
    """How many trials do not count for each reason."""
    return Counter(
        code
        for trial in campaign.trials
        if trial.outcome is not Outcome.COUNTED
        for code in {problem.code for problem in getattr(trial, "problems", ())}
    )


def _observed(campaign: Campaign) -> Iterator[tuple[str, float]]:
    """The seconds of each side under load at each level, which is its part of those of its starts,
    a third of them, and those of the longest start."""
    shared = campaign.plan.study.sides_of_a_start or 1
    caution = "caution.rare-stalls-unseen.what"
    for trials in campaign.of_sides.values():
        held = {block: trial.metrics.get("measured_seconds") for block, trial in trials}
        seconds = [each for each in held.values() if each is not None]
        if seconds:
            yield f"{caution} observed", sum(seconds) / shared
            yield f"{caution} rare", sum(seconds) / shared / 3
            yield f"{caution} longest", max(seconds)


def _of_verdicts(campaign: Campaign) -> Iterator[tuple[str, float]]:
    """How many levels lie on each side of equality, and how many are open."""
    for workload, new in campaign.answers() if not campaign.by_hand else ():
        for metric in judged_metrics(campaign, workload):
            judged = campaign.judged(workload, metric, new)
            for step in (100, 1000):  # told is the next greater number
                seen = min(judged.overall.detectable, 1e6) * step
                yield "sentence.detectable.(one|many) percent", math.ceil(seen - 1e-9) / step
            known = [level for level in judged.levels.values() if not level.reason]
            signs = Counter(int(level.low > 0) - int(level.high < 0) for level in known)
            for sign, word in ((1, "above"), (-1, "below")):
                part = f"discussion.counted-part.(|last-){word}-(number|time) count"
                yield part, signs[sign]
            yield "discussion.counted-part.last-rest count", signs[0]
            yield "discussion.counted(|-none)(|-several) count", len(known)
        levels = campaign.judged(workload, judged_metrics(campaign, workload)[0], new).levels
        words = Counter(level.word for level in levels.values())
        yield "answer.undecided-many(|-mean) count", words["inconclusive"]
        yield "answer.undecided-many(|-mean) of", len(levels)
        yield "query-count.sentence(|-cases) count", len(levels)
        yield "query-group.more count", len(levels) - SHOWN


def _of_sweeps(campaign: Campaign) -> Iterator[tuple[str, float]]:
    """Of levels that are numbers: the first, those with the least time, and the last that gains."""
    for workload in campaign.workloads():
        levels = campaign.sides(workload.name)
        if workload.kind != "queries" or not all(level.isdigit() for level in levels):
            continue
        yield (
            "(sweep.fastest|sweep.fastest-first|table.sweep.note|chart.sweep.note) first",
            float(levels[0]),
        )
        alpha = campaign.comparison_alpha(workload.name)
        yield "table.sweep.note confidence", 1 - alpha
        for context in campaign.contexts(workload.name):
            for level in least_of(sweep_ratios(campaign, workload.name, context)):
                yield "sweep.fastest(|-first) level", float(level)
            gains = [
                new
                for old, new in itertools.pairwise(levels)
                if campaign.together(
                    [_ratios(campaign, workload.name, context, old, new)], alpha, lower=True
                ).word
                == "faster"
            ]
            for level in gains[-1:]:
                yield "sweep.(last-gain|gain-to-the-end) level", float(level)


def sweep_ratios(campaign: Campaign, workload: str, context: Context) -> dict[str, float]:
    """ln of each level's time by the first level's, by the pairs of a query that have both."""
    first, *others = campaign.sides(workload)
    return {
        new: math.fsum(d.values()) / len(d)
        for new in others
        if (d := _ratios(campaign, workload, context, first, new))
    }


def least_of(ratios: Mapping[str, float]) -> set[str]:
    """The levels with the least time, and those that are as good as equal to them."""
    return {level for level, ratio in ratios.items() if ratio <= min(ratios.values()) + NEAR}


def _ratios(
    campaign: Campaign, workload: str, context: Context, old: str, new: str
) -> dict[int, float]:
    """Of a query at two levels; none where one of them exceeded its time limit."""
    if campaign.over(workload, context, (old, new)):
        return {}
    return campaign.log_ratios(workload, context, (old, new), "query_seconds")[0]


def judged_metrics(campaign: Campaign, workload: str) -> list[str]:
    """Those that the trials of a workload have, the judged one first."""
    held = {
        name
        for trial in campaign.planned(workload)
        if trial.number in campaign.counted
        for name in campaign.counted[trial.number].metrics
    }
    judged = [name for name in JUDGED if name in held]
    return [*judged, *(name for name in ("latency_mean",) if name in held)] or ["tps"]


def _of_pairs(campaign: Campaign) -> Iterator[tuple[str, float]]:
    """How many times as long as the typical transaction the mean one of a side takes, and the highest
    median as the first."""
    for workload in campaign.workloads():
        for context in campaign.contexts(workload.name):
            for side in campaign.sides(workload.name):
                ratios = campaign.values(workload.name, context, side, "mean_by_typical")
                if ratios:
                    yield "paired.differ-by (times|old_times)", median(ratios.values())
            tps = [
                median(values.values())
                for side in campaign.sides(workload.name)
                if (values := campaign.values(workload.name, context, side, "tps"))
            ]
            if tps and tps[0] > 0:
                yield "placement.best times", max(tps) / tps[0]


def _of_machine(campaign: Campaign) -> Iterator[tuple[str, float]]:
    """What cautions and events recorded, by the names that they have there."""
    cores = campaign.facts.cpu.logical
    yield "discussion.shape.(below|above|within|is) cores", cores
    yield "fact.memory.text total", campaign.facts.memory.total
    yield "fact.memory.text available", campaign.facts.memory.available
    yield "fact.processors.text usable", cores
    yield "fact.processors.text online", campaign.facts.cpu.online
    yield "repeat.kernel count", len(campaign.facts.kernel_parameters)
    yield from _of_memory(campaign)
    for caution in campaign.cautions:
        for name, value in caution.values:
            said = re.fullmatch(r"(\d[\d,]*(?:\.\d+)?) ?(\w*)", value)
            if said and said[2] in {"", *UNITS}:
                number = float(said[1].replace(",", "")) / UNITS.get(said[2], 1.0)
                yield f"caution.{caution.code}.(what|advice) {name}", number
    for event in campaign.events:
        yield from _of_event(event.kind, event.detail)


def _of_causes(campaign: Campaign) -> Iterator[tuple[str, float]]:
    """Samples of call stacks."""
    windows: dict[object, list[list[StackSamples]]] = defaultdict(list)
    for (workload, context, _), trials in campaign.of_sides.items():
        every = (getattr(trial, "stack_samples", None) for _, trial in trials)
        sampled = [each for each in every if each is not None]
        if sampled:
            windows[workload, context].append(sampled)
    for sides in windows.values():
        yield from itertools.chain.from_iterable(map(_of_windows, sides))
        yield "(flame.difference|root.functions)-note pairs", min(map(len, sides))


def _of_loads(campaign: Campaign) -> Iterator[tuple[str, float]]:
    """How much of the processors was left at a load, and which share of backends ran."""
    ceilings = campaign.facts.ceilings
    if ceilings is not None:
        yield "bottleneck.evidence.cores value", ceilings.cores
    for trials in campaign.of_sides.values():
        waits: dict[str, float] = defaultdict(float)
        for each in (each for _, trial in trials for each in getattr(trial, "series", ())):
            for event, column in each.columns.items() if each.source == "waits" else ():
                waits[event] += float(column.sum()) * (not event.startswith("Client:"))
        if waits:  # the mean of all samples is near to that of the trials
            share = waits["CPU"] / max(sum(waits.values()), 1e-9)
            near = (share + off for off in (-0.005, 0.0, 0.005))
            yield from (("bottleneck.evidence.waits_running value", each) for each in near)
        busy = [
            trial.metrics["cpu_user_share"] + trial.metrics["cpu_system_share"]
            for _, trial in trials
            if "cpu_user_share" in trial.metrics
        ]
        if ceilings is not None and busy:
            idle = 1 - median(busy) * campaign.facts.cpu.logical / ceilings.cores
            yield "bottleneck.evidence.idle_share value", max(0.0, idle)


def _of_probes(campaign: Campaign) -> Iterator[tuple[str, float]]:
    """How many statements, and checkpoints, the chart of a probe has, and how many probes there are."""
    drawn: Counter[object] = Counter()
    for (workload, context, _), trials in campaign.of_sides.items():
        for measured in (measurement_of(getattr(trial, "facts", {})) for _, trial in trials):
            if measured is not None:
                drawn[workload, context] += sum(len(step.statements) for step in measured.measured)
                drawn[workload, context] += len(measured.checkpoints)
    yield from (("chart.distribution.note count", count) for count in drawn.values())
    yield "recommend.open-many of", len(drawn)
    shared = campaign.plan.study.measure.alpha / max(1, campaign.comparisons_of_probes)
    tables = "table.(probe-pairs.note|probe-summary.intervals|versions.note)"
    for texts in (tables, "effect-size.(sentence|undecided)"):
        yield f"{texts} count", campaign.comparisons_of_probes
        yield f"{texts} confidence", 1 - shared


def _of_windows(sampled: Sequence[StackSamples]) -> Iterator[tuple[str, float]]:
    windows = [window.stacks for window in sampled]
    total = sum(sum(stacks.values()) for stacks in windows)
    counted = [window.counters.get("cpu_seconds", 0) if window.kernel else 0 for window in sampled]
    seconds = [
        cpu or sum(window.stacks.values()) / window.frequency
        for window, cpu in zip(sampled, counted, strict=True)
    ]
    costs = [cpu / window.transactions for window, cpu in zip(sampled, seconds, strict=True)]
    last = (
        (str(stack).split(";")[-1], number)
        for stacks in windows
        for stack, number in stacks.items()
    )
    nameless = sum(
        number
        for name, number in last
        if name.startswith("[") and not name.endswith("_[k]") and name != "[vdso]"
    )
    text = "flame.side-note(|-user)"
    yield f"{text} windows", len(windows)
    yield f"{text} cost", fmean(costs)
    yield f"{text} samples", total
    yield f"{text} unresolved", nameless / max(1, total)


def _of_memory(campaign: Campaign) -> Iterator[tuple[str, float]]:
    """Each limit of trials, and the most that a trial used below it."""
    limits = {trial.number: trial.memory_limit for trial in campaign.plan.trials}
    for limit in {limit for limit in limits.values() if limit is not None}:
        yield "fact.memory-limit.text limit", limit
        peaks = [
            peak
            for trial in campaign.trials
            if limits[trial.number] == limit
            and (peak := getattr(trial, "facts", {}).get("memory", {}).get("peak")) is not None
        ]
        if peaks:
            yield "fact.memory-limit.peak peak", max(peaks)


def _of_event(kind: str, detail: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    texts = OF_EVENTS.get(kind, "").format(source=detail.get("source"))
    further = {"seconds": detail.get("duration"), "version": detail.get("cgroup")}
    for name, value in {**further, **detail}.items():
        if texts and isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{texts} {name}", value


# --- counts that take more than a line ----------------------------------------------------------


def working_seconds(campaign: Campaign) -> float:
    """From the start to the last thing that happened, without the time between sessions."""
    begins = {"campaign-started", "resumed"}
    moments = [(campaign.created_at, False)]
    moments += [(event.at, event.kind in begins) for event in campaign.events]
    moments += [(trial.finished_at, False) for trial in campaign.trials]
    moments.sort()
    return sum(
        later - before for (before, _), (later, new) in itertools.pairwise(moments) if not new
    )


def unended_trials(campaign: Campaign) -> int:
    """Those that do not count and may still run. A comparison is repeated as a whole: what one of
    its sides has been tried beyond, the others are not tried again for."""
    tries = Counter(trial.number for trial in campaign.trials)
    attempts = 1 + campaign.plan.study.measure.repeats
    rounds: Counter[tuple[object, ...]] = Counter()
    for trial in campaign.plan.trials:
        key = _comparison(trial, campaign.contrast)
        rounds[key] = max(rounds[key], tries[trial.number])
    unended = 0
    for trial in campaign.plan.trials:
        had = max(1, rounds[_comparison(trial, campaign.contrast)])
        following = had + 1 if tries[trial.number] == had else had
        unended += trial.number not in campaign.counted and following <= attempts
    return unended


def _comparison(trial: PlannedTrial, contrast: str) -> tuple[object, ...]:
    others = tuple(pair for pair in trial.cell.levels if pair[0] != contrast)
    return trial.block, trial.cell.workload, others


def needed_trials(campaign: Campaign) -> tuple[set[int], set[int]]:
    """Planned trials and blocks that a sequential campaign does not do without: those that ran, and
    those of any of its comparisons that are not decided yet."""
    tried = {trial.number for trial in campaign.trials}
    ran = [trial for trial in campaign.plan.trials if trial.number in tried]
    left: dict[object, list[PlannedTrial]] = defaultdict(list)
    for trial in campaign.plan.trials:
        if trial.number not in tried:
            left[trial.cell.workload, trial.cell.context(campaign.contrast)].append(trial)
    trials, blocks = set(), set()
    for count in range(len(left) + 1):
        for chosen in itertools.combinations(left.values(), count):
            due = [*ran, *itertools.chain.from_iterable(chosen)]
            trials.add(len(due))
            blocks.add(len({trial.block for trial in due}))
    return trials, blocks
