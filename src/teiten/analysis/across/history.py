"""Campaigns to lines through time or versions: grouped, each point with its interval; and each
campaign beside the one before it in its series."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from teiten.analysis.across.change_points import CORRELATION, FEWEST, change_points
from teiten.analysis.across.comparability import comparability
from teiten.analysis.across.comparison import evidence_of, logs
from teiten.analysis.across.fingerprint import conditions_fingerprint, machine_fingerprint
from teiten.analysis.across.unpaired import interval_of_means
from teiten.analysis.model.comparison import Weight
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.history import (
    Axis,
    CampaignStep,
    ChangePoint,
    ChangeSearch,
    History,
    HistoryLine,
    HistoryPoint,
    LeftOut,
    LineEstimate,
    LineStep,
)
from teiten.analysis.model.verdict import Interval
from teiten.analysis.verdict.changes import half_width_of, of_logarithms
from teiten.analysis.verdict.verdict import mean_and_deviation
from teiten.kinds.metrics import judged_in
from teiten.model.installation import Version
from teiten.model.metrics import RATE
from teiten.model.plan import Cell, Plan
from teiten.model.saturation import PROVISIONAL
from teiten.model.study import SERVER
from teiten.model.units import Share

ALPHA = Share(0.05)
EXPECTED = frozenset({"levels", "servers", "teiten", "server-build"})
"""Differences that say nothing at a change."""


Load = Callable[[], CampaignAnalysis]
"""A campaign's plan and facts, where they are asked for: of few points of a line."""
Key = tuple[str, str, str, str]
"""Machine, conditions, workload, contrasted level ("" for all)."""


@dataclass(frozen=True)
class Located:
    """An estimate, and the campaign that it comes from."""

    estimate: LineEstimate
    load: Load

    @property
    def point(self) -> HistoryPoint:
        return self.estimate.point


def history(
    campaigns: Iterable[tuple[str, CampaignAnalysis]], axis: Axis, left_out: Sequence[LeftOut] = ()
) -> History:
    """Lines of campaigns that belong together; ``campaigns``: where each was found, and its
    analysis, which is read once and then dropped but for its plan and facts."""
    located: list[Located] = []
    without = list(left_out)
    known: dict[tuple[str, float], str] = {}
    for path, campaign in campaigns:
        identity = (campaign.name, campaign.created_at)
        if identity in known:
            without.append(LeftOut(path, f"the same campaign as {known[identity]}"))
            continue
        known[identity] = path
        estimates = estimates_of(path, campaign)
        if isinstance(estimates, LeftOut):
            without.append(estimates)
            continue
        kept = replace(campaign, trials=(), contrasts=(), results={}, claims=())
        located += [Located(estimate, partial(_itself, kept)) for estimate in estimates]
    return laid_out(located, axis, without)


def _itself(campaign: CampaignAnalysis) -> CampaignAnalysis:
    return campaign


def estimates_of(path: str, campaign: CampaignAnalysis) -> tuple[LineEstimate, ...] | LeftOut:
    """A campaign's points, or why it has none. ``path``: where it was found."""
    if campaign.plan.study.profile == PROVISIONAL:
        return LeftOut(path, "a provisional run, which only chose the clients", "provisional")
    workloads = campaign.plan.study.workloads
    metrics = (judged_in(campaign.plan, workload.name) for workload in workloads)
    other_metric = next((metric.name for metric in metrics if metric.unit != RATE), None)
    if other_metric is not None:
        why = f"it is judged by {other_metric}; the lines are of TPS"
        return LeftOut(path, why, "judged-by", other_metric)
    estimates, unusable = _estimates(path, campaign)
    if not estimates and unusable:
        return LeftOut(path, "a value is zero or infinite, which has no logarithm", "no-logarithm")
    return estimates or LeftOut(path, "it has no complete block yet", "no-block")


def laid_out(located: Iterable[Located], axis: Axis, left_out: Sequence[LeftOut]) -> History:
    """The lines of estimates, each campaign of which is there once."""
    lines: dict[Key, list[Located]] = defaultdict(list)
    for placed in located:
        lines[_key(placed.estimate, axis)].append(placed)
    made = [_line(key, of_line, axis) for key, of_line in lines.items()]
    return History(axis, tuple(sorted(made, key=_order)), tuple(left_out))


def _order(line: HistoryLine) -> tuple[object, ...]:
    """Long lines first; those of one group together."""
    return (
        -len(line.points),
        line.study,
        line.machine,
        line.conditions,
        line.workload,
        line.level,
    )


def _key(estimate: LineEstimate, axis: Axis) -> Key:
    all_versions = axis is Axis.VERSION and estimate.factor == SERVER
    return (
        estimate.machine,
        estimate.conditions,
        estimate.workload,
        "" if all_versions else estimate.point.level,
    )


def _estimates(path: str, campaign: CampaignAnalysis) -> tuple[tuple[LineEstimate, ...], int]:
    """A campaign's points, and how many of its values have no logarithm: where one has none, or no
    block has every level, there is no point."""
    plan = campaign.plan
    contrast = plan.study.contrast
    evidence = evidence_of(campaign)
    cells: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in plan.cells:
        cells[cell.workload, cell.level(contrast) or ""].append(cell)
    machine, conditions = machine_fingerprint(campaign.facts), conditions_fingerprint(plan)
    estimates: list[LineEstimate] = []
    unusable = 0
    for (workload, side), of_side in cells.items():
        metric = judged_in(plan, workload).name
        contexts = [cell.context(contrast) for cell in of_side]
        values = {context: evidence.side(workload, context, side, metric) for context in contexts}
        of_values = logs(evidence, values)
        unusable += of_values.unusable
        if of_values.means and not of_values.unusable:
            point = _point(path, campaign, side, of_side, of_values.means)
            estimates.append(LineEstimate(machine, conditions, workload, contrast, point))
    return tuple(estimates), unusable


def _point(
    path: str,
    campaign: CampaignAnalysis,
    side: str,
    cells: Sequence[Cell],
    means: Sequence[float],
) -> HistoryPoint:
    """``means``: of the logarithms over the cells, one for each block."""
    measure = campaign.plan.study.measure
    estimate = of_logarithms(means, measure.alpha, half_width_of(measure), least=0.0)
    assert estimate is not None, "there are means"
    versions = _versions(campaign.plan, cells)
    return HistoryPoint(
        campaign=campaign.name,
        path=path,
        at=campaign.created_at,
        level=side,
        version=", ".join(map(str, versions)),
        version_number=versions[-1].number,
        value=estimate.mean,
        low=estimate.low,
        high=estimate.high,
        error=mean_and_deviation(means)[1] / math.sqrt(len(means)) if len(means) > 1 else None,
        blocks=len(means),
        levels=len(cells),
        conclusive=campaign.plan.study.conclusive,
    )


def _versions(plan: Plan, cells: Iterable[Cell]) -> list[Version]:
    """The versions of the cells' servers, the newest last."""
    servers = dict(plan.servers)
    return sorted({servers[cell.server].version for cell in cells})


def _line(key: Key, located: Sequence[Located], axis: Axis) -> HistoryLine:
    machine, conditions, workload, level = key

    def place(placed: Located) -> tuple[float, float]:
        by_version = axis is Axis.VERSION
        return placed.point.version_number if by_version else 0, placed.point.at

    ordered = sorted(located, key=place)
    newest = max(ordered, key=lambda placed: placed.point.at).load()
    study = newest.plan.study
    return HistoryLine(
        machine=machine,
        conditions=conditions,
        study=study.name,
        profile=study.profile,
        title=study.workload(workload).title,
        workload=workload,
        factor=study.contrast,
        level=level,
        plan=newest.plan,
        facts=newest.facts,
        points=tuple(placed.point for placed in ordered),
        changes=tuple(_changes(ordered)),
        search=ChangeSearch.DONE if len(ordered) >= FEWEST else ChangeSearch.TOO_FEW,
        confidence=Share(1 - ALPHA),
    )


def _changes(ordered: Sequence[Located]) -> Iterator[ChangePoint]:
    values = [math.log(placed.point.value) for placed in ordered]
    errors = [placed.point.error for placed in ordered if placed.point.error is not None]
    firsts = change_points(values, errors, ALPHA)
    firm = change_points(values, errors, ALPHA, correlation=CORRELATION) if firsts else ()
    edges = [0, *firsts, len(values)]
    for at, first in enumerate(firsts, start=1):
        before, after = values[edges[at - 1] : first], values[first : edges[at + 1]]
        ratio = math.exp(math.fsum(after) / len(after) - math.fsum(before) / len(before))
        differences = comparability(ordered[first - 1].load(), ordered[first].load())
        unexpected = [
            difference
            for difference in differences
            if difference.code not in EXPECTED and difference.code != "same-campaign"
        ]
        unexpected.sort(key=lambda difference: difference.weight is Weight.SUBJECT)
        yield ChangePoint(first, ratio, first in firm, tuple(unexpected))


Arrival = tuple[HistoryLine, HistoryPoint, HistoryPoint]
"""A line, and two points that follow one another on it."""


def steps_of(lines: Sequence[HistoryLine]) -> Mapping[str, CampaignStep]:
    """The step to each campaign that has an earlier one, by the path of its ledger.

    Lines in the order of time. Where a campaign follows several on different lines, the newest of
    these is the one before it.
    """
    arrivals: dict[str, list[Arrival]] = defaultdict(list)
    for line in lines:
        for before, after in itertools.pairwise(line.points):
            arrivals[after.path].append((line, before, after))
    return {path: _step(steps) for path, steps in arrivals.items()}


def _step(steps: Sequence[Arrival]) -> CampaignStep:
    """The intervals of all lines together have the level of one."""
    _, before, after = max(steps, key=lambda step: step[1].at)
    shared = [step for step in steps if step[1].path == before.path]
    alpha = ALPHA / len(shared)
    return CampaignStep(
        before,
        after,
        tuple(LineStep(line, old, new, _effect(old, new, alpha)) for line, old, new in shared),
    )


def _effect(before: HistoryPoint, after: HistoryPoint, alpha: float) -> Interval | None:
    if before.error is None or after.error is None:
        return None
    return interval_of_means(
        (math.log(before.value), before.error, before.blocks),
        (math.log(after.value), after.error, after.blocks),
        alpha,
    )
