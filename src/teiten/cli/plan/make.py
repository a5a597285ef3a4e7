"""From a study's name and flags to a plan for this machine; ``plan`` and ``run`` share it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from pathlib import Path

from teiten.analysis.verdict.contrasts import contexts_of
from teiten.analysis.verdict.sequential import least_pairs
from teiten.cli.main import Session
from teiten.cli.plan.builds import StudyServers
from teiten.cli.plan.hosts import Reached, asked_here, machine_cautions, on_host, reached
from teiten.cli.plan.options import LARGEST_SEED, PlanOptions
from teiten.datasets.plan import plan_of as plan_of_data
from teiten.errors import MachineError
from teiten.execute.postgres.directories import read_directories
from teiten.execute.postgres.installations import choose_pgbench, find_installations
from teiten.execute.postgres.parameters import read_refusals
from teiten.execute.postgres.templates.store import (
    TemplateStore,
    expected_bytes,
    template_fingerprint,
)
from teiten.execute.sites.attached.encryption import encrypting_pgbench
from teiten.execute.sites.local.limit import require_limits
from teiten.host.cautions.machine import cautions, plan_cautions, warnings_first
from teiten.host.cautions.variants import pinned_apart
from teiten.host.facts.machine import read_host_facts
from teiten.host.facts.noise import known_noise
from teiten.host.system.users import server_user
from teiten.model.build import PlannedBuild
from teiten.model.facts import Caution, HostFacts, Severity
from teiten.model.installation import Installation, Pgbench
from teiten.model.noise import NoiseFloor
from teiten.model.plan import Plan
from teiten.model.starts import pairs_of_a_start
from teiten.model.study import Study
from teiten.plan.checks import check
from teiten.plan.estimate import estimate
from teiten.plan.expand import expand
from teiten.plan.levels import every_level, most_clients
from teiten.plan.limits import limits_of
from teiten.plan.parameters import check_parameters
from teiten.plan.sites.attached import attached_cautions
from teiten.plan.sites.remote import check_remote
from teiten.plan.sizing import size
from teiten.study.load import load_study

SHARED_CORES = "shared-cores"
"""The machine's caution that a plan makes needless whose trials are pinned apart."""


@dataclass(frozen=True)
class Planned:
    """A plan, and what it was made from."""

    plan: Plan
    facts: HostFacts
    cautions: tuple[Caution, ...]
    ready: frozenset[str] = frozenset()
    """Fingerprints of templates that exist already."""
    noise: tuple[NoiseFloor, ...] = ()
    """What ``teiten null`` has measured here for workloads of the plan."""
    builds: tuple[PlannedBuild, ...] = ()
    """Servers that have yet to be built; ``plan.needs`` holds their time and disk."""


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
    study = load(study_reference, options)
    return plan_study(session, study, seed=options.seed, checked=checked, building=building)


def plan_study(
    session: Session,
    study: Study,
    *,
    seed: int | None,
    checked: bool = True,
    building: bool = False,
) -> Planned:
    """As ``make_plan``, of a study that is loaded; ``seed``: None for a random one."""
    with reached(session, study) as hosts:
        servers = StudyServers(session, study, building=building, hosts=hosts)
        facts = _facts(session, hosts)
        sized = size(study, facts)
        return _plan(session, sized, servers, facts, seed=seed, checked=checked, hosts=hosts)


def plan_sized(session: Session, sized: Study, *, seed: int | None) -> Planned:
    """As ``plan_study``, of a study that leaves nothing to the machine, and whose builds are there
    already."""
    with reached(session, sized) as hosts:
        servers = StudyServers(session, sized, building=False, hosts=hosts)
        facts = _facts(session, hosts)
        return _plan(session, sized, servers, facts, seed=seed, checked=True, hosts=hosts)


def _pgbench(installations: tuple[Installation, ...], *, encrypted: bool, copied: bool) -> Pgbench:
    """``copied``: it goes to other hosts; those that Teiten installed can."""
    if encrypted:
        return encrypting_pgbench(installations)
    own = tuple(one for one in installations if one.managed and one.pgbench is not None)
    return choose_pgbench(own if copied and own else installations)


def _facts(session: Session, hosts: Reached | None) -> HostFacts:
    """Of the machine where servers run."""
    return read_host_facts(session.workdir.root) if hosts is None else hosts.placement.db.facts


def _plan(
    session: Session,
    sized: Study,
    servers: StudyServers,
    facts: HostFacts,
    *,
    seed: int | None,
    checked: bool,
    hosts: Reached | None,
) -> Planned:
    if hosts is None:
        directories = read_directories(every_level(sized, "directory"), server_user())
        facts = replace(facts, directories=directories)
    installations = find_installations(session.workdir)
    found = servers.resolved(installations)
    if hosts is not None:
        check_remote(sized, found)
        hosts.check(found)
    encrypted = any(one.attached.encrypted for _, one in found if one.attached is not None)
    plan = expand(
        sized,
        found,
        _pgbench(installations, encrypted=encrypted, copied=hosts is not None),
        seed=secrets.randbelow(LARGEST_SEED) if seed is None else seed,
        fingerprint=template_fingerprint,
        expected_bytes=expected_bytes,
        cpus=facts.cpu.cpus,
    )
    if hosts is not None:
        plan = replace(plan, hosts=hosts.placement)
        ready = hosts.ready([one.fingerprint for one in plan.templates])
    else:
        ready = _ready_templates(session, plan)
    needs = servers.with_builds(estimate(sized, plan.trials, plan.templates, ready))
    planned = Planned(
        replace(plan, needs=needs),
        facts,
        _all_cautions(plan, facts),
        ready,
        tuple(known_noise(session.workdir.caches, facts, plan)),
        servers.planned,
    )
    if checked:
        check_planned(session, planned)
    return planned


def check_planned(session: Session, planned: Planned) -> None:
    """Raise MachineError with the exact shortfall, or UsageError for a contradiction."""
    templates = (one for one in planned.plan.templates if one.fingerprint not in planned.ready)
    if limits_of(planned.plan):
        require_limits(None, limits_of(planned.plan)[-1])
    for kind in sorted({one.data.kind for one in templates}):
        plan_of_data(kind).check_machine()
    placement = planned.plan.hosts
    folder = session.workdir.root if placement is None else Path(placement.db.workdir)
    try:
        check(planned.plan, planned.facts, folder)
    except MachineError as error:
        raise on_host(error, placement) from error
    check_parameters(read_refusals(asked_here(planned.plan)))


def load(study_reference: str, options: PlanOptions) -> Study:
    """The study with the options' changes. Raises UsageError and StudyError."""
    return load_study(
        study_reference,
        profile=options.profile,
        servers=options.servers,
        overrides=options.overrides,
        gucs=options.gucs,
        blocks=options.blocks,
        delta=options.delta,
        alpha=options.alpha,
        until_decided=options.until_decided,
        budget=options.budget,
        source=options.source,
        flame_graph=options.flame_graph,
        queries=options.queries,
        memory=options.memory,
    )


def _ready_templates(session: Session, plan: Plan) -> frozenset[str]:
    store = TemplateStore(session.workdir, server_user())
    return frozenset(each.fingerprint for each in plan.templates if store.ready(each))


def _all_cautions(plan: Plan, facts: HostFacts) -> tuple[Caution, ...]:
    if plan.hosts is not None:
        of_hosts = machine_cautions(plan, plan.hosts)
        return warnings_first((*of_hosts, *plan_cautions(plan, facts), *_budget_cautions(plan)))
    of_machine = cautions(facts, clients=most_clients(plan.study))
    if pinned_apart(plan):
        of_machine = tuple(one for one in of_machine if one.code != SHARED_CORES)
    return warnings_first(
        (
            *of_machine,
            *plan_cautions(plan, facts),
            *attached_cautions(plan),
            *_budget_cautions(plan),
        )
    )


def _budget_cautions(plan: Plan) -> tuple[Caution, ...]:
    """A caution where so few pairs fit into the budget that no interval can be finite."""
    measure = plan.study.measure
    pairs = measure.blocks // pairs_of_a_start(plan)
    levels = [len(contexts_of(plan, workload.name)) for workload in plan.study.workloads]
    least = least_pairs(measure.alpha, min(filter(None, levels), default=1))
    if measure.sequential is None or pairs >= least:
        return ()
    values = (("pairs", str(pairs)), ("least", str(least)))
    return (Caution("budget-short", Severity.WARNING, values),)
