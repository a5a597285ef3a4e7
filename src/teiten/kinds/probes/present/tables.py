"""Tables of what each probe measured, side by side: sides against one another, accesses, sweeps,
clients, checkpoints; and the summary: probe by effect and winner, from declared thresholds.

The answer where one server was measured as it is, and nothing was put beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.analysis.model.verdict import Estimate
from teiten.kinds.probes.measurement import PageOrigin
from teiten.kinds.probes.model import PROBE, probes_of
from teiten.kinds.probes.present.units import (
    MICROSECONDS,
    ProbeTimeUnit,
    clients_steps,
    estimate_text,
    interval,
    percent_cell,
    said_percent,
    shared_level,
    side_cell,
    size_cell,
    unit_for,
)
from teiten.kinds.probes.results import (
    EffectFound,
    ProbeResult,
    ProbesFound,
    ProbeSide,
    SidePair,
    probes_found,
)
from teiten.kinds.probes.thresholds import MEDIUM_BELOW, NONE_WITHIN, SMALL_BELOW
from teiten.model.plan import Context
from teiten.model.text import joined_sentences
from teiten.report.blocks import Block, Items, Text
from teiten.report.effects import effect_cells, plain_percent
from teiten.report.numbers import NOTHING, bytes_text, plain, significant
from teiten.report.tables import Row, Table, TableCell, columns_of, number_cell
from teiten.report.view.contrasts import verdict_cell, verdict_text
from teiten.report.view.kit import Kit

LONG = 20
"""Rows of a table that scrolls in its own box."""
VERDICT_KEYS = (
    *("probe.compared", "probe.first", "probe.second", "probe.ratio"),
    *("interval", "pairs", "verdict"),
)
Made = tuple[Sequence[str], Sequence[Row]]
"""The columns' keys, and the rows."""


def tables_of_probe(kit: Kit, prefix: str, result: ProbeResult, memory: str) -> Iterator[Table]:
    """Only those that have something to tell. ``memory``: what is said of it beside each result."""
    yield from _verdicts(kit, prefix, result, memory)
    unit = unit_of(result)
    of_pages = ("after-scan", _after_scan) if result.after_another else ("accesses", _accesses)
    for kind, make in (
        of_pages,
        ("sweeps", _sweeps),
        ("cost", _cost),
        ("clients", _with_clients),
        ("checkpoints", _checkpoints),
    ):
        columns, rows = make(kit, result, unit)
        if rows:
            values = {"unit": unit.name, "memory": memory, "confidence": kit.confidence}
            yield Table(
                name=f"{prefix}-{kind}",
                caption=kit.t(f"table.probe-{kind}.caption"),
                columns=columns_of(
                    kit.t, "table.probe", columns, (columns[0], "clients-step"), **values
                ),
                rows=tuple(rows),
                note=kit.t(f"table.probe-{kind}.note", **values),
                tall=len(rows) > LONG,
            )


def unit_of(result: ProbeResult) -> ProbeTimeUnit:
    """Choose the unit of all of a probe's times but those of its verdicts."""
    return unit_for(seconds for side in result.sides for seconds in _seconds(side))


def _seconds(side: ProbeSide) -> Iterator[float]:
    yield from (part.mean.mean for part in side.parts)
    yield from (point.latency.mean for point in side.clients)
    yield from (checkpoint.times.median for checkpoint in side.checkpoints)


def _verdicts(kit: Kit, prefix: str, result: ProbeResult, memory: str) -> Iterator[Table]:
    """Every side against each before it."""
    for kind, pairs, numbers in (
        ("pairs", result.pairs, {side.side: side.number for side in result.sides}),
        ("commits", result.commits, {side.side: side.commit for side in result.sides}),
    ):
        known = {side: number for side, number in numbers.items() if number is not None}
        unit = unit_for(number.mean for number in known.values())
        rows = tuple(
            _pair(kit, pair, (known[pair.old], known[pair.new]), unit)
            for pair in pairs
            if {pair.old, pair.new} <= known.keys()
        )
        if not rows:
            continue
        yield Table(
            name=f"{prefix}-{kind}",
            caption=kit.t(f"table.probe-{kind}.caption"),
            columns=columns_of(
                kit.t, "table", VERDICT_KEYS, ("probe.compared", "verdict"), unit=unit.name
            ),
            rows=rows,
            note=kit.t("table.probe-pairs.note", memory=memory, **shared_level(kit)),
        )


def _pair(kit: Kit, pair: SidePair, numbers: tuple[Estimate, Estimate], unit: ProbeTimeUnit) -> Row:
    """``numbers``: of the old side and the new one."""
    return (
        TableCell(_compared(kit, pair.new, pair.old)),
        *map(unit.estimate_cell, numbers),
        *effect_cells(kit.t, pair.verdict.effect),
        TableCell(str(pair.verdict.pairs), pair.verdict.pairs),
        verdict_cell(kit.t, pair.verdict, verdict_text(kit.t, pair.verdict)),
    )


def _compared(kit: Kit, new: str, old: str) -> str:
    return kit.t("contrast.sides", new=kit.short(new), old=kit.short(old))


def _accesses(kit: Kit, result: ProbeResult, unit: ProbeTimeUnit) -> Made:
    known = {origin for side in result.sides for part in side.parts for origin in part.origins}
    origins = [origin for origin in PageOrigin if origin in known]
    before = ("buffers-before", "os-cache-before")
    keys = ("side", "part", "mean", "interval", "median", "longest")
    rows = [
        (
            side_cell(kit, side),
            size_cell(part.size),
            unit.estimate_cell(part.mean),
            unit.interval_cell(kit.t, part.mean),
            unit.cell(part.times.median),
            unit.cell(part.times.quantiles[-1]),
            *(percent_cell(part.share(origin)) for origin in origins),
            percent_cell(part.in_buffers),
            percent_cell(part.in_os_cache),
        )
        for side in result.sides
        for part in side.parts
    ]
    return (*keys, *(f"from-{place}" for place in origins), *before), rows


def _after_scan(kit: Kit, result: ProbeResult, unit: ProbeTimeUnit) -> Made:
    """Make columns and rows as the published report prints them (probe 8)."""
    keys = ("side", "size", "part", "buffer-hits", "os-cache-hits", "mean", "interval")
    rows = [
        (
            side_cell(kit, side),
            size_cell(side.shared_buffers),
            size_cell(part.size),
            percent_cell(part.share(PageOrigin.BUFFERS)),
            percent_cell(part.os_cache_hits),
            unit.estimate_cell(part.mean),
            unit.interval_cell(kit.t, part.mean),
            unit.cell(part.inside),
            unit.cell(part.outside),
            percent_cell(part.share(PageOrigin.DISK)),
        )
        for side in result.sides
        for part in side.parts
    ]
    return (*keys, "mean-buffers", "mean-outside", "from-disk"), rows


def _sweeps(kit: Kit, result: ProbeResult, unit: ProbeTimeUnit) -> Made:
    keys = ("side", "size", "sweeps", "with", "without", "once", "per-gib")
    rows = [
        (
            side_cell(kit, side),
            size_cell(side.shared_buffers),
            number_cell(sweep.sweeps),
            *(unit.cell(seconds) for seconds in (sweep.with_sweep, sweep.without, sweep.seconds)),
            unit.cell(sweep.seconds_per_gib),
        )
        for side in result.sides
        if (sweep := side.sweep) is not None
    ]
    return keys, rows


def _cost(kit: Kit, result: ProbeResult, unit: ProbeTimeUnit) -> Made:
    """The line through the sizes."""
    line = result.line
    if line is None:
        return (), ()
    keys = ("per-gib", "interval", "at-nothing", "interval", "ratio-of-sizes", "interval", "sizes")
    row = (
        unit.estimate_cell(line.per_gib),
        unit.interval_cell(kit.t, line.per_gib),
        unit.estimate_cell(line.at_nothing),
        unit.interval_cell(kit.t, line.at_nothing),
        TableCell(plain(round(line.ratio.mean, 2)), line.ratio.mean),
        TableCell(interval(kit.t, line.ratio), line.ratio.low),
        TableCell(plain(round(line.sizes, 2)), line.sizes),
    )
    return keys, [row]


def _with_clients(kit: Kit, result: ProbeResult, unit: ProbeTimeUnit) -> Made:
    names = clients_steps(kit, result)
    several = len(names) > 1
    keys = ("side", *(("clients-step",) if several else ()), "clients")
    rows = [
        (
            side_cell(kit, side),
            *((TableCell(names[point.step, point.part]),) if several else ()),
            number_cell(point.clients),
            TableCell(estimate_text(point.tps), point.tps.mean),
            TableCell(interval(kit.t, point.tps), point.tps.low),
            unit.estimate_cell(point.latency),
            percent_cell(point.from_buffers),
        )
        for side in result.sides
        for point in side.clients
    ]
    return (*keys, "tps", "interval", "latency", "buffers-hit"), rows


def _checkpoints(kit: Kit, result: ProbeResult, unit: ProbeTimeUnit) -> Made:
    keys = ("side", "size", "step", "checkpoints", "median", "longest", "written")
    rows = [
        (
            side_cell(kit, side),
            size_cell(side.shared_buffers),
            TableCell(kit.t.either(f"checkpoints.{checkpoint.step}", checkpoint.step)),
            number_cell(checkpoint.times.count),
            unit.cell(checkpoint.times.median),
            unit.cell(checkpoint.times.quantiles[-1]),
            number_cell(checkpoint.written, significant),
        )
        for side in result.sides
        for checkpoint in side.checkpoints
    ]
    return keys, rows


def summary_table(kit: Kit, name: str, results: Sequence[ProbeResult], memory: str) -> Table | None:
    """None where no probe has two sides."""
    rows = tuple(row for result in results for row in _summary_row(kit, result))
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
    return kit.t.aside(title, kit.names.workload(result.workload))


def probe_title(kit: Kit, result: ProbeResult) -> str:
    """With the levels of what else is varied."""
    return in_context(kit, probe_name(kit, result), result.context)


def in_context(kit: Kit, title: str, context: Context) -> str:
    return kit.t.aside(title, context_text(kit, context))


def context_text(kit: Kit, context: Context) -> str:
    """The levels of what is varied beside the probe; empty where nothing is."""
    return kit.names.varied_levels(context, PROBE)


def _summary_row(kit: Kit, result: ProbeResult) -> Iterator[Row]:
    effect = result.effect
    if effect is None:
        return
    added = effect.added
    share = None if effect.measure is None else added.mean / effect.measure
    yield (
        TableCell(probe_title(kit, result)),
        TableCell(_compared(kit, effect.worst, effect.best)),
        verdict_cell(kit.t, effect.verdict, verdict_text(kit.t, effect.verdict)),
        TableCell(winners_text(kit, result)),
        MICROSECONDS.estimate_cell(added),
        MICROSECONDS.interval_cell(kit.t, added),
        TableCell(NOTHING if share is None else said_percent(kit.t, share), share),
        TableCell(effect_word(kit, effect)),
    )


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
        "compared": _compared(kit, effect.worst, effect.best),
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
        key = "number" if number.low is None else "interval"
        interval = unit.interval(kit.t, number)
        yield kit.t(f"probe.alone-{key}", confidence=kit.confidence, interval=interval, **values)
