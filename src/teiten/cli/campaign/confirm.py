"""The questions before a campaign: whether one that takes long, or that others will feel, is to
begin, and whether databases may be made on servers of others."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from teiten.cli.main import Session
from teiten.cli.plan.make import Planned
from teiten.model.plan import Plan
from teiten.model.quantities import rough_duration
from teiten.model.study import CachePolicy
from teiten.plan.sites.of import servers_of_others

LONG = 2 * 3600.0
"""Seconds from which on a campaign is begun only after a question."""


def confirm(session: Session, planned: Planned, *, yes: bool) -> None:
    """Ask a person at a terminal where there is reason to; a script is never asked.

    Ends the program with exit code 0 where the answer is no: nothing was started.
    """
    reasons = tuple(reasons_to_ask(planned))
    asked = sys.stdin.isatty() and session.console.people.is_terminal
    if yes or not asked or not reasons:
        return
    for reason in reasons:
        session.console.say(reason)
    if not click.confirm("Begin?", default=True, err=True):
        session.console.say("nothing was started")
        raise click.exceptions.Exit(0)


def reasons_to_ask(planned: Planned) -> Iterator[str]:
    """Why somebody should know before the campaign begins."""
    plan = planned.plan
    if plan.needs.seconds > LONG:
        most = "" if plan.study.measure.sequential is None else "at most "
        yield f"This will take {most}about {rough_duration(plan.needs.seconds)}."
    if plan.study.measure.caches is CachePolicy.DROP and planned.facts.can_drop_page_cache:
        yield "The page cache of the whole system is dropped before each start of a server."


def confirm_attached(session: Session, plan: Plan, *, yes: bool) -> None:
    """Ask before databases are made on servers that Teiten did not start.

    Raises UsageError where there is no terminal to ask on, click.Abort where the answer is no.
    """
    where = " and ".join(servers_of_others(plan))
    if not where or yes:
        return
    session.console.ask(
        f"Make databases teiten_… on {where}, load the server, and drop them at the end?",
        asks=f"Teiten asks before it makes databases on {where}, which it did not start",
        hint="give --yes to go on without a question; teiten plan shows what would be done",
    )
