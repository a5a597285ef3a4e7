"""``teiten rm``: delete campaigns."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click
from rich.filesize import decimal

from teiten.cli import completion
from teiten.cli.main import Session
from teiten.cli.printed.folders import JsonRemoved
from teiten.errors import LedgerError, UsageError
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
@click.option("--json", "as_json", is_flag=True, help="Print what was deleted as JSON.")
@click.pass_obj
def command(session: Session, campaigns: Sequence[str], yes: bool, as_json: bool) -> None:
    """Delete campaigns with their ledgers, evidence and reports, for ever.

    RUN is a name, a unique prefix, a path, or "last". A campaign that is running is not deleted.
    """
    folders = dict.fromkeys(
        find_campaign(session.workdir.campaigns, campaign) for campaign in campaigns
    )
    found = [summarise(folder) for folder in folders]
    for one in found:
        _check(session, one)
    if not yes:
        _ask(session, found)
    for one in found:
        others = delete_campaign(one.folder, session.workdir.campaigns)
        session.console.say(f"deleted {one.name}")
        if others:
            session.console.warn(
                f"kept {one.folder}: it holds what is not the campaign's: {', '.join(others)}"
            )
    if as_json:
        session.console.json([JsonRemoved(one.name, one.folder) for one in found])


def _check(session: Session, one: CampaignSummary) -> None:
    """Before the first is deleted, all must be deletable."""
    if one.state is CampaignState.RUNNING:
        raise LedgerError(
            f"the campaign {one.name} is running, and is not deleted",
            "stop it first with Ctrl-C, or wait for its end",
        )
    check_deletable(one.folder, session.workdir.campaigns)


def _ask(session: Session, found: Sequence[CampaignSummary]) -> None:
    for one in found:
        session.console.people.print(
            f"{one.folder}  ({one.state.value}, {one.done} trials, {decimal(one.size)})",
            markup=False,
        )
    if not sys.stdin.isatty():
        raise UsageError(
            "`teiten rm` asks before it deletes, and there is no terminal to ask on",
            "give --yes to delete without a question",
        )
    what = "this campaign" if len(found) == 1 else f"these {len(found)} campaigns"
    click.confirm(f"Delete {what} for ever?", abort=True, err=True)
