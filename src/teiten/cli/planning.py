"""From a study's name and flags to a plan for this machine; ``plan`` and ``run`` share it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

from teiten.analysis.sequential import least_pairs
from teiten.cli.main import Session
from teiten.cli.options import LARGEST_SEED, PlanOptions
from teiten.execute.postgres.installations import choose_pgbench, find_installations, resolve
from teiten.execute.postgres.templates.store import (
    TemplateStore,
    expected_bytes,
    template_fingerprint,
)
from teiten.host.cautions import cautions, plan_cautions, warnings_first
from teiten.host.facts import read_host_facts
from teiten.host.noise import known_noise
from teiten.host.users import server_user
from teiten.model.facts import Caution, HostFacts, Severity
from teiten.model.installation import Installation
from teiten.model.noise import NoiseFloor
from teiten.model.plan import Plan
from teiten.model.study import Study
from teiten.plan.cells import most_clients
from teiten.plan.checks import check
from teiten.plan.estimate import estimate
from teiten.plan.expand import expand
from teiten.plan.sizing import size
from teiten.study.load import load_study


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


def make_plan(
    session: Session, study_reference: str, options: PlanOptions, *, checked: bool = True
) -> Planned:
    """Plan a study for this machine; starts nothing.

    ``checked``: raise MachineError where the machine does not suffice. Raises UsageError and
    StudyError for what the user wrote.
    """
    return plan_study(session, _load(study_reference, options), seed=options.seed, checked=checked)


def plan_study(
    session: Session, study: Study, *, seed: int | None, checked: bool = True
) -> Planned:
    """As ``make_plan``, of a study that is loaded; ``seed``: None for a random one."""
    facts = read_host_facts(session.workdir.root)
    sized = size(study, facts)
    installations = find_installations(session.workdir)
    plan = expand(
        sized,
        _servers(sized, installations),
        choose_pgbench(installations),
        seed=secrets.randbelow(LARGEST_SEED) if seed is None else seed,
        fingerprint=template_fingerprint,
        expected_bytes=expected_bytes,
    )
    ready = _ready_templates(session, plan)
    needs = estimate(sized, plan.trials, plan.templates, ready)
    planned = Planned(
        replace(plan, needs=needs),
        facts,
        _all_cautions(plan, facts),
        ready,
        tuple(known_noise(session.workdir.caches, facts, plan)),
    )
    if checked:
        check_planned(session, planned)
    return planned


def check_planned(session: Session, planned: Planned) -> None:
    """Raise MachineError with the exact shortfall, or UsageError for a contradiction."""
    check(planned.plan, planned.facts, session.workdir.root)


def _load(study_reference: str, options: PlanOptions) -> Study:
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
        queries=options.queries,
    )


def _servers(
    study: Study, installations: tuple[Installation, ...]
) -> tuple[tuple[str, Installation], ...]:
    factor = study.factor("server")
    aliases = dict(study.server_aliases)
    levels = factor.levels if factor is not None else ()
    return tuple((level, resolve(level, installations, aliases)) for level in levels)


def _ready_templates(session: Session, plan: Plan) -> frozenset[str]:
    store = TemplateStore(session.workdir, server_user())
    return frozenset(each.fingerprint for each in plan.templates if store.ready(each))


def _all_cautions(plan: Plan, facts: HostFacts) -> tuple[Caution, ...]:
    of_machine = cautions(facts, clients=most_clients(plan.study))
    return warnings_first((*of_machine, *plan_cautions(plan, facts), *_budget_cautions(plan)))


def _budget_cautions(plan: Plan) -> tuple[Caution, ...]:
    """A caution where so few pairs fit into the budget that no interval can be finite."""
    measure = plan.study.measure
    if measure.sequential is None or measure.blocks >= least_pairs(measure.alpha):
        return ()
    values = (("pairs", str(measure.blocks)), ("least", str(least_pairs(measure.alpha))))
    return (Caution("budget-short", Severity.WARNING, values),)
