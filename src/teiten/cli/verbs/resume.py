"""``teiten resume``: continue a campaign that was interrupted."""

from __future__ import annotations

import click

from teiten.cli.campaign.carry_out import carry_out, outcome_as_json
from teiten.cli.campaign.fail_on import check_fail_on, fail_on_option
from teiten.cli.campaign.saturation import continue_with_saturation, is_provisional
from teiten.cli.main import Session
from teiten.ledger.campaigns import find_campaign
from teiten.ledger.store import Ledger

EXAMPLES = "Examples:  teiten resume  ·  teiten resume observe-quick-20261121-124500"


@click.command("resume", epilog=EXAMPLES)
@click.argument("campaign", default="last", metavar="[RUN]")
@fail_on_option
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.pass_obj
def command(session: Session, campaign: str, fail_on: tuple[str, ...], as_json: bool) -> None:
    """Continue a campaign after Ctrl-C, a crash or a reboot.

    RUN is its name, a unique prefix, its path, or "last" (the default). No finished trial is run
    again.
    """
    folder = find_campaign(session.workdir.campaigns, campaign)
    ledger = Ledger.open(folder)
    try:
        name, provisional = ledger.name, is_provisional(ledger)
        ledger.record_event("resumed")
    finally:
        ledger.close()
    session.console.say(f"continuing {name}")
    resumed = continue_with_saturation if provisional else carry_out
    carried = resumed(session, folder)
    if as_json:
        session.console.json(outcome_as_json(carried.analysis.name, carried))
    else:
        session.console.data(str(carried.reports[0]))
    check_fail_on(carried, fail_on)
