"""Paired transactions in a report besides throughput: typical and slow ones, processor time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, LevelResult
from teiten.analysis.model.verdict import CarryOver, Interval
from teiten.kinds.pgbench.metrics import LATENCY_TYPICAL, MEAN_BY_TYPICAL, TPS
from teiten.kinds.pgbench.present.groups import tail_values
from teiten.kinds.pgbench.results import pgbench_found
from teiten.model.metrics import CPU_PER_TRANSACTION
from teiten.model.plan import Context
from teiten.model.units import Share
from teiten.report.blocks import Block, Heading, Items, Text
from teiten.report.effects import (
    change,
    confidence_percent,
    interval_text,
    percent,
    ratio_text,
)
from teiten.report.names import Names
from teiten.report.numbers import NOTHING, significant
from teiten.report.sentences import in_percent, signed
from teiten.report.tables import TableCell
from teiten.report.texts import Texts
from teiten.report.view.contrasts import Judged
from teiten.report.view.kit import Kit
from teiten.ways.registry import ways_by_clients


def paired_procedure(kit: Kit) -> str:
    """How clients alternate, by the way of each number of clients."""
    ways = ways_by_clients(kit.analysis.plan)
    in_step = [str(clients) for clients, way in ways.items() if way.in_step]
    name = "procedure-in-step" if len(in_step) == len(ways) else "procedure"
    sentence = kit.t(f"paired.{name}", warmup=warmup_text(kit, "paired.procedure-warmup"))
    if 0 < len(in_step) < len(ways):
        sentence += kit.t("paired.procedure-mixed", clients=kit.t("list.separator").join(in_step))
    return sentence


def warmup_text(kit: Kit, key: str) -> str:
    """The part of a sentence about the warm-up; empty without one."""
    seconds = kit.study.measure.warmup
    return kit.t(key, seconds=kit.seconds(seconds)) if seconds else ""


def further_numbers(
    t: Texts, names: Names, analysis: CampaignAnalysis, contrast: ContrastResult
) -> str:
    """Sentences after that on the throughput of paired transactions: on the typical transaction and
    on processor time. Empty for classic trials, and where throughput has no number over all levels:
    what forbids one, as what the sides leave behind for each other, forbids these too."""
    if contrast.overall.effect is None:
        return ""
    return of_the_typical(t, names, analysis, contrast) + _of_the_cpu(t, analysis, contrast)


def _of_the_cpu(t: Texts, analysis: CampaignAnalysis, contrast: ContrastResult) -> str:
    witness = analysis.cpu_witness(contrast)
    if witness is None:
        return ""
    sentence = t("paired.cpu", speed=_speed(t, witness.speed))
    return sentence + t("paired.cpu-parts") if witness.agrees is False else sentence


def cpu_column(kit: Kit, contrast: ContrastResult, judged: Judged) -> Judged | None:
    """The table with processor time per transaction beside the result; None where there is none."""
    cpu = _by_metric(kit.analysis, contrast).get(CPU_PER_TRANSACTION.name)
    if cpu is None:
        return None
    effects = {level.context: level.verdict.effect for level in cpu.levels}

    def used(level: LevelResult | None) -> TableCell:
        effect = cpu.overall.effect if level is None else effects.get(level.context)
        if effect is None:
            return TableCell(NOTHING)
        ratio, interval = ratio_text(effect), interval_text(kit.t, effect)
        return TableCell(kit.t.aside(ratio, interval), effect.ratio)

    return replace(judged, further=used, further_title=kit.t("paired.cpu-column"))


def of_the_typical(
    t: Texts, names: Names, analysis: CampaignAnalysis, contrast: ContrastResult
) -> str:
    """After the sentence on the throughput; empty for classic trials, and without a verdict."""
    beside = _by_metric(analysis, contrast)
    typical, by_mean = beside.get(LATENCY_TYPICAL.name), beside.get(MEAN_BY_TYPICAL.name)
    if typical is None or by_mean is None or typical.overall.effect is None:
        return ""
    speed = _speed(t, typical.overall.effect.inverse)
    differs = by_mean.overall.effect
    if differs is None or differs.low <= 1 <= differs.high:
        return t("paired.agree", typical=speed)
    if len(by_mean.levels) > 1:
        return t("paired.differ", typical=speed)
    level = by_mean.levels[0]
    return t(
        "paired.differ-by",
        typical=speed,
        times=significant(level.new_median),
        old_times=significant(level.old_median),
        **_names(names, contrast),
    ) + _tail(t, names, analysis, contrast, level.context)


def _by_metric(analysis: CampaignAnalysis, contrast: ContrastResult) -> dict[str, ContrastResult]:
    """The contrasts of all metrics between the same sides of the same workload."""
    return {known.metric.name: known for known in analysis.contrasts if known.key == contrast.key}


def _names(names: Names, contrast: ContrastResult) -> dict[str, str]:
    return {"old": names.side(contrast.old).long, "new": names.side(contrast.new).long}


def _tail(
    t: Texts, names: Names, analysis: CampaignAnalysis, contrast: ContrastResult, context: Context
) -> str:
    """Whose slow transactions are slower at a level, in milliseconds; empty where not known."""
    for tail in pgbench_found(analysis).tails:
        for level in tail.levels if tail.key == contrast.key else ():
            if level.context == context and level.change.low is not None:
                longer = "longer" if level.change.mean > 0 else "shorter"
                decided = longer if level.change.certain else "alike"
                values = tail_values(t, analysis, tail, level)
                return t(f"paired.tail-{decided}", **values, **_names(names, contrast))
    return ""


def _speed(t: Texts, effect: Interval) -> str:
    """A ratio of speeds in words."""
    confidence = confidence_percent(t, effect.confidence)
    if effect.low <= 1 <= effect.high:
        return t("paired.typical", confidence=confidence, **signed(t, effect))
    direction, values = in_percent(t, effect, TPS)
    return t(f"paired.typical-{direction}", confidence=confidence, **values)


def carry_over(kit: Kit, workload: str) -> Iterator[Block]:
    """The section on carry-over between the sides; nothing where it cannot be estimated."""
    of_all = pgbench_found(kit.analysis).carry_over
    estimates = [carry_over for name, carry_over in of_all if name == workload]
    if not estimates:
        return
    t = kit.t
    sentences = [
        t(
            "paired.left",
            number=t(f"paired.number.{carry_over.metric}"),
            new=kit.names.side(carry_over.new).long,
            share=change(t, math.exp(carry_over.share), 2),
            interval=_interval(t, carry_over, kit.study.measure.alpha),
            limit=percent(t, math.expm1(carry_over.limit), 2),
        )
        for carry_over in estimates
    ]
    yield Heading(4, t("paired.left-title"))
    yield Items(tuple(sentences), "findings")
    yield Text(t("paired.left-note"), "note")


def _interval(t: Texts, estimate: CarryOver, alpha: Share) -> str:
    if math.isinf(estimate.high - estimate.low):
        return t("paired.no-interval")
    low, high = change(t, math.exp(estimate.low), 2), change(t, math.exp(estimate.high), 2)
    confidence = confidence_percent(t, 1 - alpha)
    return t("paired.interval", confidence=confidence, low=low, high=high)
