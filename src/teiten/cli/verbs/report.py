"""``teiten report``: a campaign's report, in a form and language of the user's choice."""

from __future__ import annotations

from pathlib import Path

import click

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.completion import campaigns
from teiten.cli.main import Session
from teiten.cli.parameters import LANGUAGES, GivenPath, form_option, json_option, languages_option
from teiten.cli.reports import report_html, report_path, way_to_campaign, write_files
from teiten.errors import UsageError
from teiten.ledger.folders import REPORT
from teiten.model.text import Language
from teiten.report.notes import NO_NOTES, Notes

EXAMPLES = "Examples:  teiten report last --lang ja  ·  teiten report observe-quick --format pdf"
EXCHANGED = ("junit", "github", "bencher", "benchmark-action")
"""Forms of other programs (``report.exchange``)."""


@click.command("report", epilog=EXAMPLES)
@click.argument("campaign", default="last", metavar="[RUN]", shell_complete=campaigns)
@languages_option(
    "report", "both in one HTML file, which is smaller than two files; of other forms, English"
)
@form_option(
    *("html", "markdown", "pdf"),
    others=EXCHANGED,
    about=" For CI: JUnit's XML, the summary of a step of GitHub Actions, Bencher's metric format,"
    " or what github-action-benchmark reads.",
)
@click.option(
    "--with",
    "notes",
    type=GivenPath(path_type=Path, dir_okay=False),
    metavar="NOTES",
    help="A TOML file of authors, licence, remarks and revisions (teiten init report-notes).",
)
@click.option(
    "--to",
    "target",
    type=GivenPath(path_type=Path),
    help="File (HTML, PDF) or folder to write (default: the campaign's folder, under report/).",
)
@json_option("the paths and verdicts")
@click.pass_obj
def command(
    session: Session,
    campaign: str,
    *,
    language: Language | None,
    form: str,
    notes: Path | None,
    target: Path | None,
    as_json: bool,
) -> None:
    """Write the report of a campaign, and print its path.

    RUN is its name, a unique prefix, its path, or "last" (the default). Nothing is measured again:
    a campaign that is still running or was interrupted is reported as far as it is.
    """
    from teiten.cli.campaign.read import analyse_campaign
    from teiten.cli.text.notes import read_notes
    from teiten.ledger.campaigns import find_campaign
    from teiten.ledger.failures import consistent
    from teiten.ledger.folders import FILE_NAME
    from teiten.ledger.store import Ledger
    from teiten.report.render.pdf import require_typst

    folder = find_campaign(session.workdir.campaigns, campaign)
    if form == "pdf":
        require_typst()
    with consistent(folder / FILE_NAME):
        with Ledger.open(folder, read_only=True) as ledger:
            analysis = analyse_campaign(ledger)
        added = NO_NOTES if notes is None else read_notes(notes)
        path = _write(analysis, folder, target, form=form, language=language, notes=added)
    tell_unfinished(session, folder)
    if as_json:
        from teiten.cli.printed.outcome import json_report

        session.console.json(json_report(analysis, language or "en", path))
    else:
        session.console.data(path)


def tell_unfinished(session: Session, folder: Path) -> None:
    """Say of a campaign that has not ended how far it is, and how it goes on."""
    from teiten.ledger.campaigns import CampaignState, summarise

    campaign = summarise(folder)
    if campaign.state in (CampaignState.INTERRUPTED, CampaignState.RUNNING):
        session.console.warn(
            f"the campaign has not ended: {campaign.done} of {campaign.planned} trials are in this"
            " report",
            f"teiten resume {campaign.name}"
            if campaign.state is CampaignState.INTERRUPTED
            else "it runs still: repeat this when it has ended",
        )


def _write(
    analysis: CampaignAnalysis,
    folder: Path,
    target: Path | None,
    *,
    form: str,
    language: Language | None,
    notes: Notes,
) -> Path:
    """Write the report in a form; its path. ``language``: None for both in one file, or English."""
    from teiten.report.exchange import render_exchange
    from teiten.report.forms import render_markdown, render_pdf
    from teiten.report.render.markdown import TEXT

    single: Language = language or "en"
    if form == "markdown":
        place = target or folder / REPORT / f"markdown.{single}"
        if place.exists() and not place.is_dir():
            raise UsageError(
                f"--to {place} is a file; a Markdown report is a folder",
                "name a folder, or leave out --to",
            )
        beside = way_to_campaign(folder, place)
        write_files(place, render_markdown(analysis, single, notes, beside))
        return place / TEXT
    if form == "html":
        path = report_path(folder, language, target)
        content = report_html(analysis, (language,) if language else LANGUAGES, folder, path, notes)
    elif form == "pdf":
        path = report_path(folder, single, target, "pdf")
        content = render_pdf(analysis, single, notes)
    else:
        name, content = render_exchange(analysis, form, single)
        place = target or folder / REPORT
        path = place / name if place.is_dir() or not place.suffix else place
    write_files(path.parent, {path.name: content})
    return path
