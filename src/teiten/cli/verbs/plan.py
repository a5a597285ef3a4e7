"""``teiten plan``: what a study would do here; starts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from teiten.cli.completion import studies
from teiten.cli.main import Session
from teiten.cli.parameters import json_option
from teiten.cli.plan.options import PlanOptions, plan_options
from teiten.errors import TeitenError

if TYPE_CHECKING:
    from teiten.cli.plan.make import Planned
    from teiten.model.plan import Plan

EXAMPLES = (
    "Examples:  teiten plan observe --profile quick --servers 17,18"
    "  ·  teiten plan mine.toml --set clients=1,8 --order"
)


@click.command("plan", epilog=EXAMPLES)
@click.argument("study", shell_complete=studies)
@plan_options
@click.option("--order", is_flag=True, help="List all trials, in the order in which they will run.")
@json_option("the plan")
@click.pass_obj
def command(session: Session, study: str, options: PlanOptions, order: bool, as_json: bool) -> None:
    """Show what STUDY, a name of the catalogue or a TOML file, would do on this machine.

    Problems first, then the conditions, the time, disk and memory that the trials need, and what
    will be done to the machine. Nothing is started. `teiten --verbose plan` also has the advice of
    each caution, the steps of a trial, and each template.
    """
    from teiten.cli.campaign.saturation import foretell
    from teiten.cli.console import Verbosity
    from teiten.cli.plan.make import check_planned, make_plan
    from teiten.cli.plan.text import foretold_lines, plan_lines
    from teiten.cli.printed.plan import json_plan

    provisional: Plan | None = None
    if options.find_saturation:
        first, planned = foretell(session, study, options)
        provisional = first.plan
        if not as_json:
            session.console.text(*foretold_lines(provisional, planned.plan))
    else:
        planned = make_plan(session, study, options, checked=False)
    actions = _actions(session, planned)
    lack = None
    try:
        check_planned(session, planned)
    except TeitenError as error:
        lack = error
    folder = session.workdir.root
    if as_json:
        session.console.json(json_plan(planned, folder, actions, provisional))
    else:
        whole = session.console.verbosity >= Verbosity.VERBOSE
        lines = plan_lines(planned, folder, actions, lack=lack, order=order, whole=whole)
        session.console.text(*lines)
    if lack is not None:
        raise lack


def _actions(session: Session, planned: Planned) -> tuple[str, ...]:
    from teiten.host.system.users import server_user
    from teiten.plan.dry import actions

    where = f"from source in {session.workdir.builds}, as user {server_user().name}"
    built = (f"build {build.name} {where}: {build.described}" for build in planned.builds)
    own = actions(
        planned.plan,
        planned.facts,
        folder=session.workdir.root,
        user=server_user().name,
        ready=planned.ready,
    )
    return (*built, *own)
