"""The recommendation in words, the evidence behind each clause, and the memory's arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.analysis.model.findings import VerdictKind
from teiten.analysis.model.observations import without
from teiten.kinds.contract_present import OwnAnswer
from teiten.kinds.probes.measurement import PageOrigin
from teiten.kinds.probes.model import PROBE
from teiten.kinds.probes.present.curves import working_set_chart
from teiten.kinds.probes.present.tables import (
    context_text,
    effect_word,
    of_one_side,
    only_side,
    probe_name,
    probe_title,
    summary_table,
    unit_of,
)
from teiten.kinds.probes.present.units import (
    interval,
    memory_text,
    said_percent,
    unit_for,
)
from teiten.kinds.probes.results import (
    PROPORTIONAL_WITHIN,
    Cliff,
    CostLine,
    ProbeResult,
    ProbesFound,
    Recommendation,
    probes_found,
)
from teiten.kinds.probes.thresholds import CLIFF, OWN_OF_A_CONNECTION, PAGE_TABLE_SHARE, Size
from teiten.report.blocks import Block, Heading, Items, Section, Statement, Text
from teiten.report.effects import plain_percent
from teiten.report.numbers import bytes_text, plain
from teiten.report.tables import Table, TableCell, columns_of, number_cell
from teiten.report.view.kit import Kit

MOST_OPEN = 4
"""More effects that are not decided are counted, and named in the summary only."""


def answer_of(kit: Kit) -> OwnAnswer | None:
    """None where no sizes of the buffers are contrasted: then verdicts are the answer, unless
    there is one side alone."""
    findings = probes_found(kit.analysis)
    side = only_side(kit)
    if side is not None:
        return OwnAnswer(tuple(of_one_side(kit, findings, side)), ())
    if not findings.recommendations:
        return None
    blocks: list[Block] = [
        _statement(kit, f"answer-{at}", findings, recommendation)
        for at, recommendation in enumerate(findings.recommendations, start=1)
    ]
    table = summary_table(kit, "probe-summary", findings.results, memory_text(kit))
    return OwnAnswer((*blocks, *([table] if table else [])), tuple(_undecided(kit, findings)))


def section_of(kit: Kit) -> Section:
    """The recommendation clause by clause; empty without one."""
    findings = probes_found(kit.analysis)
    shown: list[Block] = []
    for at, recommendation in enumerate(findings.recommendations, start=1):
        context = context_text(kit, recommendation.context)
        if context:
            shown.append(Heading(3, context))
        shown += [
            Text(sentence(kit, recommendation)),
            Items(tuple(clauses(kit, findings, recommendation)), "findings"),
        ]
        shown.append(_rooms(kit, f"rooms-{at}", recommendation))
    if shown:
        shown.append(Text(kit.t("recommend.scope", memory=memory_text(kit)), "note"))
    return Section("recommendation", kit.t("section.recommendation"), tuple(shown))


def sentence(kit: Kit, recommendation: Recommendation) -> str:
    """Say what is recommended, and never more than was decided."""
    t = kit.t
    memory = bytes_text(recommendation.memory)
    listed = _sizes(kit, recommendation, recommendation.left)
    factor = kit.names.factor(kit.study.contrast)
    values = {"memory": memory, "sizes": listed, "factor": factor}
    if not kit.study.conclusive:
        return t("recommend.profile", profile=kit.study.profile, **values)
    if not recommendation.left:
        return t("recommend.none", **values)
    if not recommendation.decided and not recommendation.threatened:
        return t("recommend.undecided", **values)
    out = tuple(room.side for room in recommendation.rooms if room.side not in recommendation.left)
    values["others"] = _sizes(kit, recommendation, out)
    return t("recommend.one" if len(recommendation.left) == 1 else "recommend.several", **values)


def clauses(kit: Kit, findings: ProbesFound, recommendation: Recommendation) -> Iterator[str]:
    """Each with the probe behind it: first those on how memory is used, then what it costs."""
    mine = _of_context(findings, recommendation)
    yield from _first_clauses(kit, mine, recommendation)
    yield from (_cost(kit, result, result.line) for result in mine if result.line is not None)
    yield _room(kit, recommendation)


def _of_context(findings: ProbesFound, recommendation: Recommendation) -> list[ProbeResult]:
    context = recommendation.context
    return [result for result in findings.results if without(result.context, PROBE) == context]


def _first_clauses(
    kit: Kit, mine: Sequence[ProbeResult], recommendation: Recommendation
) -> Iterator[str]:
    """List the clauses that stand on the first page."""
    yield from _out_of_memory(kit, recommendation)
    yield from _moved(kit, mine)
    yield from _beaten(kit, mine)
    for result in mine:
        if result.by_parts:
            yield from _cliffs(kit, result)
            yield from _at_working_set(kit, result, recommendation)
    for result in mine:
        if result.after_another:
            yield _after_scan(kit, result)


def _statement(
    kit: Kit, name: str, findings: ProbesFound, recommendation: Recommendation
) -> Statement:
    mine = _of_context(findings, recommendation)
    curves = (working_set_chart(kit, name, result) for result in mine if result.by_parts)
    sure = kit.study.conclusive and (recommendation.decided or bool(recommendation.threatened))
    decided = sure and len(recommendation.left) == 1
    context = context_text(kit, recommendation.context)
    word = "undecided" if not sure else "one" if len(recommendation.left) < 2 else "several"
    return Statement(
        context or kit.t("recommend.subject", factor=kit.names.factor(kit.study.contrast)),
        (VerdictKind.FASTER if decided else VerdictKind.INCONCLUSIVE).value,
        kit.t(f"recommend.word-{word}"),
        sentence(kit, recommendation),
        next(curves, None),
        tuple(_first_clauses(kit, mine, recommendation)),
    )


def _moved(kit: Kit, results: Sequence[ProbeResult]) -> Iterator[str]:
    """Which probes' times the size moves, and which it does not; nothing of those undecided."""
    if not kit.study.conclusive:
        return
    effects = [(result, effect) for result in results if (effect := result.effect) and effect.size]
    moved = [
        kit.t.aside(probe_name(kit, result), effect_word(kit, effect))
        for result, effect in effects
        if effect.size is not Size.NONE
    ]
    still = [probe_name(kit, result) for result, effect in effects if effect.size is Size.NONE]
    for key, names in (("moved", moved), ("still", still)):
        if names:
            yield kit.t(f"recommend.{key}", listed=kit.t("list.separator").join(names))


def _undecided(kit: Kit, findings: ProbesFound) -> Iterator[str]:
    open_ones = [
        probe_title(kit, result)
        for result in findings.results
        if result.effect is not None and result.effect.size is None
    ]
    if len(open_ones) > MOST_OPEN:
        yield kit.t("recommend.open-many", count=len(open_ones), of=len(findings.results))
    elif open_ones:
        listed = kit.t("list.separator").join(open_ones)
        yield kit.t("recommend.open", probes=listed)


def _sizes(kit: Kit, recommendation: Recommendation, sides: Sequence[str]) -> str:
    sizes = {room.side: room.shared_buffers for room in recommendation.rooms}
    return kit.t("list.separator").join(_sized(kit, side, sizes[side]) for side in sides)


def _sized(kit: Kit, side: str, size: float) -> str:
    """``75% (1.5 GiB)``"""
    short = kit.short(side)
    return kit.t.aside(short, bytes_text(size) if short.endswith("%") else "")


def _cliffs(kit: Kit, result: ProbeResult) -> Iterator[str]:
    """Where each size falls off."""
    cliffs = [_cliff(kit, side.side, side.cliff) for side in result.sides if side.cliff is not None]
    if cliffs:
        yield kit.t(
            "recommend.cliffs",
            listed=kit.t("list.strong").join(cliffs),
            share=plain_percent(kit.t, CLIFF),
            probe=probe_name(kit, result),
        )


def _cliff(kit: Kit, side: str, cliff: Cliff) -> str:
    key = {
        (True, True): "between",
        (True, False): "never",
        (False, True): "always",
        (False, False): "unclear",
    }[cliff.safe is not None, cliff.beyond is not None]
    safe, beyond = bytes_text(cliff.safe), bytes_text(cliff.beyond)
    return kit.t(f"cliff.{key}", side=kit.short(side), safe=safe, beyond=beyond)


def _at_working_set(kit: Kit, result: ProbeResult, recommendation: Recommendation) -> Iterator[str]:
    working_set = recommendation.working_set
    if working_set is None:
        return
    size = bytes_text(working_set)
    known = [
        (side.side, part) for side in result.sides if (part := side.at(working_set)) is not None
    ]
    if not known:
        yield kit.t("recommend.beyond-measured", size=size)
        return
    unit = unit_for(part.mean.mean for _, part in known)
    times = [(side, unit.with_name(unit.estimate(part.mean))) for side, part in known]
    shares = [
        (side, said_percent(kit.t, part.from_disk.mean)) for side, part in known if part.from_disk
    ]
    of_times = kit.t(
        "recommend.at-working-set",
        size=size,
        part=bytes_text(known[0][1].size),
        listed=_of_sides(kit, times),
        probe=probe_name(kit, result),
    )
    of_disk = kit.t("recommend.at-working-set-disk", listed=_of_sides(kit, shares))
    yield of_times + (of_disk if shares else "")


def _of_sides(kit: Kit, values: Sequence[tuple[str, str]]) -> str:
    """A value of each side."""
    return kit.t("list.strong").join(
        kit.t("at-working-set.of-side", side=kit.short(side), value=value) for side, value in values
    )


def _after_scan(kit: Kit, result: ProbeResult) -> str:
    t = kit.t
    phrases = [
        t(
            "after-scan.buffers" if part.os_cache_hits is None else "after-scan.both",
            side=kit.short(side.side),
            buffers=said_percent(t, part.share(PageOrigin.BUFFERS)),
            os_cache=said_percent(t, part.os_cache_hits or 0.0),
        )
        for side in result.sides
        for part in side.parts
    ]
    return t(
        "recommend.after-scan",
        listed=t("list.strong").join(phrases),
        probe=probe_name(kit, result),
    )


def _beaten(kit: Kit, results: Sequence[ProbeResult]) -> Iterator[str]:
    """Say by probe which sides were decided to be slower; nothing by a profile too short for it."""
    by_probe = [
        kit.t.aside(
            kit.t("list.separator").join(
                kit.t("beaten.by", side=kit.short(side), by=kit.short(by))
                for side, by in result.beaten.items()
            ),
            probe_name(kit, result),
        )
        for result in results
        if kit.study.conclusive and result.tells_of_memory and result.beaten
    ]
    if by_probe:
        yield kit.t("recommend.beaten", listed=kit.t("list.strong").join(by_probe))


def _cost(kit: Kit, result: ProbeResult, line: CostLine) -> str:
    unit = unit_of(result)
    return kit.t(
        f"recommend.cost-{line.proportion.value}",
        time=unit.with_name(unit.estimate(line.per_gib)),
        interval=unit.interval(kit.t, line.per_gib),
        confidence=kit.confidence,
        ratio=plain(round(line.ratio.mean, 2)),
        ratios=interval(kit.t, line.ratio),
        within=plain_percent(kit.t, PROPORTIONAL_WITHIN),
        sizes=plain(round(line.sizes, 2)),
        probe=probe_name(kit, result),
    )


def _room(kit: Kit, recommendation: Recommendation) -> str:
    """Say how much memory each size leaves for connections."""
    rooms = [
        kit.t(
            "room.left",
            side=kit.short(room.side),
            left=bytes_text(room.left),
            fit=plain(room.fit),
            each=bytes_text(room.for_each),
        )
        for room in recommendation.rooms
    ]
    return kit.t("recommend.rooms", listed=kit.t("list.strong").join(rooms))


def _out_of_memory(kit: Kit, recommendation: Recommendation) -> Iterator[str]:
    """A warning where what is left does not suffice."""
    threatened = [
        kit.t(
            "room.threatens",
            side=kit.short(room.side),
            needed=bytes_text(room.needed),
            left=bytes_text(room.left),
        )
        for room in recommendation.rooms
        if room.threatens
    ]
    if threatened and recommendation.connections is not None:
        yield kit.t(
            "recommend.out-of-memory",
            connections=plain(recommendation.connections),
            listed=kit.t("list.strong").join(threatened),
        )


def _rooms(kit: Kit, name: str, recommendation: Recommendation) -> Table:
    t = kit.t
    asked = recommendation.connections is not None
    keys = ("side", "size", "left", "each", "fit", *(("needed", "cache", "risk") if asked else ()))
    rows = []
    for room in recommendation.rooms:
        row = [
            TableCell(kit.short(room.side), float(room.shared_buffers)),
            *(
                number_cell(value, bytes_text)
                for value in (room.shared_buffers, room.left, room.for_each)
            ),
            number_cell(room.fit),
        ]
        if room.needed is not None:
            rest = room.left - room.needed
            risk = "threatens" if room.threatens else "suffices"
            row += [
                number_cell(room.needed, bytes_text),
                TableCell(bytes_text(max(0, rest)), float(rest)),
                TableCell(t(f"table.rooms.{risk}")),
            ]
        rows.append(tuple(row))
    return Table(
        name,
        t("table.rooms.caption", memory=bytes_text(recommendation.memory)),
        columns_of(t, "table.rooms", keys, ("side", "risk")),
        tuple(rows),
        note=t(
            "table.rooms.note",
            own=bytes_text(OWN_OF_A_CONNECTION),
            work_mem=bytes_text(recommendation.work_mem),
            part=plain(PAGE_TABLE_SHARE),
        ),
        sortable=False,
    )
