"""Where servers differ: each probe at each size, and what changed in the server.

Changes seen between two servers: sentences where times differ, and tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.analysis.model.verdict import VerdictKind
from teiten.kinds.probes.model import probes_of
from teiten.kinds.probes.present.tables import in_context
from teiten.kinds.probes.present.units import (
    MICROSECONDS,
    memory_text,
    percent,
    shared_level,
)
from teiten.kinds.probes.results import Changed, Trace, VersionPair, probes_found
from teiten.kinds.probes.thresholds import SEEN_APART
from teiten.model.build import BUILDS_DIFFER
from teiten.model.plan import Context
from teiten.model.text import joined_sentences
from teiten.report.blocks import Block, Heading, Items, Section, Text
from teiten.report.effects import effect_cells, plain_percent
from teiten.report.numbers import NOTHING, bytes_text, significant
from teiten.report.tables import Column, Row, Table, TableCell, cells, columns_of
from teiten.report.view.contrasts import verdict_cell, verdict_text
from teiten.report.view.kit import Kit

KEYS = ("probe", "side", "servers", "old", "new", "ratio", "interval", "verdict", "changed")
WORDS = ("probe", "side", "servers", "verdict", "changed", "trace")
"""Columns without numbers."""


def versions_section(kit: Kit) -> Section:
    """Empty where there is one server alone."""
    pairs = probes_found(kit.analysis).versions
    shown: list[Block] = []
    for workload in dict.fromkeys(pair.workload for pair in pairs):
        mine = [pair for pair in pairs if pair.workload == workload]
        apart = [pair for pair in mine if differs(pair)]
        shown.append(Heading(3, kit.names.workload(workload)))
        shown.append(Text(kit.t("versions.said", count=len(apart), of=len(mine))))
        sentences = tuple(_sentence(kit, same) for same in _alike(apart))
        if sentences:
            shown.append(Items(sentences, "findings"))
        shown.append(_table(kit, f"versions-{workload}", mine))
        shown.extend(traces_tables(kit, f"traces-{workload}", mine))
    shown.extend(settings_tables(kit))
    return Section("versions", kit.t("section.versions"), tuple(shown))


def _table(kit: Kit, name: str, pairs: list[VersionPair]) -> Table:
    """All of them, those that differ first."""
    ordered = sorted(pairs, key=lambda pair: not differs(pair))
    return Table(
        name,
        kit.t("table.versions.caption"),
        columns_of(kit.t, "table.versions", KEYS, WORDS),
        tuple(_row(kit, pair) for pair in ordered),
        note=kit.t("table.versions.note", memory=memory_text(kit), **shared_level(kit)),
        tall=len(pairs) > 20,
    )


def _row(kit: Kit, pair: VersionPair) -> Row:
    t, apart = kit.t, differs(pair)
    verdict = TableCell(t("versions.apart"), kind="muted")
    if pair.comparable:
        verdict = verdict_cell(t, pair.verdict, verdict_text(t, pair.verdict))
    named = pair.changed if apart or not pair.comparable else ()
    changed = t("list.strong").join(change_text(kit, change, pair) for change in named)
    return (
        *cells(measured_title(kit, pair), kit.short(pair.side), _servers(kit, pair)),
        MICROSECONDS.estimate_cell(pair.old_number),
        MICROSECONDS.estimate_cell(pair.new_number),
        *effect_cells(t, pair.verdict.effect if pair.comparable else None),
        verdict,
        TableCell(changed or (t("versions.unknown") if apart else "")),
    )


def _servers(kit: Kit, pair: VersionPair) -> str:
    old, new = (kit.names.server(level).short for level in (pair.old, pair.new))
    return kit.t("contrast.sides", new=new, old=old)


OPEN = (VerdictKind.INCONCLUSIVE, VerdictKind.EQUIVALENT)
SHARES = (Trace.FROM_BUFFERS, Trace.FROM_DISK, Trace.BY_WORKERS)
TIMES = (Trace.READING, Trace.NOT_READING)
TRACE_KEYS = ("probe", "side", "servers", "trace", "old", "new", "changed")


def differs(pair: VersionPair) -> bool:
    """Whether a difference was decided."""
    return pair.comparable and pair.verdict.conclusive and pair.verdict.kind not in OPEN


def measured_title(kit: Kit, pair: VersionPair) -> str:
    """The probe, with the levels of what else is varied, and which of its times it is."""
    title = kit.t.of(probes_of(kit.study.workload(pair.workload)).probe(pair.probe).title)
    title = in_context(kit, title, pair.context)
    if not pair.executed:
        return title
    return kit.t("versions.executed", title=title, step=pair.executed)


def change_text(kit: Kit, change: Changed, pair: VersionPair) -> str:
    """Name a change; for a pair that can be compared, say too whether it was seen."""
    text = kit.t.of(change.text)
    if not pair.comparable:
        return text
    return kit.t("versions.seen" if change.seen else "versions.not-seen", change=text)


def _sentence(kit: Kit, same: Sequence[VersionPair]) -> str:
    """In which sizes a probe differs between servers, and what the campaign says of why."""
    first, t = same[0], kit.t
    old, new = (kit.names.server(level).short for level in (first.old, first.new))
    effects = [(pair.side, pair.verdict.effect) for pair in same]
    slower = [side for side, effect in effects if effect is not None and effect.ratio > 1]
    faster = [side for side, _ in effects if side not in slower]
    ways = []
    for way, sides in (("slower", slower), ("faster", faster)):
        if sides:
            listed = t("list.separator").join(kit.short(side) for side in sides)
            ways.append(t(f"versions.{way}", sides=listed))
    values = {"what": measured_title(kit, first), "old": old, "new": new}
    difference = t("versions.difference", ways=t("list.strong").join(ways), **values)
    seen = list(
        dict.fromkeys(change.text for pair in same for change in pair.changed if change.seen)
    )
    traces = list(dict.fromkeys(trace_seen.trace for pair in same for trace_seen in pair.traces))
    listed = t("list.strong").join(map(t.of, seen))
    if seen:
        why = t("versions.explained", changes=listed)
    elif traces:
        names = t("list.separator").join(trace_name(kit, trace) for trace in traces)
        why = t("versions.only-traces", traces=names)
    else:
        why = t("versions.unexplained")
    builds = any(caution.code == BUILDS_DIFFER for caution in kit.analysis.cautions)
    parts = (difference, why, t("versions.builds") if builds and not seen else "")
    return joined_sentences(parts)


def _alike(pairs: Sequence[VersionPair]) -> list[list[VersionPair]]:
    """Group pairs that differ in the side alone."""
    alike: dict[tuple[Context, str, str, str], list[VersionPair]] = {}
    for pair in pairs:
        alike.setdefault((pair.context, pair.executed, pair.old, pair.new), []).append(pair)
    return list(alike.values())


def trace_name(kit: Kit, trace: Trace) -> str:
    return kit.t(f"trace.{trace.value}")


def traces_tables(kit: Kit, name: str, pairs: Sequence[VersionPair]) -> Iterator[Table]:
    """One, where anything differs beside the time; whether the time does or not. What is executed
    once has no traces that its probe's number has not."""
    traced = [pair for pair in pairs if pair.comparable and pair.traces and not pair.executed]
    rows = [row for same in _alike(traced) for row in _rows(kit, same)]
    if rows:
        yield Table(
            name,
            kit.t("table.traces.caption"),
            columns_of(kit.t, "table.traces", TRACE_KEYS, WORDS),
            tuple(rows),
            note=kit.t("table.traces.note", apart=plain_percent(kit.t, SEEN_APART)),
            tall=len(rows) > 20,
        )


def _rows(kit: Kit, same: Sequence[VersionPair]) -> Iterator[Row]:
    """One for each trace, over the sizes at which it differs."""
    for trace in Trace:
        differing = [
            (pair.side, trace_seen)
            for pair in same
            for trace_seen in pair.traces
            if trace_seen.trace is trace
        ]
        if differing:
            seen = [trace_seen for _, trace_seen in differing]
            yield (
                *cells(
                    measured_title(kit, same[0]),
                    kit.t("list.separator").join(kit.short(side) for side, _ in differing),
                    _servers(kit, same[0]),
                    trace_name(kit, trace),
                ),
                _cell(kit, trace, [trace_seen.old for trace_seen in seen]),
                _cell(kit, trace, [trace_seen.new for trace_seen in seen]),
                TableCell(_showing(kit, same, trace)),
            )


def _showing(kit: Kit, same: Sequence[VersionPair], trace: Trace) -> str:
    """The changes that show in it."""
    texts = dict.fromkeys(
        change.text for pair in same for change in pair.changed if trace in change.seen
    )
    return kit.t("list.strong").join(map(kit.t.of, texts))


def _cell(kit: Kit, trace: Trace, values: Sequence[float]) -> TableCell:
    """One value, or from the least to the greatest of several."""
    low, high = (_value(kit, trace, end) for end in (min(values), max(values)))
    text = low if low == high else kit.t("interval.plain", low=low, high=high)
    return TableCell(text, values[0])


def _value(kit: Kit, trace: Trace, value: float) -> str:
    if trace in SHARES:
        return kit.t("unit.percent", value=percent(value))
    if trace in TIMES:
        return MICROSECONDS.with_name(MICROSECONDS.text(value))
    if trace is Trace.WAL:
        return f"{significant(value)} B" if value else "0 B"
    return bytes_text(value)


def settings_tables(kit: Kit) -> Iterator[Table]:
    """Parameters that not all servers have alike; none where trials told nothing."""
    servers = probes_found(kit.analysis).settings
    of = list(servers.values())
    names = dict.fromkeys(name for settings in of for name in settings)
    unlike = [name for name in names if len({settings.get(name) for settings in of}) > 1]
    if len(servers) < 2 or not unlike:
        return
    headings = [kit.names.server(server).short for server in servers]
    yield Table(
        "versions-settings",
        kit.t("table.versions-settings.caption"),
        tuple(map(Column, (kit.t("table.versions-settings.parameter"), *headings))),
        tuple(
            cells(
                name,
                *(kit.t("list.separator").join(settings.get(name, (NOTHING,))) for settings in of),
            )
            for name in unlike
        ),
        note=kit.t("table.versions-settings.note"),
        sortable=False,
    )
