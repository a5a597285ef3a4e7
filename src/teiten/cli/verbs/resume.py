"""``teiten resume``: continue a campaign that was interrupted."""

from __future__ import annotations

from pathlib import Path

import click

from teiten.cli.campaign.carry_out import (
    CarriedOut,
    carry_out,
    measuring,
    note_resumed,
    reread,
)
from teiten.cli.campaign.fail_on import end, fail_on_option
from teiten.cli.campaign.saturation import continue_with_saturation, is_provisional
from teiten.cli.completion import campaigns
from teiten.cli.main import Session
from teiten.cli.parameters import json_option
from teiten.cli.reports import written_reports
from teiten.errors import UsageError
from teiten.host.system.held_folder import exchangeable_folder
from teiten.ledger.campaigns import find_campaign, has_ended
from teiten.ledger.reading import reading
from teiten.ledger.store import Ledger

EXAMPLES = "Examples:  teiten resume  ·  teiten resume observe-quick-20261121-124500"


@click.command("resume", epilog=EXAMPLES)
@click.argument("campaign", default="last", metavar="[RUN]", shell_complete=campaigns)
@fail_on_option
@json_option("the outcome")
@click.pass_obj
def command(session: Session, campaign: str, fail_on: tuple[str, ...], as_json: bool) -> None:
    """Continue a campaign after Ctrl-C, a crash or a reboot.

    RUN is its name, a unique prefix, its path, or "last" (the default). No finished trial is run
    again; where none is left to run, nothing is written.
    """
    folder = find_campaign(session.workdir.campaigns, campaign)
    carried = _complete(session, folder)
    if carried is None:
        _refuse_place_of_others(session, folder)
        with measuring(session), Ledger.open(folder) as ledger:
            name, provisional = ledger.name, is_provisional(ledger)
            note_resumed(session, ledger)
        session.console.say(f"continuing {name}")
        carried = (continue_with_saturation if provisional else carry_out)(session, folder)
    end(session, carried, as_json=as_json, fail_on=fail_on)


def _complete(session: Session, folder: Path) -> CarriedOut | None:
    """A campaign that has ended and has its reports; None for one to be continued."""
    reports = written_reports(folder)
    with reading(folder) as ledger:
        if not reports or is_provisional(ledger) or not has_ended(ledger):
            return None
        session.console.say(
            f"{ledger.name} is complete: nothing is left to run; teiten report {ledger.name}"
            " writes its report again"
        )
        return reread(session, ledger, reports)


def _refuse_place_of_others(session: Session, folder: Path) -> None:
    """Raise UsageError where root would write evidence into a folder that another user can exchange
    for a link; who can do so in the working folder has all that is Teiten's."""
    if folder.absolute().parent == session.workdir.campaigns.absolute():
        return
    exchangeable = exchangeable_folder(folder)
    if exchangeable is not None:
        raise UsageError(
            f"root continues no campaign in {folder}: other users may change what is in"
            f" {exchangeable}",
            "continue it as the user to whom it belongs, or copy it to the campaigns of root's"
            " working folder",
        )
