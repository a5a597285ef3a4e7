"""The summary of the report: probe by effect and winner, from declared thresholds.

The answer where one server was measured as it is, and nothing was put beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.kinds.probes.model import PROBE, probes_of
from teiten.kinds.probes.present.units import (
    MICROSECONDS,
    columns_of,
    confidence,
    said_percent,
    shared_level,
    unit_for,
)
from teiten.kinds.probes.results import EffectFound, ProbeResult, ProbesFound, probes_found
from teiten.kinds.probes.thresholds import MEDIUM_BELOW, NONE_WITHIN, SMALL_BELOW
from teiten.model.text import joined_sentences
from teiten.report.blocks import Block, Items, Text
from teiten.report.effects import plain_percent
from teiten.report.numbers import NOTHING, bytes_text
from teiten.report.tables import Row, Table, TableCell
from teiten.report.view.contrasts import verdict_cell, verdict_text
from teiten.report.view.kit import Kit


def summary_table(kit: Kit, name: str, results: Sequence[ProbeResult], memory: str) -> Table | None:
    """None where no probe has two sides."""
    rows = tuple(row for result in results for row in _row(kit, result))
    if not rows:
        return None
    keys = (
        *("probe", "compared", "verdict", "winner"),
        *("longer", "interval", "of-measure", "effect"),
    )
    words = ("probe", "compared", "verdict", "winner", "effect")
    t = kit.t
    return Table(
        name,
        t("table.probe-summary.caption", factor=kit.names.factor(kit.study.contrast)),
        columns_of(t, "table.probe-summary", keys, words),
        rows,
        note=joined_sentences(
            (
                thresholds_text(kit),
                _measures(kit, results),
                t("table.probe-summary.intervals", **shared_level(kit)),
                memory,
            )
        ),
        sortable=False,
    )


def thresholds_text(kit: Kit) -> str:
    """The declared ones."""
    shares = {
        "small": plain_percent(kit.t, SMALL_BELOW),
        "medium": plain_percent(kit.t, MEDIUM_BELOW),
        "none": plain_percent(kit.t, NONE_WITHIN),
        "delta": plain_percent(kit.t, kit.study.measure.delta),
    }
    return kit.t("table.probe-summary.note", **shares)


def _measures(kit: Kit, results: Sequence[ProbeResult]) -> str:
    """Say what effects are measured by, with its time."""
    sentences = []
    for of_checkpoint in (False, True):
        times = {
            result.effect.measure
            for result in results
            if result.effect is not None
            and result.effect.measure is not None
            and result.effect.of_checkpoint is of_checkpoint
        }
        if times:
            unit = unit_for(times)
            key = "checkpoint" if of_checkpoint else "disk"
            ends = {"low": unit.text(min(times)), "high": unit.text(max(times))}
            some = kit.t("interval.plain", **ends) if len(times) > 1 else ends["low"]
            sentences.append(kit.t(f"table.probe-summary.by-{key}", time=unit.with_name(some)))
    return joined_sentences(sentences)


def effect_word(kit: Kit, effect: EffectFound) -> str:
    """``small``; ``not decided (none to small)``."""
    if effect.size is not None:
        return kit.t(f"effect-size.{effect.size.value}")
    ends = (kit.t(f"effect-size.{size.value}") for size in (effect.least, effect.most))
    least, most = ends
    return kit.t("effect-size.between", least=least, most=most)


def winners_text(kit: Kit, result: ProbeResult) -> str:
    """Which size wins; all, or none where nothing was decided."""
    effect = result.effect
    if effect is None or not effect.winners:
        return kit.t("winner.undecided")
    if len(effect.winners) == len(result.sides):
        return kit.t("winner.all")
    return kit.t("list.separator").join(kit.short(winner) for winner in effect.winners)


def probe_name(kit: Kit, result: ProbeResult) -> str:
    """Name the probe where the context was said before; with its workload where several have it."""
    title = kit.t.of(probes_of(kit.study.workload(result.workload)).probe(result.probe).title)
    results = probes_found(kit.analysis).results
    if len({alike.workload for alike in results if alike.probe == result.probe}) < 2:
        return title
    return kit.t("probe.title", title=title, context=kit.names.workload(result.workload))


def probe_title(kit: Kit, result: ProbeResult) -> str:
    """With the levels of what else is varied."""
    title, others = probe_name(kit, result), context_text(kit, result.context)
    return kit.t("probe.title", title=title, context=others) if others else title


def context_text(kit: Kit, context: tuple[tuple[str, str], ...]) -> str:
    """The levels of what is varied beside the probe; empty where nothing is."""
    return kit.names.varied_levels(context, PROBE)


def _row(kit: Kit, result: ProbeResult) -> Iterator[Row]:
    effect = result.effect
    if effect is None:
        return
    added = effect.added
    share = None if effect.measure is None else added.mean / effect.measure
    yield (
        TableCell(probe_title(kit, result)),
        TableCell(_compared(kit, effect)),
        verdict_cell(kit.t, effect.verdict, verdict_text(kit.t, effect.verdict)),
        TableCell(winners_text(kit, result)),
        MICROSECONDS.estimate_cell(added),
        MICROSECONDS.interval_cell(kit.t, added),
        TableCell(NOTHING if share is None else said_percent(kit.t, share), share),
        TableCell(effect_word(kit, effect)),
    )


def _compared(kit: Kit, effect: EffectFound) -> str:
    return kit.t("contrast.sides", new=kit.short(effect.worst), old=kit.short(effect.best))


def effect_sentence(kit: Kit, result: ProbeResult) -> str:
    """Write the sentence on the effect that stands above a probe's results; empty without one."""
    effect = result.effect
    if effect is None:
        return ""
    values = {
        "effect": effect_word(kit, effect),
        "winner": winners_text(kit, result),
        "worst": kit.short(effect.worst),
        "best": kit.short(effect.best),
        "compared": _compared(kit, effect),
        "longer": MICROSECONDS.with_name(MICROSECONDS.estimate(effect.added)),
        "interval": MICROSECONDS.interval(kit.t, effect.added),
        "verdict": verdict_text(kit.t, effect.verdict),
    }
    low = effect.added.low
    key = "without" if low is None else "sentence" if low > 0 else "undecided"
    return kit.t(f"effect-size.{key}", **values, **shared_level(kit))


def only_side(kit: Kit) -> str | None:
    """The level of what is contrasted, where there is but one."""
    levels = kit.study.contrasted_levels
    return levels[0] if len(levels) == 1 else None


def of_one_side(kit: Kit, findings: ProbesFound, side: str) -> Iterator[Block]:
    """Say that nothing was compared, and list each probe's number."""
    sizes = {probed.shared_buffers for result in findings.results for probed in result.sides}
    words = {"server": side, "size": kit.t("list.separator").join(map(bytes_text, sorted(sizes)))}
    yield Text(kit.t("probe.alone" if sizes else "probe.alone-nothing", **words))
    yield Items(tuple(sentence for result in findings.results for sentence in _number(kit, result)))


def _number(kit: Kit, result: ProbeResult) -> Iterator[str]:
    for side in result.sides:
        number = side.number
        if number is None:
            continue
        unit = unit_for((number.mean,))
        values = {
            "probe": probe_title(kit, result),
            "time": unit.with_name(unit.estimate(number)),
            "trials": kit.t.plural("probe.alone-trials", side.trials),
        }
        if number.low is None:
            yield kit.t("probe.alone-number", **values)
            continue
        interval = unit.interval(kit.t, number)
        yield kit.t("probe.alone-interval", confidence=confidence(kit), interval=interval, **values)
