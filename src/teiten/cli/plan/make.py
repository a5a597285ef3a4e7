"""From a study's name and flags to a plan for this machine; ``plan`` and ``run`` share it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from teiten.analysis.model.replication import Replication
from teiten.analysis.verdict.contrasts import pairs_to_interval
from teiten.cli.console import Console
from teiten.cli.main import Session
from teiten.cli.plan.builds import StudyServers
from teiten.cli.plan.options import PlanOptions
from teiten.cli.plan.site import PlanningSite, planning_site, require_here, servers_here
from teiten.datasets.plan import plan_of as data_plan_of
from teiten.errors import MachineError, WayError
from teiten.execute.postgres.inspection import read_build
from teiten.execute.postgres.parameters import read_refusals, session_parameters
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.execute.sites.load_generator import load_generator
from teiten.host.cautions.builds import cautions_of_builds
from teiten.host.cautions.machine import warnings_first
from teiten.host.cautions.variants import order_of_servers
from teiten.host.facts.kept import known_noise
from teiten.host.facts.native_part import how_to_get, why_no_pairs
from teiten.model.build import PlannedBuild
from teiten.model.facts import Caution, HostFacts
from teiten.model.noise import NoiseFloor
from teiten.model.plan import Plan
from teiten.model.study import Study
from teiten.plan.checks import check, check_parameters
from teiten.plan.durations import blocks_in_budget, least_budget
from teiten.plan.estimate import estimate
from teiten.plan.expand import expand
from teiten.plan.ordering import LARGEST_SEED, on_one_server, sides_in_memory
from teiten.plan.sites.of import (
    asked_here,
    fitted,
    wants_modules,
    where_it_lacks,
    without_missing,
    working_folder,
)
from teiten.plan.sizing import size
from teiten.study.load import load_study
from teiten.ways.registry import rules, way_of

IN_TURN = "one side at a time, no paired transactions"


@dataclass(frozen=True)
class Planned:
    """A plan, and what it was made from."""

    plan: Plan
    facts: HostFacts
    cautions: tuple[Caution, ...]
    ready: frozenset[str] = frozenset()
    """Fingerprints of templates that exist already."""
    noise: tuple[NoiseFloor, ...] = ()
    """Noise that ``teiten null`` has measured here for workloads of the plan."""
    builds: tuple[PlannedBuild, ...] = ()
    """Servers that have yet to be built; ``plan.needs`` holds their time and disk."""
    replication: Replication | None = None
    """How the length of trials was chosen, where it was."""


def make_plan(
    session: Session,
    study_reference: str,
    options: PlanOptions,
    *,
    checked: bool = True,
    building: bool = False,
) -> Planned:
    """Plan a study for this machine; starts nothing but, with ``building``, the study's builds.

    ``checked``: raise MachineError where the machine does not suffice. Raises UsageError and
    StudyError for what the user wrote.
    """
    study = load_study(study_reference, options)
    plan = partial(plan_study, session, seed=options.seed, checked=checked, building=building)
    way = study.measure.preferred
    paired = None if way is None else paired_plan(session.console, study, plan, way.name)
    return plan(study) if paired is None else paired


def plan_study(
    session: Session,
    study: Study,
    *,
    seed: int | None,
    checked: bool = True,
    building: bool = False,
) -> Planned:
    """Plan a study that is loaded, as ``make_plan`` does; ``seed``: None for a random one."""
    with planning_site(session, study) as site:
        servers = StudyServers(session, study, site, building=building)
        facts = site.facts()
        shared = on_one_server(study, servers.resolved, session_parameters)
        sized = size(site.emulating(shared), facts)
        planned = _plan(session, sized, servers, facts, site, seed=seed)
        sides = sides_in_memory(planned.plan, facts)
        if sides is not None:
            fewer = replace(shared, measure=replace(shared.measure, sides=sides))
            sized = size(site.emulating(fewer), facts)
            planned = _plan(session, sized, servers, facts, site, seed=planned.plan.seed)
        if checked:
            check_planned(session, planned)
        return planned


def plan_sized(session: Session, sized: Study, *, seed: int | None) -> Planned:
    """Plan a study, as ``plan_study`` does, that leaves nothing to the machine, and whose builds
    are there already."""
    with planning_site(session, sized) as site:
        servers = StudyServers(session, sized, site, building=False)
        planned = _plan(session, sized, servers, site.facts(), site, seed=seed)
        check_planned(session, planned)
        return planned


def _plan(
    session: Session,
    sized: Study,
    servers: StudyServers,
    facts: HostFacts,
    site: PlanningSite,
    *,
    seed: int | None,
) -> Planned:
    facts = site.with_folders(facts, sized)
    installations, resolved = servers.installations, servers.resolved
    site.check(sized, resolved)
    wanted = resolved if wants_modules(sized) else ()
    tools = {level: site.module_tools(server) for level, server in wanted}
    sized = fitted(without_missing(sized, resolved, tools), resolved)
    plan = expand(
        sized,
        resolved,
        load_generator(installations, resolved, copied=site.copied),
        seed=secrets.randbelow(LARGEST_SEED) if seed is None else seed,
        fingerprint=template_fingerprint,
        cpus=facts.cpu.cpus,
    )
    plan = site.placed(plan)
    ready = site.ready(plan)
    needs = servers.with_builds(estimate(sized, plan.trials, plan.templates, ready))
    read = {level: read_build(server.postgres) for level, server in servers_here(plan)}
    builds = {level: build for level, build in read.items() if build is not None}
    of_servers = (*cautions_of_builds(builds), *order_of_servers(plan))
    return Planned(
        replace(plan, needs=needs),
        facts,
        warnings_first((*of_servers, *site.cautions(plan, facts), *_budget_cautions(plan))),
        ready,
        tuple(known_noise(session.workdir.caches, facts, plan)),
        servers.planned,
    )


def check_planned(session: Session, planned: Planned) -> None:
    """Raise MachineError with the exact shortfall, or UsageError for a contradiction."""
    for template in planned.plan.templates:
        if template.fingerprint not in planned.ready:
            data_plan_of(template.data.kind).require()
    require_here(planned.plan, session.workdir.clusters)
    study = planned.plan.study
    missing = missing_for_pairs(study) if way_of(study.measure).concurrent else None
    if missing is not None:
        raise MachineError(f"no paired transactions: {missing}", how_to_get())
    try:
        check(planned.plan, planned.facts, working_folder(planned.plan, session.workdir.root))
    except MachineError as error:
        raise where_it_lacks(planned.plan, error) from error
    check_parameters(read_refusals(asked_here(planned.plan)))


def _budget_cautions(plan: Plan) -> tuple[Caution, ...]:
    """A caution where so few pairs fit into the budget that no interval can be finite."""
    measure = plan.study.measure
    if measure.sequential is None:
        return ()
    blocks = min(measure.blocks // plan.study.starts_of_all, blocks_in_budget(plan.study))
    pairs = blocks // plan.pairs_of_a_start
    workloads = {trial.cell.workload for trial in plan.trials}
    least = min((pairs_to_interval(plan, name) for name in workloads), default=0)
    if pairs >= least:
        return ()
    minutes = f"{least_budget(plan.study) / 60:.0f}m"
    return (Caution.warning("budget-short", pairs=pairs, least=least, budget=minutes),)


def paired_plan(
    console: Console, study: Study, plan: Callable[[Study], Planned], way: str
) -> Planned | None:
    """The plan of a study in a way of paired transactions; None where it cannot be had, which is
    said. ``plan``: how a study is planned."""
    missing = missing_for_pairs(study)
    if missing is not None:
        console.warn(f"{IN_TURN}, slower and less conclusive: {missing}", how_to_get())
        return None
    preferred, measure = study.measure.preferred, replace(study.measure, way=way)
    if preferred is not None and preferred.name == way:
        measure = replace(measure, sequential=preferred.sequential)
    try:
        return plan(replace(study, measure=measure))
    except (WayError, MachineError) as error:
        console.say(f"{IN_TURN}: {error.message}")
        return None


def missing_for_pairs(study: Study) -> str | None:
    """Things that the native part lacks for a study."""
    preferred = study.measure.preferred
    if preferred is not None and not rules()[preferred.name].concurrent:
        return None
    return why_no_pairs()
