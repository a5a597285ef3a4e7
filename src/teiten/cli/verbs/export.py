"""``teiten export``: a campaign's numbers as CSV and Parquet."""

from __future__ import annotations

from pathlib import Path

import click

from teiten.cli.completion import campaigns
from teiten.cli.main import Session
from teiten.cli.parameters import folder_option, json_option

EXAMPLES = (
    "Examples:  teiten export last --to numbers  ·  "
    "teiten export observe-quick-20261121-124500 --to numbers --format parquet"
)


@click.command("export", epilog=EXAMPLES)
@click.argument("campaign", default="last", metavar="[RUN]", shell_complete=campaigns)
@folder_option("A new or empty folder (default: RUN-export, here).")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet", "both"]),
    default="both",
    show_default=True,
    help="What to write.",
)
@json_option("the files")
@click.pass_obj
def command(session: Session, campaign: str, target: Path | None, form: str, as_json: bool) -> None:
    """Write a campaign's numbers for DuckDB, pandas, R or a spreadsheet.

    RUN is its name, a unique prefix, its path, or "last" (the default). Four tables are written:
    trials (one row each, with levels, outcome and all metrics, in seconds and bytes), samples (the
    time series in long form), contrasts (the verdicts), and events (what happened when); of a
    campaign with flame graphs also profiles (folded stacks with their samples and CPU time).
    """
    from teiten.cli.campaign.read import analyse_campaign
    from teiten.cli.printed.folders import JsonExport
    from teiten.export.files import Format, export
    from teiten.ledger.campaigns import find_campaign
    from teiten.ledger.store import Ledger

    formats = list(Format) if form == "both" else [Format(form)]
    of_campaign = find_campaign(session.workdir.campaigns, campaign)
    with Ledger.open(of_campaign, read_only=True) as ledger:
        folder = target or Path(f"{of_campaign.resolve().name}-export")  # not as its ledger says
        analysis = analyse_campaign(ledger, series=False)
        session.console.detail(f"writing {len(analysis.trials)} trials to {folder}")
        written = export(ledger, analysis.contrasts, folder, formats)
    if as_json:
        session.console.json(JsonExport(analysis.name, tuple(written)))
        return
    session.console.data(*written)
