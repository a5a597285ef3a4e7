"""A plan in words: what will be done to the machine, and by whom."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from teiten.model.facts import HostFacts
from teiten.model.plan import Plan
from teiten.plan.sites.contract import Told
from teiten.plan.sites.of import sites_of


def actions(
    plan: Plan, facts: HostFacts, *, folder: Path, user: str, ready: Collection[str] = ()
) -> tuple[str, ...]:
    """Everything that running the plan does to the machine, one sentence each.

    ``folder``: Teiten's working folder; ``user``: as whom servers run; ``ready``: fingerprints of
    templates that exist.
    """
    told = Told(plan, facts, folder, user, ready)
    sites = sites_of(plan)
    found = [sentence for site in sites for sentence in site.actions(told)]
    return (*found, *sites[0].closing(told))
