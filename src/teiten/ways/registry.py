"""The ways that there are, found by their folders; every other room asks for one here."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from teiten import ways
from teiten.model.plan import Plan
from teiten.model.study import Measure, Study
from teiten.ways.contract import WayRule

PREFERRED = "pairs"
"""The preferred way of loading two sides, where it can be had."""


@cache
def folders() -> tuple[str, ...]:
    """The names of all ways' folders, sorted."""
    inside = pkgutil.iter_modules(ways.__path__)
    return tuple(sorted(module.name for module in inside if module.ispkg))


@cache
def rules() -> dict[str, WayRule]:
    """All ways by their names."""
    packages = (importlib.import_module(f"{ways.__name__}.{name}") for name in folders())
    return {package.WAY.name: package.WAY for package in packages}


def way_of(measure: Measure) -> WayRule:
    """The way in which a study is measured. Raises KeyError for one that is not here."""
    for rule in rules().values():
        if rule.is_of(measure):
            return rule
    raise KeyError(measure.way)


def is_preferred(measure: Measure) -> bool:
    """Whether a study is measured in the way that it prefers."""
    return measure.preferred is not None and measure.preferred.name == way_of(measure).name


def way_of_clients(measure: Measure, clients: int) -> WayRule:
    """The way in which so many clients are loaded."""
    return rules()[way_of(measure).of_clients(measure, clients)]


def ways_by_clients(plan: Plan) -> dict[int, WayRule]:
    """The way of each number of clients of a plan, fewest clients first."""
    clients = sorted({trial.load.connections for trial in plan.trials})
    return {count: way_of_clients(plan.study.measure, count) for count in clients}


def sides_of_a_second(study: Study) -> int:
    """How many sides are measured by the same second of load."""
    return concurrent_trials(study) if way_of(study.measure).concurrent else 1


def concurrent_trials(study: Study) -> int:
    """How many trials share their time: those of a start whose servers run side by side."""
    return study.sides_of_a_start or 1 if way_of(study.measure).side_by_side else 1


def servers_of_a_start(study: Study) -> int:
    """How many servers run at the same time: of each side one, or one whose sessions set what the
    sides differ in."""
    return 1 if study.measure.by_session else concurrent_trials(study)
