"""``teiten null``: a server against itself, which measures the machine's own noise."""

from __future__ import annotations

import shlex
from typing import Any

import click

from teiten.cli.campaign.begin import begin, carry_out_new, prepare
from teiten.cli.campaign.confirm import confirm
from teiten.cli.campaign.way import plan_by_way
from teiten.cli.completion import servers
from teiten.cli.main import Session
from teiten.cli.plan.two_sides import pair_options, shared_options, tell_of_changed_data
from teiten.cli.printed.outcome import json_noise
from teiten.errors import UsageError
from teiten.execute.postgres.installations import find_installations
from teiten.kinds.contract import all_last
from teiten.study.sides import null_study

EXAMPLES = (
    "Examples:  teiten null  ·  teiten null 18 --script tpcb-like --clients 4 --blocks 30"
    "  ·  teiten null 17 --json"
)


@click.command("null", epilog=EXAMPLES)
@click.argument("server", required=False, shell_complete=servers)
@pair_options
@click.option("--json", "as_json", is_flag=True, help="Print the noise as JSON.")
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
    chosen = server or _newest(session)
    study = null_study(chosen, options.shared)
    if not all_last(study):
        raise UsageError(
            "null measures the noise of trials that last as long as asked, as loads of pgbench",
            "run a study whose two servers are aliases of the same one",
        )
    tell_of_changed_data(session, study, options)
    planned = plan_by_way(session, study, options, piloting=False).planned
    options = options.with_way(planned.plan.study.measure.way)
    confirm(session, planned, yes=options.yes)
    words = ["teiten", "null", chosen, *options.as_arguments(), "--seed", str(planned.plan.seed)]
    name = begin(session, planned, options.name, shlex.join(words), yes=options.yes)
    carried = carry_out_new(session, name)
    found = carried.noise
    if given["as_json"]:
        session.console.json(json_noise(name, carried.noise, carried.reports))
        return
    if not found:
        session.console.say("there are too few valid pairs for an estimate of the noise")
    session.console.data(str(carried.reports[0]))


def _newest(session: Session) -> str:
    servers = [one for one in find_installations(session.workdir) if one.postgres is not None]
    if not servers:
        raise UsageError("there is no PostgreSQL server here", "install one: teiten pg install 18")
    return max(servers, key=lambda one: one.version).name
