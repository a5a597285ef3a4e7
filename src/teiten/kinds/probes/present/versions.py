"""Where servers differ: each probe at each size, and what changed in the server."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.kinds.probes.present.memory import memory_text
from teiten.kinds.probes.present.tables import verdict_said
from teiten.kinds.probes.present.traces import (
    change_text,
    differences,
    differs,
    measured_title,
    settings_tables,
    traces_tables,
)
from teiten.kinds.probes.present.units import MICROSECONDS
from teiten.kinds.probes.results import VersionPair, probes_found
from teiten.report.blocks import Block, Heading, Items, Section, Text
from teiten.report.effects import confidence_percent, interval_text, ratio_text
from teiten.report.sentences import verdict_kind
from teiten.report.tables import Column, Row, Table, TableCell
from teiten.report.view.kit import Kit

KEYS = ("probe", "side", "servers", "old", "new", "ratio", "interval", "verdict", "changed")
NUMERIC = ("old", "new", "ratio", "interval")


def versions_section(kit: Kit) -> Section:
    """Empty where there is one server alone."""
    found = probes_found(kit.analysis).versions
    shown: list[Block] = []
    for workload in dict.fromkeys(one.workload for one in found):
        mine = [one for one in found if one.workload == workload]
        apart = [one for one in mine if differs(one)]
        shown.append(Heading(3, kit.names.workload(workload)))
        shown.append(Text(kit.t("versions.said", count=len(apart), of=len(mine))))
        sentences = tuple(differences(kit, mine))
        if sentences:
            shown.append(Items(sentences, "findings"))
        shown.append(_table(kit, f"versions-{workload}", mine))
        shown.extend(traces_tables(kit, f"traces-{workload}", mine))
    shown.extend(settings_tables(kit))
    return Section("versions", kit.t("section.versions"), tuple(shown))


def _kind(one: VersionPair) -> str:
    return f"verdict {verdict_kind(one.verdict)}" if one.comparable else "muted"


def _table(kit: Kit, name: str, pairs: list[VersionPair]) -> Table:
    """All of them, those that differ first."""
    ordered = sorted(pairs, key=lambda one: not differs(one))
    count = probes_found(kit.analysis).comparisons
    confidence = confidence_percent(kit.t, 1 - kit.study.measure.alpha / count)
    return Table(
        name,
        kit.t("table.versions.caption"),
        tuple(Column(kit.t(f"table.versions.{key}"), numeric=key in NUMERIC) for key in KEYS),
        tuple(row for one in ordered for row in _row(kit, one)),
        note=kit.t(
            "table.versions.note",
            confidence=confidence,
            count=count,
            memory=memory_text(kit),
        ),
        tall=len(pairs) > 20,
    )


def _row(kit: Kit, one: VersionPair) -> Iterator[Row]:
    effect = one.verdict.effect if one.comparable else None
    verdict = verdict_said(kit, one.verdict) if one.comparable else kit.t("versions.apart")
    old, new = (kit.names.server(level).short for level in (one.old, one.new))
    apart = differs(one)
    named = one.changed if apart or not one.comparable else ()
    changed = kit.t("list.strong").join(change_text(kit, each, one) for each in named)
    yield (
        TableCell(measured_title(kit, one)),
        TableCell(kit.short(one.side)),
        TableCell(kit.t("contrast.sides", new=new, old=old)),
        MICROSECONDS.estimate_cell(one.old_number),
        MICROSECONDS.estimate_cell(one.new_number),
        TableCell(ratio_text(effect), effect.ratio if effect else None),
        TableCell(interval_text(kit.t, effect), effect.low if effect else None),
        TableCell(verdict, kind=_kind(one)),
        TableCell(changed or (kit.t("versions.unknown") if apart else "")),
    )
