"""Things that paired starts are too short to show: rare stalls, and work that a server does for
itself after minutes (METHOD.md, Paired transactions)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from teiten.analysis.model.findings import ContrastResult, TrialView
from teiten.analysis.model.observations import Observation
from teiten.analysis.model.verdict import VerdictKind
from teiten.analysis.verdict.pairs import observe
from teiten.model.facts import Caution
from teiten.model.metrics import MEASURED_SECONDS
from teiten.model.plan import Context, Plan
from teiten.model.study import GUC_PREFIX, Study
from teiten.ways.registry import sides_of_a_second, way_of

OF_CHECKPOINTS = ("checkpoint_", "max_wal_size", "min_wal_size")
"""Beginnings of parameters that act by checkpoints alone."""
OF_AUTOVACUUM = ("autovacuum",)
NAPTIME = 60.0
"""Seconds after which a server's autovacuum begins, where autovacuum_naptime is not changed."""
CHECKPOINTS = "checkpoints"
RULE_OF_THREE = 3.0
"""A random event, once in a third of the seconds that were observed, is in them with a probability
of 95 %; a rarer one, with less."""


def unseen_cautions(
    plan: Plan, contrasts: Sequence[ContrastResult], views: Sequence[TrialView]
) -> Iterator[Caution]:
    """Yield what starts of paired transactions could not show: for sides that are called
    equivalent, how rare a stall would have been missed; for sides that differ in a parameter of
    checkpoints or of autovacuum, that none ran."""
    if not way_of(plan.study.measure).concurrent:
        return
    parameters, observations = _differing(plan.study), observe(plan, views)
    for workload in dict.fromkeys(contrast.workload for contrast in contrasts):
        seconds = _seconds_of_starts(workload, observations)
        shared = sides_of_a_second(plan.study)
        if not seconds:
            continue
        verdicts = (
            verdict
            for contrast in contrasts
            if contrast.workload == workload
            for verdict in (contrast.overall, *(level.verdict for level in contrast.levels))
        )
        if any(verdict.kind is VerdictKind.EQUIVALENT for verdict in verdicts):
            yield _rare(workload, seconds, shared)
        longest = max(max(starts.values()) for starts in seconds.values())
        checkpoints = sum(
            view.metrics.get(CHECKPOINTS, 0.0) for view in views if view.workload == workload
        )
        idle = [
            name
            for name in parameters
            if (name.startswith(OF_CHECKPOINTS) and not checkpoints)
            or (name.startswith(OF_AUTOVACUUM) and longest < NAPTIME)
        ]
        if idle:
            listed = ", ".join(idle)
            yield Caution.warning("parameter-never-acted", workload=workload, parameters=listed)


SecondsOfStarts = dict[tuple[Context, str], dict[int, float]]
"""The seconds of load of each start that counted, by context and side, and by block."""


def _seconds_of_starts(workload: str, observations: Sequence[Observation]) -> SecondsOfStarts:
    seconds: SecondsOfStarts = defaultdict(dict)
    for observation in observations:
        if observation.workload == workload:
            own = observation.metrics.get(MEASURED_SECONDS.name, 0.0)
            seconds[observation.context, observation.side][observation.block] = own
    return dict(seconds)


def _rare(workload: str, seconds: SecondsOfStarts, shared: int) -> Caution:
    """``shared``: how many sides have the load of a start in turns, and so each its part of it."""
    observed = min(sum(starts.values()) for starts in seconds.values()) / shared
    return Caution.note(
        "rare-stalls-unseen",
        workload=workload,
        observed=f"{observed:.0f}",
        rare=f"{observed / RULE_OF_THREE:.0f}",
        longest=f"{max(max(starts.values()) for starts in seconds.values()):.0f}",
    )


def _differing(study: Study) -> tuple[str, ...]:
    """The server parameters in which the contrasted levels differ."""
    if study.contrast.startswith(GUC_PREFIX):
        return (study.contrast.removeprefix(GUC_PREFIX),)
    own = dict(study.server_levels)
    sides = [dict(own.get(level, ())) for level in study.contrasted_levels]
    names = dict.fromkeys(name for side in sides for name in side if name.startswith(GUC_PREFIX))
    return tuple(
        name.removeprefix(GUC_PREFIX)
        for name in names
        if len({side.get(name) for side in sides}) > 1
    )
