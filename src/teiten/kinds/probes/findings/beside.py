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

from teiten.analysis.model.findings import CampaignAnalysis, TrialView
from teiten.analysis.model.observations import Context, without
from teiten.kinds.contract import plan_of
from teiten.kinds.probes.findings.effects import all_known
from teiten.kinds.probes.measurement import PageOrigin
from teiten.kinds.probes.model import BLOCK, NAME, PROBE
from teiten.kinds.probes.results import ProbeResult, ProbeSide, mean_time, probes_found
from teiten.kinds.probes.thresholds import CLIFF
from teiten.model.metrics import TRANSACTIONS, Metric
from teiten.model.trial import Outcome
from teiten.model.units import Bytes, Seconds


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


def beside_of(analysis: CampaignAnalysis) -> tuple[BesideProbes, ...]:
    """In the study's order; of counted trials whose blocks are known."""
    study = analysis.plan.study
    others = [workload.name for workload in study.workloads if workload.kind != NAME]
    results = probes_found(analysis).results
    trials: dict[tuple[str, Context, str], list[TrialView]] = {}
    for trial in analysis.trials if results else ():
        if trial.workload in others and trial.outcome is Outcome.COUNTED and _asked(trial):
            key = (trial.workload, trial.context(study.contrast), trial.side(study.contrast))
            trials.setdefault(key, []).append(trial)

    def order(key: tuple[str, Context, str]) -> tuple[int, list[int]]:
        name, context, side = key
        return study.place(name, (*context, (study.contrast, side)))

    return tuple(
        _beside(key, trials[key], results, plan_of(study.workload(key[0]).kind).turnaround)
        for key in sorted(trials, key=order)
    )


def _beside(
    key: tuple[str, Context, str],
    trials: Sequence[TrialView],
    results: Sequence[ProbeResult],
    turnaround: Metric | None,
) -> BesideProbes:
    workload, context, side = key
    probed = _probed(results, context, side)
    transactions = [trial.metrics.get(TRANSACTIONS.name, 0.0) for trial in trials]
    asked, read = [_asked(trial) for trial in trials], [_outside(trial) for trial in trials]
    disk = [_from_disk(trial) for trial in trials]
    from_buffers = fmean(1 - pages / of for pages, of in zip(read, asked, strict=True))
    outside, from_disk = _mean(read, transactions), _mean(disk, transactions)
    name = "" if turnaround is None else turnaround.name
    waits = [trial.metrics[name] for trial in trials if name in trial.metrics]
    return BesideProbes(
        workload=workload,
        context=context,
        side=side,
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
            return result.side(side)
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
