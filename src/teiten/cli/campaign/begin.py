"""A campaign's beginning: before planning, the questions, its ledger, and what a refused one
leaves."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import click

from teiten.analysis.model.replication import REPLICATION
from teiten.cli.campaign.carry_out import CarriedOut, carry_out, measuring, sweep_leftovers
from teiten.cli.console import Verbosity
from teiten.cli.main import Session
from teiten.cli.plan.make import Planned
from teiten.cli.plan.options import PlanOptions
from teiten.cli.text.cautions import brief_cautions
from teiten.errors import InterruptedCampaignError, TeitenError
from teiten.host.facts.kept import known_check
from teiten.host.system.causes import translate_os_errors
from teiten.ledger.campaigns import check_name, new_name
from teiten.ledger.folders import delete_campaign
from teiten.ledger.store import Ledger
from teiten.model.noise import NOISE
from teiten.model.pairs_check import PAIRS_CHECK
from teiten.model.plan import Plan
from teiten.model.quantities import rough_duration
from teiten.model.study import CachePolicy, Study
from teiten.plan.sites.of import servers_of_others
from teiten.report.texts import caution_text
from teiten.ways.registry import way_of

LONG = 2 * 3600.0
"""Seconds from which on a campaign is begun only after a question."""


def prepare(session: Session, name: str | None) -> None:
    """Everything that comes before planning. Raises UsageError for a name that is taken,
    LedgerError while another campaign is measured here."""
    with translate_os_errors("the working folder cannot be used (--workdir)"):
        session.workdir.prepare()
    if name:
        check_name(name, session.workdir.campaigns)
    with measuring(session):
        sweep_leftovers(session)


def confirm(session: Session, planned: Planned, *, yes: bool) -> None:
    """Ask a person at a terminal where there is reason to; a script is never asked.

    Ends the program with exit code 0 where the answer is no: nothing was started.
    """
    reasons = tuple(reasons_to_ask(planned))
    is_asked = sys.stdin.isatty() and session.console.people.is_terminal
    if yes or not is_asked or not reasons:
        return
    session.console.say(*reasons)
    if not click.confirm("Begin?", default=True, err=True):
        session.console.say("nothing was started")
        raise click.exceptions.Exit(0)


def reasons_to_ask(planned: Planned) -> Iterator[str]:
    """Why somebody should know before the campaign begins."""
    plan = planned.plan
    if plan.needs.seconds > LONG:
        yield f"This will take {_most(plan)}about {rough_duration(plan.needs.seconds)}."
    if plan.study.measure.caches is CachePolicy.DROP and planned.facts.can_drop_page_cache:
        yield "The page cache of the whole system is dropped before each start of a server."


def _most(plan: Plan) -> str:
    """Words before the size of a campaign that a decision may shorten."""
    return "" if plan.study.measure.sequential is None else "at most "


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


def begin(
    session: Session,
    planned: Planned,
    name: str | None,
    command: str,
    *,
    telling: bool = True,
    yes: bool = False,
) -> str:
    """Say the cautions, write the ledger of a new campaign, and return the campaign's name.

    ``telling``: False where the same cautions were said just before. ``yes``: do not ask before
    databases are made on an attached server. Raises UsageError where nobody can be asked,
    LedgerError where another campaign has begun meanwhile: nothing is made then.
    """
    if telling:
        tell_cautions(session, planned)
    plan = planned.plan
    confirm_attached(session, plan, yes=yes)
    chosen = name or name_of(session, plan.study)
    folder = session.workdir.campaigns / chosen
    with measuring(session), create_ledger(session, planned, folder, command):
        pass
    session.console.say(
        f"campaign {chosen}: {_most(plan)}{len(plan.trials)} trials,"
        f" about {rough_duration(plan.needs.seconds)}"
    )
    return chosen


def name_of(session: Session, study: Study) -> str:
    """A name for a campaign that is not given one."""
    return new_name(study.name, study.profile, time.time(), session.workdir.campaigns)


@contextmanager
def create_ledger(
    session: Session, planned: Planned, folder: Path, command: str
) -> Iterator[Ledger]:
    """Write the ledger of a new campaign, called as its folder, with what is known of the machine's
    noise, and how the length of its trials was chosen."""
    with Ledger.create(
        folder,
        plan=planned.plan,
        name=folder.name,
        facts=planned.facts,
        cautions=planned.cautions,
        command=command,
    ) as ledger:
        ledger.record_event("campaign-started")
        for floor in planned.noise:
            ledger.record_event(NOISE, **asdict(floor))
        if way_of(planned.plan.study.measure).concurrent:
            check = known_check(session.workdir.caches, planned.facts)
            if check is not None:
                ledger.record_event(PAIRS_CHECK, **asdict(check))
        if planned.replication is not None:
            ledger.record_event(REPLICATION, **asdict(planned.replication))
        yield ledger


def carry_out_new(session: Session, name: str) -> CarriedOut:
    """Carry out a campaign that has just begun; one that could not start leaves nothing behind."""
    with forgotten_if_refused(session, name):
        return carry_out(session, session.workdir.campaigns / name)


@contextmanager
def forgotten_if_refused(session: Session, name: str) -> Iterator[None]:
    """A campaign that could not start, for whatever reason, leaves nothing half done behind.

    One that somebody interrupts stays: what was prepared for it is not lost.
    """
    try:
        yield
    except (InterruptedCampaignError, KeyboardInterrupt):
        raise
    except BaseException:
        folder = session.workdir.campaigns / name
        with suppress(TeitenError, OSError):  # the first error is the one to tell
            with Ledger.open(folder, read_only=True) as ledger:
                ran = any(event.kind == "trial-started" for event in ledger.events())
            if not ran:
                delete_campaign(folder, session.workdir.campaigns)
        raise


def tell_cautions(session: Session, planned: Planned) -> None:
    """Say what could disturb the measurement, before it starts: in at most five lines, by cause;
    with --verbose each with its advice."""
    if session.console.verbosity >= Verbosity.VERBOSE:
        for caution in planned.cautions:
            session.console.warn(*caution_text(caution, "en"))
    else:
        for line in brief_cautions(planned.cautions):
            session.console.warn(line)


def repeating_command(study: str, options: PlanOptions, seed: int) -> str:
    """The command line that repeats a campaign, its seed included."""
    words = ["teiten", "run", study, *options.as_arguments()]
    if "--seed" not in words:
        words += ["--seed", str(seed)]
    return shlex.join(words)
