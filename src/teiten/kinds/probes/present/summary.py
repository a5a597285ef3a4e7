"""The summary of the report: probe by effect and winner, from declared thresholds.

The answer where one server was measured as it is, and nothing was put beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.kinds.probes.model import probes_of
from teiten.kinds.probes.present.tables import verdict_said
from teiten.kinds.probes.present.units import (
    MICROSECONDS,
    confidence,
    interval,
    said_percent,
    unit_for,
)
from teiten.kinds.probes.results import EffectFound, ProbeResult, ProbesFound, probes_found
from teiten.kinds.probes.thresholds import MEDIUM_BELOW, NONE_WITHIN, SMALL_BELOW
from teiten.model.text import joined_sentences
from teiten.report.blocks import Block, Items, Text
from teiten.report.effects import confidence_percent, plain_percent
from teiten.report.numbers import NOTHING, bytes_text
from teiten.report.sentences import verdict_kind
from teiten.report.tables import Column, Row, Table, TableCell
from teiten.report.view.kit import Kit


def summary_table(kit: Kit, name: str, found: Sequence[ProbeResult], memory: str) -> Table | None:
    """None where no probe has two sides."""
    rows = tuple(row for one in found for row in _row(kit, one))
    if not rows:
        return None
    keys = ("probe", "effect", "winner", "compared", "verdict", "longer", "interval", "of-measure")
    numeric = ("longer", "interval", "of-measure")
    t = kit.t
    return Table(
        name,
        t("table.probe-summary.caption", factor=kit.names.factor(kit.study.contrast)),
        tuple(Column(t(f"table.probe-summary.{key}"), numeric=key in numeric) for key in keys),
        rows,
        note=joined_sentences(
            (thresholds_text(kit), _measures(kit, found), _intervals(kit), memory)
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


def _measures(kit: Kit, found: Sequence[ProbeResult]) -> str:
    """Say what effects are measured by, with its time."""
    said = []
    for of_checkpoint in (False, True):
        times = {
            one.effect.measure
            for one in found
            if one.effect is not None
            and one.effect.measure is not None
            and one.effect.of_checkpoint is of_checkpoint
        }
        if times:
            unit = unit_for(times)
            key = "checkpoint" if of_checkpoint else "disk"
            ends = {"low": unit.text(min(times)), "high": unit.text(max(times))}
            some = kit.t("interval.plain", **ends) if len(times) > 1 else ends["low"]
            said.append(kit.t(f"table.probe-summary.by-{key}", time=unit.with_name(some)))
    return joined_sentences(said)


def effect_word(kit: Kit, effect: EffectFound) -> str:
    """``small``; ``not decided (none to small)``."""
    if effect.size is not None:
        return kit.t(f"effect-size.{effect.size.value}")
    ends = (kit.t(f"effect-size.{one.value}") for one in (effect.least, effect.most))
    least, most = ends
    return kit.t("effect-size.between", least=least, most=most)


def winners_text(kit: Kit, found: ProbeResult) -> str:
    """Which size wins; all, or none where nothing was decided."""
    effect = found.effect
    if effect is None or not effect.winners:
        return kit.t("winner.undecided")
    if len(effect.winners) == len(found.sides):
        return kit.t("winner.all")
    return kit.t("list.separator").join(kit.short(winner) for winner in effect.winners)


def probe_name(kit: Kit, found: ProbeResult) -> str:
    """Where the context was said before."""
    return kit.t.of(probes_of(kit.study.workload(found.workload)).probe(found.probe).title)


def probe_title(kit: Kit, found: ProbeResult) -> str:
    """With the levels of what else is varied."""
    title, others = probe_name(kit, found), context_text(kit, found.context)
    return kit.t("probe.title", title=title, context=others) if others else title


def context_text(kit: Kit, context: tuple[tuple[str, str], ...]) -> str:
    """The levels of what is varied beside the probe; empty where nothing is."""
    varied = {factor.name for factor in kit.study.factors if len(factor.levels) > 1}
    told = tuple(pair for pair in context if pair[0] in varied and pair[0] != "probe")
    return kit.names.context(told) if told else ""


def _row(kit: Kit, found: ProbeResult) -> Iterator[Row]:
    effect = found.effect
    if effect is None:
        return
    added = effect.added
    share = None if effect.measure is None else added.mean / effect.measure
    yield (
        TableCell(probe_title(kit, found)),
        TableCell(effect_word(kit, effect)),
        TableCell(winners_text(kit, found)),
        TableCell(_compared(kit, effect)),
        TableCell(
            verdict_said(kit, effect.verdict), kind=f"verdict {verdict_kind(effect.verdict)}"
        ),
        MICROSECONDS.estimate_cell(added),
        TableCell(interval(kit.t, added, MICROSECONDS.factor), added.low),
        TableCell(NOTHING if share is None else said_percent(kit.t, share), share),
    )


def _compared(kit: Kit, effect: EffectFound) -> str:
    return kit.t("contrast.sides", new=kit.short(effect.worst), old=kit.short(effect.best))


def _intervals(kit: Kit) -> str:
    """How sure the intervals are."""
    count = probes_found(kit.analysis).comparisons
    return kit.t(
        "table.probe-summary.intervals",
        confidence=confidence_percent(kit.t, 1 - kit.study.measure.alpha / count),
        count=count,
    )


def effect_sentence(kit: Kit, found: ProbeResult) -> str:
    """Write the sentence on the effect that stands above a probe's results; empty without one."""
    effect = found.effect
    if effect is None:
        return ""
    values = {
        "effect": effect_word(kit, effect),
        "winner": winners_text(kit, found),
        "worst": kit.short(effect.worst),
        "best": kit.short(effect.best),
        "compared": _compared(kit, effect),
        "longer": MICROSECONDS.with_name(MICROSECONDS.estimate(effect.added)),
        "interval": interval(kit.t, effect.added, MICROSECONDS.factor),
        "verdict": verdict_said(kit, effect.verdict),
    }
    low = effect.added.low
    key = "without" if low is None else "sentence" if low > 0 else "undecided"
    return kit.t(f"effect-size.{key}", **values)


def only_side(kit: Kit) -> str | None:
    """The level of what is contrasted, where there is but one."""
    factor = kit.study.factor(kit.study.contrast)
    return factor.levels[0] if factor is not None and len(factor.levels) == 1 else None


def of_one_side(kit: Kit, found: ProbesFound, side: str) -> Iterator[Block]:
    """Say that nothing was compared, and list each probe's number."""
    sizes = {each.shared_buffers for result in found.results for each in result.sides}
    words = {"server": side, "size": kit.t("list.separator").join(map(bytes_text, sorted(sizes)))}
    yield Text(kit.t("probe.alone" if sizes else "probe.alone-nothing", **words))
    yield Items(tuple(said for result in found.results for said in _number(kit, result)))


def _number(kit: Kit, found: ProbeResult) -> Iterator[str]:
    for side in found.sides:
        number = side.number
        if number is None:
            continue
        unit = unit_for((number.mean,))
        values = {
            "probe": probe_title(kit, found),
            "time": unit.with_name(unit.estimate(number)),
            "trials": kit.t.plural("probe.alone-trials", side.trials),
        }
        if number.low is None:
            yield kit.t("probe.alone-number", **values)
            continue
        interval = unit.interval(kit.t, number)
        yield kit.t("probe.alone-interval", confidence=confidence(kit), interval=interval, **values)
