"""``teiten run``: a study from its first trial to its report."""

from __future__ import annotations

import shlex
import time

import click

from teiten.cli.campaign import carry_out, outcome_as_json, sweep_leftovers
from teiten.cli.main import Session
from teiten.cli.options import PlanOptions, plan_options
from teiten.cli.planning import Planned, make_plan
from teiten.cli.watching import duration
from teiten.errors import MachineError, UsageError
from teiten.ledger.campaigns import check_name, new_name
from teiten.ledger.deletion import delete_campaign
from teiten.ledger.store import Ledger
from teiten.report.texts import caution_text

EXAMPLES = (
    "Examples:  teiten run observe --profile quick --servers 17,18"
    "  ·  teiten run mine.toml --blocks 5"
)


@click.command("run", epilog=EXAMPLES)
@click.argument("study")
@plan_options
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.pass_obj
def command(session: Session, study: str, options: PlanOptions, as_json: bool) -> None:
    """Run STUDY, a name of the catalogue or a TOML file, and write its report.

    Ctrl-C ends it in order; `teiten resume` continues it.
    """
    session.workdir.prepare()
    if options.name:
        check_name(options.name, session.workdir.campaigns)
    sweep_leftovers(session)
    planned = make_plan(session, study, options)
    tell_cautions(session, planned)
    name = options.name or new_name(
        planned.plan.study.name,
        planned.plan.study.profile,
        time.time(),
        session.workdir.campaigns,
    )
    ledger = Ledger.create(
        session.workdir.campaigns / name,
        plan=planned.plan,
        name=name,
        facts=planned.facts,
        cautions=planned.cautions,
        command=repeating_command(study, options, planned.plan.seed),
    )
    ledger.record_event("campaign-started")
    ledger.close()
    session.console.say(
        f"campaign {name}: {len(planned.plan.trials)} trials, about"
        f" {duration(planned.plan.needs.seconds)}"
    )
    try:
        carried = carry_out(session, session.workdir.campaigns / name)
    except (MachineError, UsageError):
        _forget_if_nothing_ran(session, name)
        raise
    if as_json:
        session.console.json(outcome_as_json(name, carried))
    else:
        session.console.data(str(carried.reports[0]))


def _forget_if_nothing_ran(session: Session, name: str) -> None:
    """A campaign that could not start leaves nothing half done behind."""
    folder = session.workdir.campaigns / name
    with Ledger.open(folder, read_only=True) as ledger:
        ran = any(event.kind == "trial-started" for event in ledger.events())
    if not ran:
        delete_campaign(folder, session.workdir.campaigns)


def tell_cautions(session: Session, planned: Planned) -> None:
    """Say what could disturb the measurement, before it starts."""
    for caution in planned.cautions:
        what, advice = caution_text(caution, "en")
        session.console.warn(what, advice)


def repeating_command(study: str, options: PlanOptions, seed: int) -> str:
    """The command line that repeats a campaign, its seed included."""
    words = ["teiten", "run", study, *options.as_arguments()]
    if "--seed" not in words:
        words += ["--seed", str(seed)]
    return shlex.join(words)
