"""``teiten runs``: the campaigns of the working folder."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import click
from rich.filesize import decimal
from rich.markup import escape
from rich.table import Table

from teiten.cli.main import Session
from teiten.cli.parameters import json_option
from teiten.cli.printed.folders import JsonCampaign
from teiten.cli.printed.form import taken
from teiten.ledger.campaigns import CampaignState, CampaignSummary, list_campaigns
from teiten.model.text import shortened

EXAMPLES = "Examples:  teiten runs  ·  teiten --workdir /data/teiten runs --json"

SPARE, LAST = ("size",), ("profile", "failed")
"""Columns that a narrow terminal does without, the first of them first; names of runs and studies
fold before the last ones go."""
LONGEST = 40
"""Characters of a name: a ledger that is not as Teiten wrote it may have thousands, which would
leave no room for the names of other campaigns."""
_STYLES = {
    CampaignState.COMPLETE: "green",
    CampaignState.RUNNING: "cyan",
    CampaignState.INTERRUPTED: "yellow",
    CampaignState.DAMAGED: "red",
}


@click.command("runs", epilog=EXAMPLES)
@json_option("the list")
@click.pass_obj
def command(session: Session, as_json: bool) -> None:
    """List campaigns, the newest first.

    An interrupted one can be continued with `teiten resume RUN`. A name of this list, a unique
    beginning of it, or "last" is what other verbs take as RUN.
    """
    summaries = list_campaigns(session.workdir.campaigns)
    if as_json:
        session.console.json([taken(JsonCampaign, summary) for summary in summaries])
        return
    if not summaries:
        session.console.say(f"no campaign in {session.workdir.campaigns} yet")
        session.console.say("make one: teiten run observe --profile quick")
        return
    session.console.table(_table(summaries), SPARE, LAST)
    for summary in summaries:
        if summary.problem is not None:
            name = summary.name
            session.console.warn(f"{name}: {summary.problem}", f"teiten rm {name} deletes it")


def _table(summaries: Sequence[CampaignSummary]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("run", overflow="fold")
    table.add_column("state", no_wrap=True)
    for heading in ("trials", "failed"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("study", overflow="fold")
    for heading in ("profile", "created"):
        table.add_column(heading, no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    for summary in summaries:
        day = "?"  # in local time; the name usually tells the hour, and --json always
        if summary.created_at is not None:
            day = f"{datetime.datetime.fromtimestamp(summary.created_at).astimezone():%Y-%m-%d}"
        table.add_row(
            escape(summary.name),
            f"[{_STYLES[summary.state]}]{summary.state.value}[/]",
            f"{summary.done}/{summary.planned}",
            str(summary.failed or ""),
            escape(shortened(summary.study or "?", LONGEST)),
            escape(shortened(summary.profile or "?", LONGEST)),
            day,
            decimal(summary.size),
        )
    return table
