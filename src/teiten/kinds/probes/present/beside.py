"""Workloads that run beside the probes, at the same sizes of the buffers: where their pages came
from, and on which probe's ground that is.

What is known of them is what trials of every kind have: blocks that were found in the buffers and
that were not, and what the disks were read meanwhile, by whomever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.observations import without
from teiten.kinds.contract import plan_of
from teiten.kinds.probes.findings.effects import all_known
from teiten.kinds.probes.measurement import PageOrigin
from teiten.kinds.probes.model import BLOCK, NAME, PROBE
from teiten.kinds.probes.present.tables import in_context, probe_name
from teiten.kinds.probes.present.units import (
    ProbeTimeUnit,
    memory_text,
    percent_cell,
    said_percent,
    unit_for,
)
from teiten.kinds.probes.results import ProbeResult, ProbeSide, mean_time, probes_found
from teiten.kinds.probes.thresholds import CLIFF
from teiten.model.metrics import TRANSACTIONS, Metric
from teiten.model.plan import Context
from teiten.model.units import Bytes, Seconds
from teiten.report.blocks import Block, Heading, Items, Section
from teiten.report.effects import plain_percent
from teiten.report.numbers import bytes_text, significant
from teiten.report.tables import Row, Table, TableCell, columns_of, number_cell
from teiten.report.view.kit import Kit, TrialGroup


class Footing(StrEnum):
    """Which of a workload's pages cost it what the probes measure."""

    BUFFERS = "buffers"
    """Nearly all are in the buffers."""
    OS_CACHE = "os-cache"
    """Some are not, but hardly any comes from the disk."""
    DISK = "disk"
    """Past the cliff: buffers and page cache together no longer hold what it uses."""
    OUTSIDE = "outside"
    """Some are not in the buffers; what was read from the disks is not known."""


@dataclass(frozen=True)
class BesideProbes:
    """A workload at one size of the buffers; means over its trials."""

    workload: str
    context: Context
    """The levels of all factors but the contrasted one."""
    side: str
    from_buffers: float
    """The share of all blocks that it asked for that were in the buffers."""
    outside: float | None
    """Pages of each transaction that were not in the buffers; None where none are counted."""
    from_disk: float | None
    """Pages of each transaction that were read from the disks meanwhile, by whomever; in each trial
    at most those from outside. None where this is not known."""
    turnaround: Seconds | None
    """How long a client waited for its transaction."""
    reading: Seconds | None
    """Seconds of a transaction that its pages from outside take by the probes' times at this size;
    None where no probe has read pages from there, or it is not known how many there were."""
    ground: Footing
    fits: Bytes | None
    """The largest working set of a probe, at this size, that did not read from the disk."""


def beside_of(kit: Kit) -> tuple[BesideProbes, ...]:
    """In the study's order; of counted trials whose blocks are known."""
    results = probes_found(kit.analysis).results
    others = [workload for workload in kit.study.workloads if results and workload.kind != NAME]
    return tuple(
        _beside(group, trials, results, plan_of(workload.kind).turnaround)
        for workload in others
        for group in kit.of_workload(workload.name)
        if (trials := [trial for trial in group.trials if _asked(trial)])
    )


def _beside(
    group: TrialGroup,
    trials: Sequence[TrialView],
    results: Sequence[ProbeResult],
    turnaround: Metric | None,
) -> BesideProbes:
    probed = _probed(results, group.context, group.side)
    transactions = [trial.metrics.get(TRANSACTIONS.name, 0.0) for trial in trials]
    asked, read = [_asked(trial) for trial in trials], [_outside(trial) for trial in trials]
    disk = [_from_disk(trial) for trial in trials]
    from_buffers = fmean(1 - pages / of for pages, of in zip(read, asked, strict=True))
    outside, from_disk = _mean(read, transactions), _mean(disk, transactions)
    name = "" if turnaround is None else turnaround.name
    waits = [trial.metrics[name] for trial in trials if name in trial.metrics]
    return BesideProbes(
        workload=group.workload,
        context=group.context,
        side=group.side,
        from_buffers=from_buffers,
        outside=outside,
        from_disk=from_disk,
        turnaround=Seconds(fmean(waits)) if waits else None,
        reading=_reading(probed, outside, from_disk),
        ground=_ground(1 - from_buffers, _mean(disk, asked)),
        fits=None if probed is None or probed.cliff is None else probed.cliff.safe,
    )


def _asked(trial: TrialView) -> float:
    return trial.metrics.get("blocks_hit", 0.0) + _outside(trial)


def _outside(trial: TrialView) -> float:
    return trial.metrics.get("blocks_read", 0.0)


def _from_disk(trial: TrialView) -> float | None:
    """In pages. Disks are read ahead, and by others: never more than what was asked for."""
    read = trial.metrics.get("disk_read_bytes")
    return None if read is None else min(_outside(trial), read / BLOCK)


def _mean(pages: Sequence[float | None], of: Sequence[float]) -> float | None:
    """The mean share, or number for each transaction; None where any is not known."""
    parts = all_known(
        part / whole if part is not None and whole else None
        for part, whole in zip(pages, of, strict=True)
    )
    return fmean(parts) if parts else None


def _ground(outside: float, from_disk: float | None) -> Footing:
    if outside < CLIFF:
        return Footing.BUFFERS
    if from_disk is None:
        return Footing.OUTSIDE
    return Footing.DISK if from_disk >= CLIFF else Footing.OS_CACHE


def _probed(results: Sequence[ProbeResult], context: Context, side: str) -> ProbeSide | None:
    """The probe of working sets at the same size, and at the same levels of all that it varies."""
    for result in results:
        if result.by_parts and {*without(result.context, PROBE)} <= {*context}:
            return next((probed for probed in result.sides if probed.side == side), None)
    return None


def _reading(
    probed: ProbeSide | None, outside: float | None, from_disk: float | None
) -> Seconds | None:
    if probed is None or outside is None or from_disk is None:
        return None
    disk, cached = (
        mean_time(part.origins[place] for part in probed.parts if place in part.origins)
        for place in (PageOrigin.DISK, PageOrigin.OS_CACHE)
    )
    if (disk is None and from_disk) or (cached is None and outside > from_disk):
        return None
    return Seconds(from_disk * (disk or 0.0) + (outside - from_disk) * (cached or 0.0))


KEYS = ("side", "buffers", "outside", "disk", "reading", "turnaround", "ground")


def beside_section(kit: Kit) -> Section:
    """Empty where probes ran alone."""
    besides = beside_of(kit)
    shown: list[Block] = []
    for at, key in enumerate(
        dict.fromkeys((beside.workload, beside.context) for beside in besides), start=1
    ):
        sizes = [beside for beside in besides if (beside.workload, beside.context) == key]
        name = kit.names.workload(key[0])
        shown += [
            Heading(3, in_context(kit, name, key[1])),
            Items(tuple(_sentence(kit, size) for size in sizes), "findings"),
            _table(kit, f"beside-{at}", sizes),
        ]
    return Section("beside", kit.t("section.beside"), tuple(shown))


def _sentence(kit: Kit, beside: BesideProbes) -> str:
    """On whose ground a size is."""
    values = {"side": kit.short(beside.side), "buffers": said_percent(kit.t, beside.from_buffers)}
    if beside.ground is Footing.DISK and beside.fits is not None:
        return kit.t("beside.disk-fits", fits=bytes_text(beside.fits), probe=_cliffs(kit), **values)
    return kit.t(f"beside.{beside.ground.value}", **values)


def _cliffs(kit: Kit) -> str:
    """The name of the probe of working sets."""
    return next(
        probe_name(kit, result) for result in probes_found(kit.analysis).results if result.by_parts
    )


def _table(kit: Kit, name: str, sizes: Sequence[BesideProbes]) -> Table:
    """``sizes``: a workload at each of the sizes."""
    times = (seconds for size in sizes for seconds in (size.reading, size.turnaround))
    unit, t = unit_for(seconds for seconds in times if seconds is not None), kit.t
    return Table(
        name,
        t("table.beside.caption"),
        columns_of(t, "table.beside", KEYS, ("side", "ground"), unit=unit.name),
        tuple(_row(kit, size, unit) for size in sizes),
        note=t("table.beside.note", share=plain_percent(t, CLIFF), memory=memory_text(kit)),
        sortable=False,
    )


def _row(kit: Kit, beside: BesideProbes, unit: ProbeTimeUnit) -> Row:
    return (
        TableCell(kit.short(beside.side)),
        percent_cell(beside.from_buffers),
        number_cell(beside.outside, significant),
        number_cell(beside.from_disk, significant),
        unit.cell(beside.reading),
        unit.cell(beside.turnaround),
        TableCell(kit.t(f"table.beside.ground-{beside.ground.value}")),
    )
