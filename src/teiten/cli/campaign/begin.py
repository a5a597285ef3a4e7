"""A campaign's beginning: before planning, its ledger, and what a refused one leaves."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from teiten.analysis.model.replication import REPLICATION
from teiten.cli.campaign.carry_out import CarriedOut, carry_out, measuring, sweep_leftovers
from teiten.cli.campaign.confirm import confirm_attached
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
from teiten.model.quantities import rough_duration
from teiten.report.texts import caution_text
from teiten.ways.registry import way_of


def prepare(session: Session, name: str | None) -> None:
    """Everything that comes before planning. Raises UsageError for a name that is taken,
    LedgerError while another campaign is measured here."""
    with translate_os_errors("the working folder cannot be used (--workdir)"):
        session.workdir.prepare()
    if name:
        check_name(name, session.workdir.campaigns)
    with measuring(session):
        sweep_leftovers(session)


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
    chosen = name or new_name(
        plan.study.name, plan.study.profile, time.time(), session.workdir.campaigns
    )
    folder = session.workdir.campaigns / chosen
    with measuring(session), create_ledger(session, planned, folder, command):
        pass
    most = "" if plan.study.measure.sequential is None else "at most "
    session.console.say(
        f"campaign {chosen}: {most}{len(plan.trials)} trials,"
        f" about {rough_duration(plan.needs.seconds)}"
    )
    return chosen


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
        with suppress(TeitenError, OSError):  # the first error is the one to tell
            _forget_if_nothing_ran(session, name)
        raise


def _forget_if_nothing_ran(session: Session, name: str) -> None:
    folder = session.workdir.campaigns / name
    with Ledger.open(folder, read_only=True) as ledger:
        ran = any(event.kind == "trial-started" for event in ledger.events())
    if not ran:
        delete_campaign(folder, session.workdir.campaigns)


def tell_cautions(session: Session, planned: Planned) -> None:
    """Say what could disturb the measurement, before it starts: in at most five lines, by cause;
    with --verbose each with its advice."""
    console, cautions = session.console, planned.cautions
    if console.verbosity >= Verbosity.VERBOSE:
        for caution in cautions:
            console.warn(*caution_text(caution, "en"))
        return
    for line in brief_cautions(cautions):
        console.warn(line)


def repeating_command(study: str, options: PlanOptions, seed: int) -> str:
    """The command line that repeats a campaign, its seed included."""
    words = ["teiten", "run", study, *options.as_arguments()]
    if "--seed" not in words:
        words += ["--seed", str(seed)]
    return shlex.join(words)
