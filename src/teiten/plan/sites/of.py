"""Which kind of site a server of a plan is on."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.model.hosts import Placement
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.plan.sites.attached import AttachedPlan
from teiten.plan.sites.contract import SitePlan
from teiten.plan.sites.local import LocalPlan
from teiten.plan.sites.remote import RemotePlan

LOCAL, ATTACHED = LocalPlan(), AttachedPlan()


def site_of(installation: Installation, hosts: Placement | None = None) -> SitePlan:
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


def all_here(plan: Plan) -> bool:
    """Whether every server of a plan is started on this machine."""
    return all(one is LOCAL for one in sites_of(plan))


def starts(installation: Installation) -> bool:
    """Whether Teiten starts the server, on a cluster that takes disk and memory."""
    return site_of(installation).starts
