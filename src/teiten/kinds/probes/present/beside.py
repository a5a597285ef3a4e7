"""A workload that ran beside the probes: at each size where its pages came from, what they cost,
and on which probe's ground that is."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.kinds.probes.findings.beside import BesideProbes, Footing, beside_of
from teiten.kinds.probes.present.summary import context_text, probe_name
from teiten.kinds.probes.present.units import (
    ProbeTimeUnit,
    memory_text,
    percent_cell,
    said_percent,
    unit_for,
)
from teiten.kinds.probes.results import probes_found
from teiten.kinds.probes.thresholds import CLIFF
from teiten.report.blocks import Block, Heading, Items, Section
from teiten.report.effects import plain_percent
from teiten.report.numbers import NOTHING, bytes_text, significant
from teiten.report.tables import Column, Row, Table, TableCell
from teiten.report.view.kit import Kit

KEYS = ("side", "buffers", "outside", "disk", "reading", "turnaround", "ground")


def beside_section(kit: Kit) -> Section:
    """Empty where probes ran alone."""
    found = beside_of(kit.analysis)
    shown: list[Block] = []
    for at, key in enumerate(dict.fromkeys((one.workload, one.context) for one in found), start=1):
        mine = [one for one in found if (one.workload, one.context) == key]
        name, context = kit.names.workload(key[0]), context_text(kit, key[1])
        title = kit.t("probe.title", title=name, context=context) if context else name
        shown += [
            Heading(3, title),
            Items(tuple(_sentence(kit, one) for one in mine), "findings"),
            _table(kit, f"beside-{at}", mine),
        ]
    return Section("beside", kit.t("section.beside"), tuple(shown))


def _sentence(kit: Kit, one: BesideProbes) -> str:
    """On whose ground a size is."""
    values = {"side": kit.short(one.side), "buffers": said_percent(kit.t, one.from_buffers)}
    if one.ground is Footing.DISK and one.fits is not None:
        return kit.t("beside.disk-fits", fits=bytes_text(one.fits), probe=_cliffs(kit), **values)
    return kit.t(f"beside.{one.ground.value}", **values)


def _cliffs(kit: Kit) -> str:
    """The name of the probe of working sets."""
    return next(
        probe_name(kit, result) for result in probes_found(kit.analysis).results if result.by_parts
    )


def _table(kit: Kit, name: str, found: Sequence[BesideProbes]) -> Table:
    times = (seconds for one in found for seconds in (one.reading, one.turnaround))
    unit, t = unit_for(one for one in times if one is not None), kit.t
    return Table(
        name,
        t("table.beside.caption"),
        tuple(
            Column(t(f"table.beside.{key}", unit=unit.name), numeric=key not in ("side", "ground"))
            for key in KEYS
        ),
        tuple(_row(kit, one, unit) for one in found),
        note=t("table.beside.note", share=plain_percent(t, CLIFF), memory=memory_text(kit)),
        sortable=False,
    )


def _row(kit: Kit, one: BesideProbes, unit: ProbeTimeUnit) -> Row:
    return (
        TableCell(kit.short(one.side)),
        percent_cell(one.from_buffers),
        _count(one.outside),
        _count(one.from_disk),
        unit.cell(one.reading),
        unit.cell(one.turnaround),
        TableCell(kit.t(f"table.beside.ground-{one.ground.value}")),
    )


def _count(pages: float | None) -> TableCell:
    return TableCell(NOTHING if pages is None else significant(pages) if pages else "0", pages)
