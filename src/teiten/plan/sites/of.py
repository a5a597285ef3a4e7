"""Which kind of site a server of a plan is on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from teiten.errors import WayError
from teiten.model.hosts import HostAssignment
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.model.study import Study
from teiten.plan.sites.attached import AttachedPlan
from teiten.plan.sites.contract import SitePlan
from teiten.plan.sites.local import LocalPlan
from teiten.plan.sites.remote import RemotePlan
from teiten.ways.registry import way_of

LOCAL, ATTACHED = LocalPlan(), AttachedPlan()


def site_of(installation: Installation, hosts: HostAssignment | None = None) -> SitePlan:
    """``hosts``: of the plan, where it is known."""
    if hosts is not None:
        return RemotePlan(hosts)
    return LOCAL if installation.attached is None else ATTACHED


def site_in(plan: Plan, installation: Installation) -> SitePlan:
    """Where a server of a plan is."""
    return site_of(installation, plan.hosts)


def sites_of(plan: Plan) -> Sequence[SitePlan]:
    """Every kind of site of a plan once: those with servers that run already first."""
    found = dict.fromkeys(site_in(plan, one) for _, one in plan.servers)
    return sorted(found, key=lambda one: one.starts)


def check_pairs(study: Study, servers: Sequence[tuple[str, Installation]]) -> None:
    """Raise WayError where the sides of paired transactions are on sites of different kinds: one
    side would start anew for each pair, and the other would not."""
    starting = {level: starts(one) for level, one in servers}
    if way_of(study.measure).concurrent and len(set(starting.values())) > 1:
        attached = ", ".join(level for level, started in starting.items() if not started)
        raise WayError(
            f"way: {attached} is attached, and another side is a server that Teiten starts anew"
            " for each pair",
            "compare attached servers alone, or have the sides loaded one after the other:"
            " --way classic",
        )


def with_known_processors(study: Study, servers: Sequence[tuple[str, Installation]]) -> Study:
    """The study with the processors of its servers' machine, by which paired transactions are mixed
    or in step; of an attached server on another machine nobody knows them."""
    if study.measure.processors is None:
        return study
    elsewhere = any(one.attached is not None and not one.attached.local for _, one in servers)
    processors = 1 if elsewhere else study.measure.processors
    return replace(study, measure=replace(study.measure, processors=processors))


def all_here(plan: Plan) -> bool:
    """Whether every server of a plan is started on this machine."""
    return all(one is LOCAL for one in sites_of(plan))


def starts(installation: Installation) -> bool:
    """Whether Teiten starts the server, on a cluster that takes disk and memory."""
    return site_of(installation).starts
