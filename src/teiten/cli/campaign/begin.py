"""A campaign's beginning: before planning, the questions, its ledger, and what a refused one
leaves. Campaigns of two sides: the way in which they are loaded, as asked, else in paired
transactions where they can be had; and from the study to the end of the campaign."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

import click

from teiten.cli.campaign.attached import confirm_attached
from teiten.cli.campaign.carry_out import (
    CarriedOut,
    carry_out,
    create_ledger,
    measuring,
    sweep_leftovers,
)
from teiten.cli.campaign.pilot import plan_worthwhile
from teiten.cli.console import Verbosity
from teiten.cli.main import Session
from teiten.cli.plan.make import Planned, paired_plan, plan_study
from teiten.cli.plan.options import PlanOptions
from teiten.cli.plan.two_sides import SharedOptions, flags_of_sides, tell_of_changed_data
from teiten.cli.text.cautions import brief_cautions
from teiten.errors import InterruptedCampaignError, TeitenError
from teiten.host.system.causes import translate_os_errors
from teiten.ledger.campaigns import check_name, new_name
from teiten.ledger.folders import delete_campaign
from teiten.ledger.store import Ledger
from teiten.model.plan import Plan
from teiten.model.quantities import rough_duration
from teiten.model.study import CachePolicy, Study
from teiten.report.texts import caution_text
from teiten.study.sides import SideFlags
from teiten.ways.registry import PREFERRED, way_of

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


def plan_by_way(
    session: Session, study: Study, options: SharedOptions, *, piloting: bool = False
) -> Planned:
    """The plan of two sides in the way that was asked for, or the best that can be had; with
    ``piloting``, of the classic way with trials as long as pays: rounds take the usual length,
    because a pilot chooses between lengths of servers that stay up.

    Raises WayError for a way that was asked for and cannot be had.
    """
    plan = partial(plan_study, session, seed=options.seed)
    if options.fixes_way and study.measure.preferred is None:
        if way_of(study.measure).concurrent:
            return plan(study)
    else:
        planned = paired_plan(session.console, study, plan, PREFERRED)
        if planned is not None:
            return planned
    if not piloting or study.measure.rounds:
        return plan(study)
    return plan_worthwhile(session, study, seed=options.seed, fixed=options.fixes_slices)


def carry_out_sides(
    session: Session,
    study: Study,
    options: SharedOptions,
    words: Sequence[str],
    *,
    sides: Sequence[SideFlags] = (),
    piloting: bool = False,
) -> CarriedOut:
    """Plan a study of two sides, and carry it out.

    ``words``: the verb and its arguments, with which the options repeat the campaign; ``sides``:
    those with flags of their own; ``piloting``: as of ``plan_by_way``.
    """
    tell_of_changed_data(session, study, options)
    with flags_of_sides(sides):
        planned = plan_by_way(session, study, options, piloting=piloting)
    confirm(session, planned, yes=options.yes)
    repeated = replace(
        options.with_chosen(planned.replication), way=planned.plan.study.measure.way
    ).as_arguments()
    command = shlex.join(["teiten", *words, *repeated, "--seed", str(planned.plan.seed)])
    name = begin(session, planned, options.name, command, yes=options.yes)
    return carry_out_new(session, name)
