"""``teiten runs``: the campaigns of the working folder."""

from __future__ import annotations

import datetime

import click
from rich.filesize import decimal
from rich.markup import escape
from rich.table import Table

from teiten.cli.main import Session
from teiten.cli.printed.folders import json_campaign
from teiten.ledger.campaigns import CampaignState, CampaignSummary, list_campaigns

EXAMPLES = "Examples:  teiten runs  ·  teiten --workdir /data/teiten runs --json"

SPARE = ("size", "failed", "created", "profile", "study")
"""Columns that a narrow terminal does without, the first of them first."""
_STYLES = {
    CampaignState.COMPLETE: "green",
    CampaignState.RUNNING: "cyan",
    CampaignState.INTERRUPTED: "yellow",
    CampaignState.DAMAGED: "red",
}


@click.command("runs", epilog=EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_obj
def command(session: Session, as_json: bool) -> None:
    """List campaigns, the newest first.

    An interrupted one can be continued with `teiten resume RUN`. A name of this list, a unique
    beginning of it, or "last" is what other verbs take as RUN.
    """
    found = list_campaigns(session.workdir.campaigns)
    if as_json:
        session.console.json([json_campaign(one) for one in found])
        return
    if not found:
        session.console.say(f"no campaign in {session.workdir.campaigns} yet")
        session.console.say("make one: teiten run observe --profile quick")
        return
    session.console.table(_table(found), SPARE)
    for one in found:
        if one.problem is not None:
            session.console.warn(f"{one.name}: {one.problem}", f"teiten rm {one.name} deletes it")


def _table(found: tuple[CampaignSummary, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("run", overflow="fold")
    table.add_column("state", no_wrap=True)
    for heading in ("trials", "failed"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("study", "profile", "created"):
        table.add_column(heading, no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    for one in found:
        table.add_row(
            escape(one.name),
            f"[{_STYLES[one.state]}]{one.state.value}[/]",
            f"{one.done}/{one.planned}",
            str(one.failed or ""),
            escape(one.study or "?"),
            escape(one.profile or "?"),
            _day(one.created_at),
            decimal(one.size),
        )
    return table


def _day(seconds: float | None) -> str:
    """In local time; the name of a run usually tells the hour, and ``--json`` always."""
    if seconds is None:
        return "?"
    return f"{datetime.datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d}"
