"""A campaign's values to what a report is made from.

The ledger holds each trial as it ended by itself; whether its comparison counts is known when all
of its sides have run: trials that ended well, but whose partner did not, do not count either.

Series of trials are thinned (neighbouring samples averaged, until all fit a budget), and latencies
are given as the distribution of the histogram of all transactions.
"""

from __future__ import annotations

import binascii
import itertools
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram

from teiten.analysis.across.fingerprint import machine_fingerprint
from teiten.analysis.claims.numbers import with_numbers
from teiten.analysis.claims.outcomes import assess
from teiten.analysis.discussion import discuss
from teiten.analysis.model.claims import Claim
from teiten.analysis.model.findings import CampaignAnalysis, Measured, SeriesView, TrialView
from teiten.analysis.model.node_series import group_means
from teiten.analysis.per_transaction import per_transaction, server_cpu
from teiten.analysis.stacks import stacks_found
from teiten.analysis.verdict.carry_over import cpu_witnesses, mixed_cautions, witness_cautions
from teiten.analysis.verdict.conclusive import as_declared
from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.drift import drift_cautions
from teiten.analysis.verdict.noise import recorded_noise
from teiten.analysis.verdict.pairs_check import recorded_check
from teiten.analysis.verdict.replication import recorded_replication
from teiten.analysis.verdict.stopping import open_after, standing
from teiten.analysis.verdict.unseen import unseen_cautions
from teiten.kinds.contract_analyse import analysis_of
from teiten.model.facts import Caution, HostFacts
from teiten.model.metrics import CPU_PER_TRANSACTION, with_wal_per_transaction
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.progress import (
    RESUMED,
    compared_together,
    counting,
    given_blocks,
)
from teiten.model.trial import PARTNER, Event, Outcome, Problem, Series, Trial
from teiten.model.units import Seconds
from teiten.ways.registry import sides_of_a_second, way_of

BEGINNINGS = frozenset({"campaign-started", RESUMED})
"""Events with which a session of Teiten begins; the time before one is not the campaign's."""


def analyse(
    *,
    name: str,
    teiten_version: str,
    created_at: float,
    command: str,
    plan: Plan,
    facts: HostFacts,
    cautions: Sequence[Caution],
    server_facts: Mapping[str, dict[str, Any]],
    trials: Iterable[Trial],
    events: Iterable[Event],
    points: Mapping[str, int],
    claims: Sequence[Claim] = (),
) -> CampaignAnalysis:
    """Analyse a campaign, complete or not.

    ``trials`` is gone through once, and no series is kept but thinned, so that memory stays
    bounded. ``points``: numbers in the series by source, over all trials (for the thinning).
    ``claims``: the published findings that the study replicates.
    """
    views = _views(plan, facts, trials, strides(points))
    happened = tuple(events)
    ends = [view.finished_at for view in views]
    wall = Seconds(wall_seconds(created_at, happened, ends))
    given = given_blocks(plan, happened)
    stands = standing(plan, views, wall, given)
    missing = len(open_after(plan, views, stands.unneeded))
    results = as_declared(contrasts(plan, views), plan.study)
    witnesses = tuple(cpu_witnesses(results, views))
    found_cautions = (
        *drift_cautions(results),
        *witness_cautions(witnesses),
        *mixed_cautions(plan, facts),
        *_resumed_cautions(facts, teiten_version, happened),
        *unseen_cautions(plan, results, views),
    )
    workloads = tuple(workload.name for workload in plan.study.workloads)
    measured = Measured(plan, facts, workloads, views, results, happened)
    return CampaignAnalysis(
        name=name,
        teiten_version=teiten_version,
        created_at=created_at,
        finished_at=max(ends) if ends and not missing else None,
        complete=not missing,
        plan=plan,
        facts=facts,
        cautions=(*cautions, *found_cautions),
        server_facts=dict(server_facts),
        contrasts=results,
        cpu_witnesses=witnesses,
        trials=views,
        missing=missing,
        measured=_measured(plan, views),
        wall=wall,
        events=happened,
        command=command,
        noise=recorded_noise(happened),
        pairs_check=recorded_check(happened),
        replication=recorded_replication(happened),
        standing=stands,
        claims=assess(claims, plan, facts, with_numbers(claims, plan, views, happened), given),
        results=_of_kinds(measured),
        stacks=stacks_found(plan, views),
        per_transaction=per_transaction(plan, facts, views),
        discussion=discuss(plan, results, views),
    )


def _resumed_cautions(
    facts: HostFacts, teiten_version: str, events: Iterable[Event]
) -> Iterator[Caution]:
    """Cautions where the campaign went on on another machine than it began on, or by another
    version of Teiten: its facts, what is said of processors and memory, and the version that its
    report names, are those of the first."""
    resumed = [event.detail for event in events if event.kind == RESUMED]
    machines = {detail.get("machine") for detail in resumed}
    if machines - {None, machine_fingerprint(facts)}:
        yield Caution.warning("resumed-elsewhere")
    versions = dict.fromkeys(detail["teiten"] for detail in resumed if "teiten" in detail)
    others = [version for version in versions if version != teiten_version]
    if others:
        yield Caution.warning(
            "resumed-by-another-version", began=teiten_version, resumed=", ".join(others)
        )


def _measured(plan: Plan, views: Iterable[TrialView]) -> Seconds:
    """The seconds of load, those of sides that share them once."""
    seconds = sum(view.metrics.get("measured_seconds", 0.0) for view in views)
    return Seconds(seconds / sides_of_a_second(plan.study))


def _of_kinds(measured: Measured) -> dict[str, object]:
    """Collect what each kind of the campaign's workloads finds in its own trials."""
    by_kind: dict[str, object] = {}
    for kind in dict.fromkeys(workload.kind for workload in measured.plan.study.workloads):
        mine = tuple(
            workload.name for workload in measured.plan.study.workloads if workload.kind == kind
        )
        of_kind = analysis_of(kind).results(
            replace(
                measured,
                workloads=mine,
                views=tuple(view for view in measured.views if view.workload in mine),
                contrasts=tuple(
                    contrast for contrast in measured.contrasts if contrast.workload in mine
                ),
            )
        )
        by_kind[kind] = as_declared(of_kind, measured.plan.study)
    return by_kind


def wall_seconds(created_at: float, events: Sequence[Event], ends: Sequence[float]) -> float:
    """How long Teiten worked on the campaign, without the time between its sessions.

    ``ends``: when trials ended. Of a session that was killed, the time after its last event or
    trial is unknown and not counted.
    """
    moments = [(created_at, False)]
    moments += [(event.at, event.kind in BEGINNINGS) for event in events]
    moments += [(end, False) for end in ends]
    moments.sort()
    return sum(
        later - earlier
        for (earlier, _), (later, begins) in itertools.pairwise(moments)
        if not begins
    )


def _views(
    plan: Plan, facts: HostFacts, trials: Iterable[Trial], stride_by_source: Mapping[str, int]
) -> tuple[TrialView, ...]:
    planned = {trial.number: trial for trial in plan.trials}
    views = [_view(planned[trial.number], trial, stride_by_source) for trial in trials]
    if way_of(plan.study.measure).concurrent:
        cpu = server_cpu(plan, facts)
        views = [
            replace(view, metrics={**view.metrics, CPU_PER_TRANSACTION.name: seconds})
            if math.isfinite(seconds := cpu(view))
            else view
            for view in views
        ]
    return tuple(judged_together(plan, views))


def _view(planned: PlannedTrial, trial: Trial, stride_by_source: Mapping[str, int]) -> TrialView:
    return TrialView(
        number=trial.number,
        attempt=trial.attempt,
        block=planned.block,
        workload=planned.cell.workload,
        levels=planned.cell.levels,
        outcome=trial.outcome,
        problems=trial.problems,
        started_at=trial.started_at,
        finished_at=trial.finished_at,
        metrics=with_wal_per_transaction(trial.metrics),
        series=tuple(
            thin(series, stride_by_source.get(series.source, 1)) for series in trial.series
        ),
        histogram=distribution(trial.histogram),
        facts=trial.facts,
        evidence=trial.evidence,
        stack_samples=trial.stack_samples,
    )


def judged_together(plan: Plan, views: Sequence[TrialView]) -> Iterator[TrialView]:
    """Yield all trials; one whose partner of the same attempt does not count is disturbed by it."""
    counts = counting(plan, ((view.number, view.attempt, view.outcome) for view in views))
    out = {(view.number, view.attempt): view for view in views if not view.counts}
    partners = {
        trial.number: [partner.number for partner in together]
        for together in compared_together(plan)
        for trial in together
    }
    for view in views:
        if not view.counts or (view.number, view.attempt) in counts:
            yield view
            continue
        places = ((number, view.attempt) for number in partners[view.number])
        blamed = next(out[place] for place in places if place in out)
        detail = f"trial {blamed.number}: {blamed.problems[0].code}" if blamed.problems else ""
        yield replace(view, outcome=Outcome.DISTURBED, problems=(Problem(PARTNER, detail),))


BUDGET = 200_000
"""About how many numbers all series of a report hold together; some 2 MB of text."""
PER_CORE_BUDGET = 50_000
"""The budget of the series of single cores, of which a large machine has hundreds."""
PER_CORE = "cpu:"


def strides(points: Mapping[str, int]) -> dict[str, int]:
    """How many neighbouring samples of each source become one.

    ``points``: how many numbers each source has in all trials. Sources share one stride, but for
    those of single cores.
    """
    cores = {source for source in points if source.startswith(PER_CORE)}
    per_core = _stride(sum(points[source] for source in cores), PER_CORE_BUDGET)
    others = _stride(sum(points.values()) - sum(points[source] for source in cores), BUDGET)
    return {source: per_core if source in cores else others for source in points}


def thin(series: Series, stride: int) -> SeriesView:
    """Average each ``stride`` neighbouring samples (the last group may be shorter).

    NaN are left out of an average; an average of nothing but NaN is NaN.
    """
    rows = (series.seconds, *series.columns.values())
    if stride > 1 and len(series.seconds):
        rows = tuple(group_means(np.vstack(rows), stride))
    return SeriesView(
        source=series.source,
        seconds=rows[0],
        columns=dict(zip(series.columns, rows[1:], strict=True)),
        stride=stride,
    )


def _stride(points: int, budget: int) -> int:
    return max(1, -(-points // budget))


SHARES = np.array(
    (
        *(0.001, 0.01, 0.05, *(n / 20 for n in range(2, 19)), 0.925, 0.95, 0.96, 0.97, 0.975),
        *(0.98, 0.985, 0.99, 0.9925, 0.995, 0.9975, 0.999, 0.9995, 0.9999, 0.99999, 1.0),
    )
)
"""Where the curve is drawn: evenly in the body, ever closer in the tail."""


def distribution(histogram: str) -> tuple[tuple[float, float], ...]:
    """Latency in seconds, and the share of transactions at or below it; both ascending.

    ``histogram``: HdrHistogram V2, base64, in microseconds. Empty where there is none, or where
    it cannot be read: the percentiles among the metrics stand for themselves.
    """
    if not histogram:
        return ()
    try:
        decoded = HdrHistogram.decode(histogram)
    except (TypeError, HdrCookieException, HdrLengthException, binascii.Error, zlib.error):
        return ()
    counts = np.frombuffer(decoded.counts, dtype=np.int64)
    total = int(counts.sum())
    if total == 0:
        return ()
    cumulative = np.cumsum(counts)
    indexes = np.unique(np.searchsorted(cumulative, SHARES * total - 1e-9 * total, side="left"))
    values = (decoded.get_value_from_index(int(index)) for index in indexes)
    edges = [int(decoded.get_highest_equivalent_value(value)) / 1e6 for value in values]
    return tuple(zip(edges, (cumulative[indexes] / total).tolist(), strict=True))
