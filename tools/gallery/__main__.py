"""Write docs/gallery from finished campaigns.

    python -m tools.gallery                                 # the last collection
    python -m tools.gallery observe-standard buffers-quick  # these campaigns
    python -m tools.gallery --collection pgecons-2026 --whole observe --whole index-only

Needs chromium and chromium-driver, and the extras dev and pdf. Ledgers are only read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from tools.gallery.campaigns import Entry, Place, entry_of, finished
from tools.gallery.cut import without_scripts
from tools.gallery.page import Link, index_page
from tools.gallery.pictures import Camera, camera

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.campaign.read import analyse_campaign
from teiten.errors import TeitenError, UsageError
from teiten.host.system.paths import default_workdir
from teiten.ledger.reading import reading
from teiten.model.text import Language
from teiten.report.charts.library import keep_library_in
from teiten.report.forms import render_html, render_pdf

TARGET = Path(__file__).resolve().parent.parent.parent / "docs" / "gallery"
MOST = 1_500_000
"""Bytes of a whole report."""
MOST_WHOLE = 3
LANGUAGES: tuple[tuple[Language, str], ...] = (("en", "English"), ("ja", "日本語"))


class Gallery:
    """The folder, while it is filled."""

    def __init__(self, target: Path, whole: Sequence[str]) -> None:
        """``whole``: the studies whose reports are shown whole; none: the first ones."""
        self.target = target
        self.whole = whole
        self.shown: dict[str, tuple[Entry, str]] = {}
        self.links: list[Link] = []
        self.papers: list[Link] = []

    def show(self, place: Place, chromium: Camera, room: Path) -> None:
        """Add a campaign; one campaign at a time is in memory."""
        with reading(place.folder) as ledger:
            analysis = analyse_campaign(ledger)
        entry = entry_of(analysis, place)
        click.echo(f"{entry.study}: {place.folder.name}")
        page = room / "report.html"
        page.write_text(render_html(analysis, "en"), encoding="utf-8")
        picture = f"pictures/{entry.study}.webp"
        self._write(picture, chromium.first_screen(page))
        self.shown[entry.study] = (entry, picture)
        if entry.study in self.whole if self.whole else len(self.shown) <= MOST_WHOLE:
            self.links += self._html(analysis, entry)
            if not self.papers:
                self.papers = list(self._pdf(analysis, entry))

    def finish(self) -> None:
        """Write the page. Raises UsageError where nothing is shown."""
        if not self.shown:
            raise UsageError("there is no complete campaign to be shown", "teiten runs lists them")
        whole = [*self.links, *self.papers]
        text = index_page(list(self.shown.values()), whole)
        self._write("index.md", text.encode())
        size = sum(path.stat().st_size for path in self.target.rglob("*") if path.is_file())
        click.echo(f"{len(self.shown)} studies, {len(whole)} whole reports, {size:,} bytes")

    def _html(self, analysis: CampaignAnalysis, entry: Entry) -> Iterator[Link]:
        report = without_scripts(render_html(analysis, "en", stills=True)).encode()
        yield from self._report(f"{entry.study}.html", f"{entry.title} (HTML", report)

    def _pdf(self, analysis: CampaignAnalysis, entry: Entry) -> Iterator[Link]:
        for language, name in LANGUAGES:
            report = render_pdf(analysis, language)
            label = f"{entry.title} (PDF, {name}"
            yield from self._report(f"{entry.study}.{language}.pdf", label, report)

    def _report(self, name: str, label: str, report: bytes) -> Iterator[Link]:
        """Nothing of one that is too large for a repository."""
        if len(report) > MOST:
            click.echo(f"{name} is left out: it has {len(report):,} bytes", err=True)
            return
        self._write(f"reports/{name}", report)
        yield Link(f"{label}, {len(report) / 1e6:.1f} MB)", f"reports/{name}")

    def _write(self, name: str, content: bytes) -> None:
        path = self.target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@click.command()
@click.argument("campaigns", nargs=-1)
@click.option("--workdir", type=click.Path(path_type=Path), help="The working folder.")
@click.option("--collection", default="last", show_default=True, help="Without CAMPAIGNS.")
@click.option(
    "--whole", multiple=True, metavar="STUDY", help="Show its whole report (default: the first 3)."
)
@click.option("--to", "target", type=click.Path(path_type=Path), default=TARGET)
def main(
    campaigns: tuple[str, ...],
    workdir: Path | None,
    collection: str,
    whole: tuple[str, ...],
    target: Path,
) -> None:
    """Write the gallery of CAMPAIGNS, or of all complete ones of a collection."""
    root = workdir or default_workdir()
    gallery = Gallery(target, whole)
    try:
        with tempfile.TemporaryDirectory(prefix="teiten-") as room, camera() as chromium:
            keep_library_in(Path(room))
            for place in finished(root, campaigns, collection):
                gallery.show(place, chromium, Path(room))
        gallery.finish()
    except TeitenError as error:
        raise click.ClickException(f"{error.message}\n{error.hint or ''}") from error


if __name__ == "__main__":
    main()
