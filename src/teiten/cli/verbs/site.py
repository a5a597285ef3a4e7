"""``teiten site``: many campaigns as static pages."""

from __future__ import annotations

from pathlib import Path

import click

from teiten.cli.main import Session
from teiten.cli.parameters import GivenPath, folder_option, json_option

EXAMPLES = "Examples:  teiten site --to public  ·  teiten site nightly/ --to public --title Nightly"


@click.command("site", epilog=EXAMPLES)
@click.argument("places", nargs=-1, metavar="[DIR]...", type=GivenPath(path_type=Path))
@folder_option("Folder to write to: a new one, or one that an earlier call made.", required=True)
@click.option("--title", help="Title of the site (default: Performance verifications).")
@click.option("--url", metavar="URL", help="Where it will be, for absolute links in the feed.")
@click.option("--anew", is_flag=True, help="Make reports anew that the campaigns have already.")
@json_option("what is in it")
@click.pass_obj
def command(
    session: Session,
    places: tuple[Path, ...],
    *,
    target: Path,
    title: str | None,
    url: str | None,
    anew: bool,
    as_json: bool,
) -> None:
    """Make static pages of campaigns: an index with filters, each report, lines through time with
    their changes, comparisons between machines and of neighbours in time, and a feed.

    DIR is a ledger, a campaign's folder, or a folder of them at any depth (default: the campaigns
    of the working folder). The pages need no server and ask the network for nothing. A second call
    writes only what changed, and removes the pages of campaigns that are no longer there. A ledger
    of which no page can be made is named and left out; the exit code is 0 where others are shown.
    """
    from teiten.cli.printed.across import JsonSite, JsonSiteCampaign, JsonSiteLeftOut
    from teiten.cli.site.make import SiteMaker
    from teiten.cli.site.output import Output, entries
    from teiten.cli.verbs.history import ledgers, without_campaigns

    files = ledgers(places or (session.workdir.campaigns,))
    output = Output(target)
    files = [file for file in files if not file.is_relative_to(target.absolute())]
    left_out: list[tuple[str, str]] = []
    campaigns = list(entries(files, session.workdir.caches, session.console, left_out))
    if not campaigns:
        raise without_campaigns(left_out)
    site = SiteMaker(title, url, anew, output, session.console).make(campaigns, left_out)
    removed = output.finish()
    for name, why in site.left_out:
        session.console.warn(f"{name} is left out: {why}")
    changes = sum(len(line.changes) for line in site.history.lines)
    compared = len(site.compared) + len(site.beside)
    session.console.say(
        f"{len(site.entries)} campaigns, {len(site.history.lines)} lines with {changes} changes,"
        f" {compared} comparisons; {output.written} files written, {removed} removed"
    )
    index = target / "index.html"
    if not as_json:
        session.console.data(index)
        return
    session.console.json(
        JsonSite(
            index,
            tuple(
                JsonSiteCampaign(entry.campaign, f"campaigns/{entry.slug}")
                for entry in site.entries
            ),
            len(site.history.lines),
            changes,
            compared,
            tuple(JsonSiteLeftOut(name, why) for name, why in site.left_out),
            output.written,
            removed,
        )
    )
