"""``teiten null``: a server against itself, which measures the machine's own noise."""

from __future__ import annotations

from typing import Any

import click

from teiten.cli.campaign.begin import carry_out_sides, prepare
from teiten.cli.completion import servers
from teiten.cli.main import Session
from teiten.cli.parameters import json_option
from teiten.cli.plan.builds import newest_server
from teiten.cli.plan.two_sides import pair_options, shared_options
from teiten.cli.printed.outcome import json_noise
from teiten.errors import UsageError
from teiten.kinds.contract import all_last
from teiten.study.sides import null_study

EXAMPLES = (
    "Examples:  teiten null  ·  teiten null 18 --script tpcb-like --clients 4 --blocks 30"
    "  ·  teiten null 17 --json"
)


@click.command("null", epilog=EXAMPLES)
@click.argument("server", required=False, shell_complete=servers)
@pair_options
@json_option("the noise")
@click.pass_obj
def command(session: Session, /, server: str | None, **given: Any) -> None:
    """How much do two sides differ here that are the same?

    SERVER (the newest by default) runs against itself, in two data directories. What is found is
    kept for this machine and workload: `teiten plan` foretells with it how long a verdict takes,
    and reports of later campaigns show it. --blocks (default 20) are fixed; --budget is what they
    should take in all.
    """
    options = shared_options(session, given)
    prepare(session, options.name)
    chosen = server or newest_server(session).name
    study = null_study(chosen, options)
    if not all_last(study):
        raise UsageError(
            "null measures the noise of trials that last as long as asked, as loads of pgbench",
            "run a study whose two servers are aliases of the same one",
        )
    carried = carry_out_sides(session, study, options, ["null", chosen])
    if given["as_json"]:
        session.console.json(json_noise(carried.analysis.name, carried.noise, carried.reports))
        return
    if not carried.noise:
        session.console.say("there are too few valid pairs for an estimate of the noise")
    session.console.data(carried.reports[0])
