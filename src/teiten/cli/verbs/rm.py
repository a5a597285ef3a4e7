"""``teiten rm``: delete campaigns."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.filesize import decimal

from teiten.cli import completion
from teiten.cli.main import Session
from teiten.cli.parameters import json_option
from teiten.cli.printed.folders import JsonRemoved
from teiten.errors import LedgerError
from teiten.ledger.campaigns import CampaignState, CampaignSummary, find_campaign, summarise
from teiten.ledger.folders import check_deletable, delete_campaign

EXAMPLES = (
    "Examples:  teiten rm observe-quick-20261121-124500  ·  teiten rm last my-older-run --yes"
)


@click.command("rm", epilog=EXAMPLES)
@click.argument(
    "campaigns", metavar="RUN...", nargs=-1, required=True, shell_complete=completion.campaigns
)
@click.option("--yes", is_flag=True, help="Delete without asking.")
@json_option("what was deleted")
@click.pass_obj
def command(session: Session, campaigns: Sequence[str], yes: bool, as_json: bool) -> None:
    """Delete campaigns with their ledgers, evidence and reports, for ever.

    RUN is a name, a unique prefix, a path, or "last". A campaign that is running is not deleted.
    """
    folders = dict.fromkeys(
        find_campaign(session.workdir.campaigns, campaign) for campaign in campaigns
    )
    summaries = [summarise(folder) for folder in folders]
    for summary in summaries:  # before the first one is deleted
        if summary.state is CampaignState.RUNNING:
            raise LedgerError(
                f"the campaign {summary.name} is running, and is not deleted",
                "stop it first with Ctrl-C, or wait for its end",
            )
        check_deletable(summary.folder, session.workdir.campaigns)
    if not yes:
        _ask(session, summaries)
    for summary in summaries:
        others = delete_campaign(summary.folder, session.workdir.campaigns)
        session.console.say(f"deleted {summary.name}")
        if others:
            session.console.warn(
                f"kept {summary.folder}: it holds what is not the campaign's: {', '.join(others)}"
            )
    if as_json:
        session.console.json([JsonRemoved(summary.name, summary.folder) for summary in summaries])


def _ask(session: Session, summaries: Sequence[CampaignSummary]) -> None:
    for summary in summaries:
        session.console.people.print(
            f"{summary.folder}  ({summary.state.value}, {summary.done} trials,"
            f" {decimal(summary.size)})",
            markup=False,
        )
    count = len(summaries)
    what = "this campaign" if count == 1 else f"these {count} campaigns"
    session.console.ask(
        f"Delete {what} for ever?",
        asks="`teiten rm` asks before it deletes",
        hint="give --yes to delete without a question",
    )
