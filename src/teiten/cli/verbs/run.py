"""``teiten run``: a study from its first trial to its report."""

from __future__ import annotations

import click

from teiten.cli.campaign.begin import begin, carry_out_new, confirm, prepare, repeating_command
from teiten.cli.campaign.fail_on import end, fail_on_option, refuse_fail_on
from teiten.cli.completion import studies
from teiten.cli.main import Session
from teiten.cli.parameters import json_option
from teiten.cli.plan.make import make_plan
from teiten.cli.plan.options import PlanOptions, plan_options
from teiten.study.load import load_study

EXAMPLES = (
    "Examples:  teiten run observe --profile quick --servers 17,18"
    "  ·  teiten run mine.toml --blocks 5 --find-saturation"
)


@click.command("run", epilog=EXAMPLES)
@click.argument("study", shell_complete=studies)
@plan_options
@fail_on_option
@json_option("the outcome")
@click.pass_obj
def command(
    session: Session, study: str, options: PlanOptions, fail_on: tuple[str, ...], as_json: bool
) -> None:
    """Run STUDY, a name of the catalogue or a TOML file, and write its report.

    Ctrl-C ends it in order; `teiten resume` continues it.
    """
    refuse_fail_on(load_study(study, options), fail_on)
    prepare(session, options.name)
    if options.find_saturation:
        from teiten.cli.campaign.saturation import run_with_saturation

        carried = run_with_saturation(session, study, options)
    else:
        planned = make_plan(session, study, options, building=True)
        confirm(session, planned, yes=options.yes)
        command = repeating_command(study, options, planned.plan.seed)
        name = begin(session, planned, options.name, command, yes=options.yes)
        carried = carry_out_new(session, name)
    end(session, carried, as_json=as_json, fail_on=fail_on)
